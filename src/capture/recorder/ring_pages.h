/* ring_pages.h: gets memory for the pages of a ring set before they are written to.
 *
 * A memfd's pages get memory when they are first written to. If the kernel limits its promises
 * (vm.overcommit_memory=2), there may be none left, and the store would raise SIGBUS in the
 * program. So the recorder asks first, and if it is refused, drops and counts records.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_RING_PAGES_H
#define ML_RING_PAGES_H

#include <stdbool.h>
#include <stddef.h>

#include "record.h"

/* Precondition: calls are allowed, and `at` begins a page.
 * @return whether the pages have memory; true on kernels before 5.14, where this is unknown */
bool ml_pages_back(void *at, size_t bytes);

/* The same for the words of a thread's ring that a record of n words needs, and some more. Pages
 * that were written to keep their memory. When no calls are allowed, returns true. Keeps errno.
 */
bool ml_ring_back(struct ml_writer *w, unsigned n);

/* The position up to which the ring may be written to. */
static inline uint64_t ml_ring_backed(const struct ml_writer *w)
{
    return w->backed > w->mask ? UINT64_MAX : w->backed;
}

#endif
