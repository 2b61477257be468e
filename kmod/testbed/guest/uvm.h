/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The driver's own headers, from its tree at build time; what includes this needs -I for them. */
#ifndef WIC_KMOD_TESTBED_GUEST_UVM_H
#define WIC_KMOD_TESTBED_GUEST_UVM_H

#define NV_LINUX
#include "nvtypes.h"
#include "nvstatus.h"
#include "uvm_linux_ioctl.h"
#include "uvm_ioctl.h"
#include "uvm_test_ioctl.h"

#endif
