/* snapshot_parts.h: the parts of a snapshot as PyTorch's torch.cuda.memory._snapshot() writes
 * it: the chosen devices and process, the history of a device, and its segments at the end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_EXPORT_SNAPSHOT_PARTS_H
#define ML_EXPORT_SNAPSHOT_PARTS_H

#include "order.h"
#include "pickle_writer.h"
#include "progress.h"
#include "replay.h"
#include "site_frames.h"

#define ML_TORCH_DEVICES_MAX 64

/* The role of a space's blocks in a snapshot. */
enum ml_torch_role { ML_TORCH_NOTHING, ML_TORCH_SEGMENT, ML_TORCH_BLOCK };

struct ml_snapshot_device {
    const char *name;  /* of the trace */
    uint32_t number;   /* in the snapshot */
    uint32_t segments; /* enum memledger_level of its segments; 0: there are only blocks */
};

struct ml_snapshot_export {
    const struct ml_trace *trace;
    uint64_t event; /* the number of events up to the snapshot */
    uint32_t process;
    ML_VEC(struct ml_snapshot_device) devices; /* by number in the snapshot */

    struct ml_replay replay; /* of the events up to there */
    uint32_t device_index;   /* of the device being written, in the replay */
    const struct ml_snapshot_device *device;
    struct ml_order segments; /* address -> block, of live segments */
    struct ml_map alone;      /* blocks outside all segments */
    uint64_t free_bytes;      /* on the device, as last sampled */
    size_t items;             /* in the list since the last mark */

    struct ml_pickle_writer pickle;
    struct ml_site_frames frames;
    struct ml_map frame_memos; /* frame -> number in the pickle */
    struct ml_map stack_memos; /* stack or scope -> number in the pickle */
    struct ml_buf scratch;
    int error; /* the first failure */
};

/* Chooses the devices (`asked`, else the GPUs, else the host) and the process.
 * @return 0 or negative errno */
int ml_torch_choose(struct ml_snapshot_export *s, const char *asked, struct ml_error *err);

/* The role of a block's space on the device being written. */
enum ml_torch_role ml_torch_role(const struct ml_snapshot_export *s, const struct ml_block *block);

/* Writes the history of one device as a list. @return 0 or negative errno */
int ml_torch_put_trace(struct ml_snapshot_export *s, const struct ml_snapshot_device *device,
                       struct ml_progress *progress, struct ml_error *err);

/* Adds the segments of a device, in the replay's state, to the open list. */
int ml_torch_put_segments(struct ml_snapshot_export *s, const struct ml_snapshot_device *device);

/* Writes the frames of a stack, or, without a stack, the scope as one frame. */
void ml_torch_put_frames(struct ml_snapshot_export *s, uint32_t stack, uint32_t scope);

/* Lists are written in parts, so that items need not be counted first. */
void ml_torch_begin_list(struct ml_snapshot_export *s);
void ml_torch_next_item(struct ml_snapshot_export *s);
void ml_torch_end_list(struct ml_snapshot_export *s);

#endif
