/* compare_report.h: runs side by side as text and as JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REPORT_COMPARE_REPORT_H
#define ML_REPORT_COMPARE_REPORT_H

#include "compare.h"
#include "style.h"

/* @return 0 or negative errno */
int ml_compare_text(const struct ml_compare *compare, const struct ml_style *style,
                    struct ml_buf *out);
int ml_compare_json(const struct ml_compare *compare, struct ml_buf *out);

#endif
