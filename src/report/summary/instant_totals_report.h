/* instant_totals_report.h: one instant in a few figures, as text and JSON: what `memledger summary
 * --at` prints.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REPORT_INSTANT_TOTALS_REPORT_H
#define ML_REPORT_INSTANT_TOTALS_REPORT_H

#include "instant_totals.h"
#include "style.h"

/* Both return 0 or -ENOMEM. @file  the trace's name as the user gave it */
int ml_instant_totals_text(const struct ml_instant_totals *totals, const char *file,
                           const struct ml_style *style, struct ml_buf *out);
int ml_instant_totals_json(const struct ml_instant_totals *totals, const char *file,
                           struct ml_buf *out);

#endif
