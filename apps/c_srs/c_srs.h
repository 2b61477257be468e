/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* C_SRS as an application; see README.md here. */
#ifndef WIC_APPS_C_SRS_C_SRS_H
#define WIC_APPS_C_SRS_C_SRS_H

#include "apps/app.h"

extern const struct app_ops app_c_srs;

#endif /* WIC_APPS_C_SRS_C_SRS_H */
