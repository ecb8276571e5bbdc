/* band_reader.h: replays a part of a trace for the columns of its bands, of one sort or several.
 *
 * The replay starts at the last checkpoint before the first column, if the trace has checkpoints,
 * and ends with the last column.
 *
 *     r = ml_band_reader_begin(&reader, trace, caps, wanted, false, &err);
 *     r = ml_band_reader_read(&reader, &columns, emit, ctx, &err);
 *     r = ml_band_reader_name(&reader, ML_BANDS_MODULE, &bands);
 *     ml_band_reader_release(&reader);
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_BAND_READER_H
#define ML_ANALYZE_BAND_READER_H

#include "band_modules.h"
#include "band_processes.h"
#include "checkpoint_walk.h"
#include "column_picker.h"

struct ml_band_reader {
    const struct ml_trace *trace;
    const struct ml_level_caps *caps;
    unsigned wanted;                   /* bits: 1 << enum ml_bands_by */
    struct ml_checkpoints checkpoints; /* the list is empty: there are none */
    struct ml_classes classes;         /* without checkpoints */
    struct ml_replay end;              /* the totals after the last event; without checkpoints
                                          only if processes are wanted */
    bool has_end;
    size_t module_depth; /* see struct ml_bands_opts; set it before reading */
    struct ml_replay replay;
    struct ml_checkpoint_walk walk;
    struct ml_band_modules modules;
    struct ml_band_processes processes;
    struct ml_column_picker picker;
};

/* @caps   NULL: none. With a list of levels, checkpoints are of no use
 * @from_start  does not use checkpoints
 * @return 0 or negative errno; release in both cases */
int ml_band_reader_begin(struct ml_band_reader *reader, const struct ml_trace *trace,
                         const struct ml_level_caps *caps, unsigned wanted, bool from_start,
                         struct ml_error *err);
void ml_band_reader_release(struct ml_band_reader *reader);

/* Call it once.
 * @emit   gets the columns up to the end of the run. @return 0 or negative errno
 * @return 0 or negative errno; -EBADMSG also if a checkpoint is damaged: read from the start then
 */
int ml_band_reader_read(struct ml_band_reader *reader, const struct ml_columns *columns,
                        int (*emit)(void *ctx, const struct ml_band_column *column), void *ctx,
                        struct ml_error *err);

/* Fills in the number and the names of the bands; call it after reading. @return 0 or -ENOMEM */
int ml_band_reader_name(const struct ml_band_reader *reader, enum ml_bands_by by,
                        struct ml_bands *ret);

/* The health of the whole trace; call it after reading. */
struct ml_health ml_band_reader_health(const struct ml_band_reader *reader);

#endif
