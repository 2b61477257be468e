/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The host's uuid, NV_PROCESSOR_UUID_CPU_DEFAULT: the driver has it in a source file. */
#include "nvCpuUuid.c"
