/* oom_report.h: verdicts on refused allocations as text or JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REPORT_OOM_REPORT_H
#define ML_REPORT_OOM_REPORT_H

#include "oom_verdict.h"
#include "style.h"

/* @file   the trace's name as the user gave it
 * @return 0 or -ENOMEM */
int ml_oom_text(const struct ml_oom_report *report, const char *file, const struct ml_style *style,
                struct ml_buf *out);
/* The paragraph of the last verdict alone; nothing if there is none. */
int ml_oom_paragraph(const struct ml_oom_report *report, const struct ml_style *style,
                     struct ml_buf *out);
int ml_oom_json(const struct ml_oom_report *report, const char *file, struct ml_buf *out);

#endif
