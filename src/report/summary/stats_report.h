/* stats_report.h: statistics as text and as JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REPORT_STATS_REPORT_H
#define ML_REPORT_STATS_REPORT_H

#include "stats.h"
#include "style.h"

/* @file   the trace's name as the user gave it
 * @return 0 or negative errno */
int ml_stats_text(const struct ml_stats *stats, const char *file, const struct ml_style *style,
                  struct ml_buf *out);
int ml_stats_json(const struct ml_stats *stats, const char *file, struct ml_buf *out);

#endif
