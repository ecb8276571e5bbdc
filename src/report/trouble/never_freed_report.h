/* never_freed_report.h: memory that a program never freed, by stack, as text and as JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REPORT_NEVER_FREED_REPORT_H
#define ML_REPORT_NEVER_FREED_REPORT_H

#include "costs.h"
#include "style.h"

/* @report  of ML_COST_LEAKED by ML_KEY_STACK; groups that were left out are suppressed
 * @file    the trace's name as the user gave it
 * @return  0 or -ENOMEM */
int ml_never_freed_text(const struct ml_trace *trace, const struct ml_cost_report *report,
                        const char *file, const struct ml_style *style, struct ml_buf *out);
int ml_never_freed_json(const struct ml_trace *trace, const struct ml_cost_report *report,
                        const char *file, struct ml_buf *out);

#endif
