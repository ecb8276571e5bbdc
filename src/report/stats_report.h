/* stats_report.h: statistics as text and as JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REPORT_STATS_REPORT_H
#define ML_REPORT_STATS_REPORT_H

#include "json.h"
#include "stats.h"
#include "style.h"

/* @file   the trace's name as the user gave it
 * @return 0 or negative errno */
int ml_stats_text(const struct ml_stats *stats, const char *file, const struct ml_style *style,
                  struct ml_buf *out);
int ml_stats_json(const struct ml_stats *stats, const char *file, struct ml_buf *out);

/* Parts of the two: operators, tasks, frames, events and counters. */
int ml_stats_activities_text(const struct ml_stats *stats, const struct ml_style *style,
                             struct ml_buf *out);
void ml_stats_activities_json(const struct ml_stats *stats, struct ml_json *json);

#endif
