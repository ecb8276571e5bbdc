/* temporary_report.h: allocations that are freed quickly, as text, JSON and CSV.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REPORT_TEMPORARY_REPORT_H
#define ML_REPORT_TEMPORARY_REPORT_H

#include "style.h"
#include "temporary.h"

/* "freed before its thread made more than 1 other", "freed within 20 us". @return buf */
const char *ml_temporary_limit_words(const struct ml_temporary_limit *limit, char buf[96]);

/* @file   the trace's name as the user gave it
 * @return 0 or -ENOMEM */
int ml_temporary_text(const struct ml_temporary *temporary, const char *file,
                      const struct ml_style *style, struct ml_buf *out);
int ml_temporary_json(const struct ml_temporary *temporary, const char *file, struct ml_buf *out);
int ml_temporary_csv(const struct ml_temporary *temporary, bool safe, struct ml_buf *out);

#endif
