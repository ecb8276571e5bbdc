/* summary_caches.h: keys and values of models that generate, in a summary. Only the summary's own
 * files include it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REPORT_SUMMARY_CACHES_H
#define ML_REPORT_SUMMARY_CACHES_H

#include "cache_growth.h"
#include "json.h"
#include "style.h"

/* A line for all, and a table of the layers if they differ; nothing if there are none.
 * @return 0 or negative errno */
int ml_summary_caches_line(const struct ml_cache_growth *caches, const struct ml_style *style,
                           struct ml_buf *out);
int ml_summary_caches_table(const struct ml_cache_growth *caches, const struct ml_style *style,
                            struct ml_buf *out);

/* The value of the key "kv_cache": an object, or null. */
void ml_summary_caches_json(const struct ml_cache_growth *caches, struct ml_json *json);

#endif
