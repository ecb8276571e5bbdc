/* torch_watch.c: see torch_watch.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "torch_watch.h"

__thread struct ml_torch_watch *ml_torch_watching;

struct ml_torch_watch *ml_torch_watch(struct ml_torch_watch *watch)
{
    struct ml_torch_watch *before = ml_torch_watching;

    ml_torch_watching = watch;
    return before;
}

void ml_torch_watch_note(const void *address, uint64_t bytes, int cuda_device)
{
    struct ml_torch_watch *watch = ml_torch_watching;

    if (watch->count < watch->room)
        watch->blocks[watch->count] = (struct ml_torch_watched){
            .address = address, .bytes = bytes, .cuda_device = cuda_device};
    watch->count++;
}
