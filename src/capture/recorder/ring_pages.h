/* ring_pages.h: memory behind the pages of a ring set, before anything is written there.
 *
 * A memfd's pages get memory when they are first written to. Where the kernel counts what it has
 * promised (vm.overcommit_memory=2) there may be none left, and the store would raise SIGBUS in
 * the program. So the recorder asks first, and where there is none, drops and counts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_RING_PAGES_H
#define ML_RING_PAGES_H

#include <stdbool.h>
#include <stddef.h>

#include "record.h"

/* Precondition: calls are allowed, and `at` begins a page.
 * @return whether there is memory behind them; on a kernel before 5.14 unknown, and true */
bool ml_pages_back(void *at, size_t bytes);

/* The same for the words of a thread's ring that a record of n words needs, and some more. What
 * the ring has been written to once it keeps. Without calls it is taken for granted. Keeps errno.
 */
bool ml_ring_back(struct ml_writer *w, unsigned n);

/* Up to where the ring may be written to. */
static inline uint64_t ml_ring_backed(const struct ml_writer *w)
{
    return w->backed > w->mask ? UINT64_MAX : w->backed;
}

#endif
