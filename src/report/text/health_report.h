/* health_report.h: the warnings before every report.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REPORT_HEALTH_REPORT_H
#define ML_REPORT_HEALTH_REPORT_H

#include "health.h"
#include "json.h"
#include "style.h"

/* One line for each problem; nothing if there is none.
 * @name   the run's name, put before each warning; NULL: not needed
 * @return 0 or -ENOMEM */
int ml_health_text(const struct ml_health *health, const char *name, const struct ml_style *style,
                   struct ml_buf *out);

/* Why a recording is incomplete: it is in progress, the file is truncated, or it was not
 * finished. */
const char *ml_health_cut_short_words(const struct ml_health *health);

/* The column of memory that was never freed. In a recording without its end, or whose program ran
 * on, the memory was live when the recording stopped. Without its first character, which aligns it,
 * it is a word. */
const char *ml_health_left_title(const struct ml_health *health);

/* That a recording has no allocations. Precondition: it is empty. */
const char *ml_health_empty_words(const struct ml_health *health);

/* The key "health" and its object. */
void ml_health_json(const struct ml_health *health, struct ml_json *json);

/* Significant digits of the error of an estimate: 0.13 %, 3.4 %, 120 %. */
static inline int ml_error_digits(double percent)
{
    return percent < 99.5 ? 2 : 4;
}

#endif
