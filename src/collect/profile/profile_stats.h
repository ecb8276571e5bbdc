/* profile_stats.h: the aggregate statistics of a profile as text.
 *
 * Layouts are those of MXNet's profiler: rows by category, times in
 * milliseconds, memory in units of 1000 bytes. Counters that do not count bytes
 * have their own rows, in plain numbers. docs/api.md shows both.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_PROFILE_STATS_H
#define ML_PROFILE_STATS_H

#include <stdbool.h>

#include "profile_tracks.h"
#include "vec.h"

/* Append the table, or one JSON object. `sort_by` is enum memledger_stats_sort;
 * rows of equal value are ordered by name. @return 0 or -ENOMEM */
int ml_profile_stats_table(const struct ml_profile_tracks *t, int sort_by, bool ascending,
                           struct ml_buf *out);
int ml_profile_stats_json(const struct ml_profile_tracks *t, int sort_by, bool ascending,
                          struct ml_buf *out);

#endif
