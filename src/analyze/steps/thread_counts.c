/* thread_counts.c: see thread_counts.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "thread_counts.h"

uint64_t *ml_thread_count(struct ml_thread_counts *threads, uint32_t thread)
{
    uint64_t index = threads->counts.len;

    if (threads->counts.len > 0 && thread == threads->last_thread)
        return &threads->counts.items[threads->last_index];
    if (!ml_map_get(&threads->index, thread, &index) &&
        (ml_vec_push(&threads->counts, 0) < 0 || ml_map_put(&threads->index, thread, index) < 0))
        return NULL;
    threads->last_thread = thread;
    threads->last_index = index;
    return &threads->counts.items[index];
}

void ml_thread_counts_release(struct ml_thread_counts *threads)
{
    ml_vec_release(&threads->counts);
    ml_map_release(&threads->index);
}
