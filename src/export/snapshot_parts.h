/* snapshot_parts.h: the parts of a snapshot as PyTorch's torch.cuda.memory._snapshot()
 * makes it: which devices and which process it is of, what happened on a device, and what
 * its segments held at the end.
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

/* What the blocks of a space are in a snapshot. */
enum ml_torch_role { ML_TORCH_NOTHING, ML_TORCH_SEGMENT, ML_TORCH_BLOCK };

struct ml_snapshot_device {
    const char *name;  /* of the trace */
    uint32_t number;   /* in the snapshot */
    uint32_t segments; /* enum memledger_level that its segments are of; 0: blocks are alone */
};

struct ml_snapshot_export {
    const struct ml_trace *trace;
    uint64_t event; /* how many events it is made of */
    uint32_t process;
    ML_VEC(struct ml_snapshot_device) devices; /* by number in the snapshot */

    struct ml_replay replay; /* of the events up to there */
    uint32_t device_index;   /* of the device that is written, in the replay */
    const struct ml_snapshot_device *device;
    struct ml_order segments; /* address -> block, of live segments */
    struct ml_map alone;      /* blocks that lie in no segment */
    uint64_t free_bytes;      /* on the device, as last sampled */
    size_t items;             /* in the list since the last mark */

    struct ml_pickle_writer pickle;
    struct ml_site_frames frames;
    struct ml_map frame_memos; /* frame -> number in the pickle */
    struct ml_map stack_memos; /* stack or scope -> number in the pickle */
    struct ml_buf scratch;
    int error; /* the first failure */
};

/* The devices and the process: `asked`, or the GPUs, or the host.
 * @return 0 or negative errno */
int ml_torch_choose(struct ml_snapshot_export *s, const char *asked, struct ml_error *err);

/* What a block's space is to the device that is being written. */
enum ml_torch_role ml_torch_role(const struct ml_snapshot_export *s, const struct ml_block *block);

/* The list of what happened on one device. @return 0 or negative errno */
int ml_torch_put_trace(struct ml_snapshot_export *s, const struct ml_snapshot_device *device,
                       struct ml_progress *progress, struct ml_error *err);

/* The segments of a device, as the replay has them, into the list that is open. */
int ml_torch_put_segments(struct ml_snapshot_export *s, const struct ml_snapshot_device *device);

/* The frames of a stack; where there is none the scope, as one frame. */
void ml_torch_put_frames(struct ml_snapshot_export *s, uint32_t stack, uint32_t scope);

/* Lists are written in parts, so that nothing has to be counted before. */
void ml_torch_begin_list(struct ml_snapshot_export *s);
void ml_torch_next_item(struct ml_snapshot_export *s);
void ml_torch_end_list(struct ml_snapshot_export *s);

#endif
