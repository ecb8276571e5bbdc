/* torch_snapshot.h: a snapshot of PyTorch's CUDA allocator, in compact form.
 *
 * torch.cuda.memory._snapshot() is a dict of
 *
 *     segments              what the allocator holds, each with its blocks, at the end
 *     device_traces         for each device what happened, the last N entries
 *     external_annotations  ranges with names: optimizers' steps, the user's own
 *     allocator_settings
 *
 * torch_records.c builds these structs while the pickle is read, so that the Python objects are
 * never all in memory; torch_snapshot.c reads the outermost dict; torch_past.c finds the state
 * before the first entry; torch_layout.c computes the sizes of blocks; torch_frames.c finds out
 * what stacks say; import_torch.c writes the trace.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TORCH_SNAPSHOT_H
#define ML_TORCH_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>

#include "import_sink.h"
#include "pickle_machine.h"
#include "torch_frames.h"

enum ml_torch_action {
    ML_TORCH_ALLOC,
    ML_TORCH_FREE_REQUESTED, /* the tensor was freed */
    ML_TORCH_FREE_COMPLETED, /* no stream uses it any more */
    ML_TORCH_SEGMENT_ALLOC,
    ML_TORCH_SEGMENT_FREE,
    ML_TORCH_SEGMENT_MAP, /* of a part of an expandable segment */
    ML_TORCH_SEGMENT_UNMAP,
    ML_TORCH_SNAPSHOT,
    ML_TORCH_OOM,
    ML_TORCH_OTHER, /* its name is kept */
};

#define ML_TORCH_SLACK_UNKNOWN UINT32_MAX

/* One entry of a device's trace. Texts are strings of the sink's dictionary. */
struct ml_torch_history_entry {
    uint64_t addr; /* of an oom: the bytes free on the device */
    uint64_t size; /* as requested */
    uint64_t time_us;
    uint64_t stream;
    uint32_t stack;
    uint32_t metadata; /* from the user, 0: none; of ML_TORCH_OTHER the action */
    uint32_t context;  /* of torch.compile, 0: none */
    uint32_t slack;    /* of a block: its bytes beyond `size`, if known */
    uint8_t action;
    bool has_time, has_addr;
};

enum ml_torch_state { ML_TORCH_ALLOCATED, ML_TORCH_INACTIVE };

struct ml_torch_block {
    uint64_t addr;
    uint64_t size;
    uint64_t requested;
    uint32_t stack;
    uint8_t state;
    bool has_addr; /* else the block follows the previous one */
    bool exact;    /* `size` is the block's size, not the requested one */
};

struct ml_torch_segment {
    uint64_t addr;
    uint64_t size;
    uint64_t stream;
    uint64_t pool[2]; /* {0, 0}: the default pool */
    uint32_t device;
    uint32_t stack;
    uint32_t first_block, block_count;
    bool expandable;
};

struct ml_torch_annotation {
    uint64_t time_us;
    uint32_t device;
    uint32_t name;
    bool ends;
};

/* A device's trace: a range of the entries. */
struct ml_torch_trace {
    uint32_t first, count;
};

/* The allocator_settings that decide the sizes of blocks. */
#define ML_TORCH_DIVISIONS 16
struct ml_torch_settings {
    uint64_t max_split_bytes;               /* 0: no limit */
    uint32_t divisions[ML_TORCH_DIVISIONS]; /* of sizes up to 1 MiB << i, 0: none */
};

struct ml_torch_snapshot {
    struct ml_import_source *source;
    struct ml_import_sink *sink;
    struct ml_pickle_machine machine;
    struct ml_pickle_taker taker;
    ML_VEC(struct ml_torch_history_entry) entries;
    ML_VEC(struct ml_torch_block) blocks;
    ML_VEC(struct ml_torch_segment) segments;
    ML_VEC(struct ml_torch_annotation) annotations;
    ML_VEC(struct ml_torch_trace) traces; /* by device */
    struct ml_torch_settings settings;
    struct ml_torch_places places; /* of stacks */
    bool allocs_have_stacks, frees_have_stacks;
    bool allocs_lack_stacks; /* some of them */

    /* Private to torch_records.c. */
    ML_VEC(uint32_t) strings; /* of texts: the dictionary's number + 1 */
    struct ml_intern callers; /* a frame with its callees */
    ML_VEC(uint32_t) stacks;  /* by the number of the outermost frame: 0 until requested */
};

/* Reads the source's pickle. @return 0; release it after a failure too */
int ml_torch_snapshot_read(struct ml_torch_snapshot *t, struct ml_import_source *source,
                           struct ml_import_sink *sink, struct ml_error *err);
void ml_torch_snapshot_release(struct ml_torch_snapshot *t);

/* ---- Of torch_records.c, for torch_snapshot.c --------------------------------- */

/* Prepares the machine. @return 0 or -ENOMEM */
int ml_torch_records_begin(struct ml_torch_snapshot *t);

/* Whether a node is a list of segments, or of entries. `node` may be NULL. */
bool ml_torch_is_segments(const struct ml_pickle_node *node);
bool ml_torch_is_trace(const struct ml_pickle_node *node, struct ml_torch_trace *ret);

#endif
