/* timeline_window.h: the bands of any part of a run, as quickly as the trace allows.
 *
 * The columns of a window are those of a level of the pyramid, so that they are the same whether
 * they come from a pyramid or from a replay.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_TIMELINE_WINDOW_H
#define ML_ANALYZE_TIMELINE_WINDOW_H

#include "bands.h"

/* The columns that cover a time: those of the first level that has at least `wanted` in it. At most
 * twice as many, and one at each end. */
struct ml_columns ml_window_columns(const struct ml_trace *trace, uint64_t from_ns, uint64_t to_ns,
                                    size_t wanted);

/* The bands of these columns: from a pyramid if the trace has one that is fine enough, else from a
 * replay. A pyramid has no depths of modules, and no single processes if several had memory.
 * @ret    to be released, after a failure too
 * @return 0 or negative errno */
int ml_window_bands(const struct ml_trace *trace, const struct ml_bands_opts *opts,
                    const struct ml_columns *columns, struct ml_bands *ret, struct ml_error *err);

#endif
