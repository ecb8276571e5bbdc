/* summary_samples.h: the samples in a summary. Only the summary's
 * own files include it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REPORT_SUMMARY_SAMPLES_H
#define ML_REPORT_SUMMARY_SAMPLES_H

#include "json.h"
#include "samples.h"
#include "style.h"

/* One line of the head: "name   value  text"; the text continues below if it is too wide.
 * @return 0 or negative errno */
int ml_summary_line(struct ml_buf *out, const struct ml_style *style, const char *name,
                    const char *value, const char *fmt, ...) ML_PRINTF(5, 6);

/* Lines for the samples, if there are any. */
int ml_summary_samples_text(const struct ml_samples *samples, const struct ml_style *style,
                            struct ml_buf *out);

/* The value of the key "samples": an object, or null. */
void ml_summary_samples_json(const struct ml_samples *samples, struct ml_json *json);

#endif
