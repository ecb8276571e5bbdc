/* tag_list.h: the blocks of a trace as tags and bytes: all allocations, or those live at an
 * instant.
 *
 * The list covers the spaces of the GPUs, if the trace has any, and the host's pinned memory, as
 * in MXNet's profilers; else all spaces. The caller can select a device instead. Among these
 * spaces only the counted ones (see replay.h) are listed, or those of a requested level.
 *
 * An allocation of the driver or of a pool has no name. It gets that of the first block that
 * starts at its address: the block it was made for.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_TAG_LIST_H
#define ML_ANALYZE_TAG_LIST_H

#include "intern.h"
#include "progress.h"
#include "snapshot.h"

struct ml_tagged {
    uint64_t bytes;
    uint64_t requested; /* by the program; the same if unknown, and for live blocks */
    uint64_t addr;
    uint64_t time_ns;
    uint64_t ordinal; /* in the order of allocation */
    uint32_t space;   /* number in the trace, like the next two */
    uint32_t scope, stack;
    uint32_t tag;        /* in ml_tag_list.tags */
    uint32_t class_name; /* of its module, in ml_tag_list.tags, + 1; 0: unknown */
};

struct ml_tag_list {
    struct ml_intern tags;
    ML_VEC(struct ml_tagged) list; /* in the order of allocation */
    uint64_t bytes;                /* the sum */
    bool gross;                    /* all allocations */
    bool torch;                    /* see ml_trace_has_torch_alone */
    unsigned level;                /* enum memledger_level, 0: the counted one */
    const char *devices;           /* "cuda:0 alone"; NULL: the trace has one device */
    struct ml_snapshot at;         /* the instant, with bytes and blocks of the
                                      list; if gross only the command */
};

struct ml_tag_list_opts {
    const char *device; /* NULL: see above */
    unsigned level;     /* enum memledger_level; 0: the counted one */
    bool gross;
    struct ml_at at;              /* unless gross */
    struct ml_progress *progress; /* NULL: no reports */
};

/* @ret    to be released, after a failure too
 * @return 0 or negative errno */
int ml_tag_list(const struct ml_trace *trace, const struct ml_tag_list_opts *opts,
                struct ml_tag_list *ret, struct ml_error *err);
void ml_tag_list_release(struct ml_tag_list *list);

const char *ml_tagged_name(const struct ml_tag_list *list, const struct ml_tagged *entry);

/* NULL: its module has no class, or it has no module. */
const char *ml_tagged_class(const struct ml_tag_list *list, const struct ml_tagged *entry);

/* A key that is unique to an address of a process, and sorts by address. */
uint64_t ml_address_key(const struct ml_trace *trace, uint32_t space, uint64_t addr);

/* Whether the trace has GPU memory. */
bool ml_trace_has_gpu(const struct ml_trace *trace);

/* Whether the trace has MXNet's blocks on a GPU and MXNet's driver allocations: its pools hand
 * out whole driver allocations, so that each has the name of a block. */
bool ml_trace_has_mxnet_pool(const struct ml_trace *trace, const char *device);

/* Whether all blocks are of malloc or mmap, without any scope: their tags say nothing. */
bool ml_trace_has_libc_alone(const struct ml_trace *trace);

/* Whether the trace has blocks of PyTorch and none of MXNet. */
bool ml_trace_has_torch_alone(const struct ml_trace *trace);

/* Sets list->devices if the trace has several; ml_tag_list calls it. @return 0 or -ENOMEM */
int ml_tag_list_name_devices(const struct ml_trace *trace, struct ml_tag_list *list);

#endif
