/* workers.h: a fixed set of threads that share the items of a loop.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef VGG19_WORKERS_H
#define VGG19_WORKERS_H

#include <stddef.h>

struct workers;

/* Handles item `index`. Items run in any order and on any thread, so a task
 * writes only what belongs to its item: results then do not depend on the
 * number of threads. */
typedef void workers_task(const void *job, size_t index);

/* Starts `threads` - 1 threads; the caller of workers_run is the last one. NULL when out of
 * memory. If the system refuses threads, fewer work. The caller frees it with workers_free. */
struct workers *workers_new(int threads);
void workers_free(struct workers *workers);

/* Returns once task(job, i) has returned for every i < count. */
void workers_run(struct workers *workers, size_t count, workers_task *task, const void *job);

#endif
