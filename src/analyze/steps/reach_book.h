/* reach_book.h: whether a process could still reach the blocks that it never freed, as
 * `run --scan-at-exit` found out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_REACH_BOOK_H
#define ML_ANALYZE_REACH_BOOK_H

#include <stdbool.h>

#include "reach_tags.h"
#include "trace.h"

/* A process whose memory was to be searched. */
struct ml_reach_process {
    uint32_t number;
    enum ml_reach_outcome outcome;
    uint64_t searched_bytes;
};

struct ml_reach_entry {
    uint64_t address;
    uint32_t space; /* number */
    uint8_t reach;  /* enum ml_reach */
};

struct ml_reach_book {
    bool is_there; /* false: nothing was searched */
    ML_VEC(struct ml_reach_process) processes;
    ML_VEC(struct ml_reach_entry) entries; /* by space and address */
};

/* @ret    to be released, after a failure too
 * @return 0, also for a trace without a search; -EBADMSG, -ENOMEM */
int ml_reach_book_read(const struct ml_trace *trace, struct ml_reach_book *ret);
void ml_reach_book_release(struct ml_reach_book *book);

/* The reach of the block at an address of a space. */
enum ml_reach ml_reach_book_of(const struct ml_reach_book *book, uint32_t space, uint64_t address);

#endif
