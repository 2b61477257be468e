/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* G_BS as an application; see README.md. */
#ifndef WIC_APPS_G_BS_G_BS_H
#define WIC_APPS_G_BS_G_BS_H

#include "apps/app.h"

extern const struct app_ops app_g_bs;

#endif /* WIC_APPS_G_BS_G_BS_H */
