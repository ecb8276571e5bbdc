/* tag_list.h: the blocks of a trace as tags and bytes: all that were allocated, or those
 * that were live at an instant.
 *
 * Which spaces: those of the GPUs if the trace has any, and the host's pinned memory, as
 * MXNet's profilers had it; else all. A device that is asked for is taken instead. Of
 * these the counted ones (see replay.h), or those of a level that is asked for.
 *
 * An allocation of the driver or of a pool has no name of its own. It has that of the
 * first block that begins where it does: the one it was made for.
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
    uint64_t requested; /* of them asked for; the same where that is not told, and if live */
    uint64_t addr;
    uint64_t time_ns;
    uint64_t ordinal; /* in the order of birth */
    uint32_t space;   /* number in the trace; likewise the next two */
    uint32_t scope, stack;
    uint32_t tag; /* in ml_tag_list.tags */
};

struct ml_tag_list {
    struct ml_intern tags;
    ML_VEC(struct ml_tagged) list; /* in the order of birth */
    uint64_t bytes;                /* of all */
    bool gross;                    /* all that were allocated */
    unsigned level;                /* enum memledger_level, 0: what is counted */
    const char *devices;           /* "cuda:0 alone"; NULL: the trace has one device */
    struct ml_snapshot at;         /* when, its bytes and blocks those of the
                                      list; if gross only what was run */
};

struct ml_tag_list_opts {
    const char *device; /* NULL: see above */
    unsigned level;     /* enum memledger_level; 0: what is counted */
    bool gross;
    struct ml_at at;              /* unless gross */
    struct ml_progress *progress; /* NULL: nobody wants to know */
};

/* @ret    to be released, after a failure too
 * @return 0 or negative errno */
int ml_tag_list(const struct ml_trace *trace, const struct ml_tag_list_opts *opts,
                struct ml_tag_list *ret, struct ml_error *err);
void ml_tag_list_release(struct ml_tag_list *list);

const char *ml_tagged_name(const struct ml_tag_list *list, const struct ml_tagged *entry);

/* The same for an address of the same process alone, and in the order of its addresses. */
uint64_t ml_address_key(const struct ml_trace *trace, uint32_t space, uint64_t addr);

/* Whether it has memory of a GPU. */
bool ml_trace_has_gpu(const struct ml_trace *trace);

/* Whether the trace has MXNet's blocks on a GPU and what MXNet asked the driver for: its
 * pools hand out whole allocations of the driver, so that each has a block's name. */
bool ml_trace_has_mxnet_pool(const struct ml_trace *trace, const char *device);

/* Whether it has PyTorch's blocks and none of MXNet's. */
bool ml_trace_has_torch_alone(const struct ml_trace *trace);

/* Sets list->devices, where the trace has several; ml_tag_list does. @return 0 or -ENOMEM */
int ml_tag_list_name_devices(const struct ml_trace *trace, struct ml_tag_list *list);

#endif
