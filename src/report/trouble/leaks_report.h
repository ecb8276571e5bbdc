/* leaks_report.h: growth from step to step, as text and as JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REPORT_LEAKS_REPORT_H
#define ML_REPORT_LEAKS_REPORT_H

#include "leaks.h"
#include "style.h"

/* @file   the trace's name as the user gave it
 * @return 0 or -ENOMEM */
int ml_leaks_text(const struct ml_leaks *leaks, const char *file, const struct ml_style *style,
                  struct ml_buf *out);
int ml_leaks_json(const struct ml_leaks *leaks, const char *file, struct ml_buf *out);

/* "step", "slice". */
const char *ml_leaks_unit_word(const struct ml_leaks *leaks);

#endif
