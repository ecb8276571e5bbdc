/* pool_entries.h: the entries of MXNet's own memory profile: the memory held at an instant, with
 * the bytes requested and the bytes taken.
 *
 * A pool that hands out whole driver allocations holds them until it frees them. Each has the
 * name and the size of the last block in it, and is reused if it had more than one. Other blocks
 * take the bytes they requested.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_POOL_ENTRIES_H
#define ML_ANALYZE_POOL_ENTRIES_H

#include "tag_list.h"

#define ML_POOL_AMEND "nvml_amend"

struct ml_pool_entry {
    const char *name;
    const char *device; /* "cuda:0" */
    uint64_t requested_bytes, actual_bytes;
    uint32_t pid; /* of the process that holds it */
    bool reused;
};

/* The driver's figure for the recorded processes on a device, less all entries there. */
struct ml_pool_amend {
    const char *device;
    int64_t bytes;
};

struct ml_pool_entries {
    struct ml_arena arena;
    ML_VEC(struct ml_pool_entry) list;   /* by name, device and size */
    ML_VEC(struct ml_pool_amend) amends; /* of devices with such samples, by name */
};

struct ml_pool_opts {
    struct ml_at at;
    const char *device; /* NULL: all */
    uint32_t pid;       /* only memory of this process; 0: all */
};

/* @ret    to be released, after a failure too
 * @return 0 or negative errno */
int ml_pool_entries(const struct ml_trace *trace, const struct ml_pool_opts *opts,
                    struct ml_pool_entries *ret, struct ml_error *err);
void ml_pool_entries_release(struct ml_pool_entries *entries);

#endif
