/* limits_report.h: which limits a run kept, as text and JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REPORT_LIMITS_REPORT_H
#define ML_REPORT_LIMITS_REPORT_H

#include "run_limits.h"
#include "style.h"

/* @file   the trace's name as the user gave it
 * @return 0 or negative errno */
int ml_limits_text(const struct ml_limits *limits, const char *file, const struct ml_style *style,
                   struct ml_buf *out);
int ml_limits_json(const struct ml_limits *limits, const char *file, struct ml_buf *out);

#endif
