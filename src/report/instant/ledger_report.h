/* ledger_report.h: a ledger as text and as JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REPORT_LEDGER_REPORT_H
#define ML_REPORT_LEDGER_REPORT_H

#include "ledger.h"
#include "style.h"

/* @file   the trace's name as the user gave it
 * @return 0 or negative errno */
int ml_ledger_text(const struct ml_ledger *ledger, const char *file, const struct ml_style *style,
                   struct ml_buf *out);
int ml_ledger_json(const struct ml_ledger *ledger, const char *file, struct ml_buf *out);

#endif
