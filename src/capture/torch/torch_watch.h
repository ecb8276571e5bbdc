/* torch_watch.h: the blocks of PyTorch that a thread allocates during a call, for a caller that can
 * name them only afterwards.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TORCH_WATCH_H
#define ML_TORCH_WATCH_H

#include <stddef.h>
#include <stdint.h>

#include "compiler.h"

struct ml_torch_watched {
    const void *address;
    uint64_t bytes;
    int cuda_device; /* -1: the host */
};

/* The caller's: it stays in place until the watch ends. */
struct ml_torch_watch {
    struct ml_torch_watched *blocks;
    size_t room;
    size_t count; /* more than there is room for: the last ones are missing */
};

/* Where the calling thread notes its blocks; NULL: nowhere. */
extern __thread struct ml_torch_watch *ml_torch_watching;

/* Begins a watch of the calling thread, NULL ends it. Returns the one before, which the caller puts
 * back. */
struct ml_torch_watch *ml_torch_watch(struct ml_torch_watch *watch);

void ml_torch_watch_note(const void *address, uint64_t bytes, int cuda_device);

/* Each allocation calls this. */
static ML_ALWAYS_INLINE void ml_torch_watch_alloc(const void *address, uint64_t bytes,
                                                  int cuda_device)
{
    if (ML_UNLIKELY(ml_torch_watching))
        ml_torch_watch_note(address, bytes, cuda_device);
}

#endif
