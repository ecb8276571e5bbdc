/* thread_counts.h: a number for each thread: how many allocations it has made.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_THREAD_COUNTS_H
#define ML_ANALYZE_THREAD_COUNTS_H

#include <stddef.h>
#include <stdint.h>

#include "map.h"
#include "vec.h"

/* All zero bytes is an empty one. */
struct ml_thread_counts {
    ML_VEC(uint64_t) counts; /* by index of thread */
    struct ml_map index;     /* number -> index: a file may give threads any numbers */
    uint32_t last_thread;    /* the latest lookup */
    size_t last_index;
};

/* The thread's number, 0 at first; valid until the next call. @return NULL: out of memory */
uint64_t *ml_thread_count(struct ml_thread_counts *threads, uint32_t thread);
void ml_thread_counts_release(struct ml_thread_counts *threads);

#endif
