/* leak_book.h: the blocks that are live at the end of each step, in groups, collected during a
 * replay. Only leaks.c includes it.
 *
 * A block costs almost nothing until it outlives a step: only then does it get a group. A step
 * stores only the groups that it changed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_LEAK_BOOK_H
#define ML_ANALYZE_LEAK_BOOK_H

#include "block_groups.h"
#include "leaks.h"

/* The change of a group in a step. */
struct ml_leak_change {
    uint32_t group;
    uint32_t step;
    int64_t bytes, blocks;
};

/* A group at present, and at the end of the last step. */
struct ml_leak_group {
    uint64_t bytes, blocks;
    uint64_t end_bytes, end_blocks;
    uint32_t stack;      /* of the latest block */
    uint32_t space;      /* of the first block … */
    bool several_spaces; /* … and others had blocks in others */
    bool touched;        /* is in the list of changed groups */
    bool not_libc;       /* it had blocks that are not malloc's or mmap's */
    bool not_cache;      /* it had blocks that are not keys and values */
};

/* Sizes in a damaged trace may overflow; the wrapped sum is no more wrong than the sizes. */
static inline int64_t ml_leak_add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

/* The blocks of a group that were never freed. */
struct ml_leak_sum {
    uint64_t bytes, blocks;
    uint64_t new_bytes; /* of these: allocated in the slices that count */
    uint32_t group;
};

/* The end of a step. */
struct ml_leak_end {
    uint64_t number; /* of the step that starts here */
    uint64_t time_ns;
    uint64_t bytes;  /* live, of the selected blocks */
    uint64_t paused; /* steps that began in a pause of the one that ends here */
};

/* Parallel to the entries of the live table. Young blocks have not been grouped yet: they form a
 * list instead, the oldest first. */
struct ml_leak_entry {
    uint32_t young : 1;
    uint32_t number : 31; /* + 1, of the group or of the next young entry; 0: none */
};
_Static_assert(sizeof(struct ml_leak_entry) == 4, "one for each live block");

struct ml_leak_book {
    struct ml_replay *replay;
    struct ml_block_groups groups;
    int64_t device;  /* index, -1: all */
    int64_t process; /* number, -1: all */
    ML_VEC(struct ml_leak_entry) entries;
    uint32_t first_young, last_young; /* + 1; 0: none */
    ML_VEC(uint32_t) pliable;         /* entries in groups whose size may change */
    ML_VEC(bool) ranged;              /* by space: its blocks are pliable */
    ML_VEC(uint64_t) counted_bytes;   /* by entry: the bytes that a pliable one adds to its group */
    ML_VEC(struct ml_leak_group) list; /* by group */
    ML_VEC(uint32_t) touched;
    ML_VEC(struct ml_leak_change) changes; /* in order of steps */
    ML_VEC(struct ml_leak_end) ends;
    ML_VEC(struct ml_leak_sum) left;  /* by group: never freed; empty before ml_leak_left() */
    uint64_t bytes;                   /* in all groups */
    uint64_t first_birth, last_birth; /* the times of the first and last allocation; 0: none */
    bool is_paused;                   /* the recording was, in the step that goes on */
    uint64_t
        stride; /* from the number of a step to that of the next, without a pause; 0: unknown */
    int failed;
};

/* Installs itself as the replay's on_open, on_close and on_split, with itself as ctx. All
 * arguments must outlive it.
 * @return 0 or -ENOMEM; release it in both cases */
int ml_leak_book_init(struct ml_leak_book *book, struct ml_replay *replay, const enum ml_key *by,
                      size_t by_count);
void ml_leak_book_release(struct ml_leak_book *book);

/* A step ends here, and the next, with that number, starts. @return 0 or -ENOMEM */
int ml_leak_book_end(struct ml_leak_book *book, uint64_t number, uint64_t time_ns);

/* The next end belongs to a step that replaces all with its number or a higher one, including
 * their changes. Call it before ml_leak_book_end(). */
void ml_leak_book_take_over(struct ml_leak_book *book, uint64_t number);

/* Removes the blocks of a process that has ended. */
void ml_leak_book_end_process(struct ml_leak_book *book, uint32_t process);

/* Whether the block is of the book's device and process. */
bool ml_leak_book_selects(const struct ml_leak_book *book, const struct ml_block *block);

/* Which steps count, once the trace has been read: fills in these fields of the result. */
void ml_leak_range(const struct ml_leak_book *book, const struct ml_leaks_opts *opts,
                   struct ml_leaks *ret);

/* Adds up the blocks that were never freed, after ml_leak_range(): fills in the fields `left*` of
 * the result, and those of the book, where ml_leak_signs() finds them.
 * @return 0 or -ENOMEM */
int ml_leak_left(struct ml_leak_book *book, struct ml_leaks *ret);

/* Finds the groups that look like leaks, after ml_leak_range(): fills in their changes and the
 * list.
 * @return 0 or -ENOMEM */
int ml_leak_signs(const struct ml_leak_book *book, const struct ml_leaks_opts *opts,
                  struct ml_leaks *ret);

#endif
