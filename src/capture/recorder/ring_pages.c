/* ring_pages.c: see ring_pages.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ring_pages.h"

#include <errno.h>
#include <sys/mman.h>

#include "compiler.h"
#include "filtered.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* How much of a ring to back at a time: few threads fill theirs, and a call costs as much as two or
 * three of the page faults that it saves. */
#define STEP_BYTES (64u << 10)
#define STEP_WORDS (STEP_BYTES / sizeof(uint64_t))
/* Records to drop before trying again. */
#define SKIPPED_RECORDS 1000

bool ml_pages_back(void *at, size_t bytes)
{
    return !madvise(at, bytes, MADV_POPULATE_WRITE) || errno == EINVAL;
}

static bool back_next(struct ml_writer *w)
{
    uint64_t words = ml_min_u64(STEP_WORDS, w->mask + 1 - w->backed);

    if (!ml_pages_back(&w->data[w->backed], words * sizeof(uint64_t)))
        return false;
    w->backed += words;
    return true;
}

bool ml_ring_back(struct ml_writer *w, unsigned n)
{
    int saved_errno = errno;
    bool ok = true;

    /* After one lap the whole ring has memory. */
    if (ML_LIKELY(w->backed > w->mask || w->head + n <= w->backed))
        return true;
    if (w->skip_backing) {
        w->skip_backing--;
        return false;
    }
    if (!ml_calls_begin())
        return true;
    while (ok && w->backed <= w->mask && w->head + n > w->backed)
        ok = back_next(w);
    ml_calls_end();
    w->skip_backing = ok ? 0 : SKIPPED_RECORDS;
    errno = saved_errno;
    return ok;
}
