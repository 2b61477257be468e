/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* C_H3D as an application; see README.md. */
#ifndef WIC_APPS_C_H3D_C_H3D_H
#define WIC_APPS_C_H3D_C_H3D_H

#include "apps/app.h"

extern const struct app_ops app_c_h3d;

#endif /* WIC_APPS_C_H3D_C_H3D_H */
