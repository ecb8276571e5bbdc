/* leak_book.h: what stays at the end of each step, in groups, while a replay is fed.
 * Only leaks.c includes it.
 *
 * A block costs next to nothing until a step ends with it alive: only then it gets a
 * group. A step writes down the groups that it changed, and nothing of the others.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_LEAK_BOOK_H
#define ML_ANALYZE_LEAK_BOOK_H

#include "block_groups.h"
#include "leaks.h"

/* What a step did to a group. */
struct ml_leak_change {
    uint32_t group;
    uint32_t step;
    int64_t bytes, blocks;
};

/* A group as it is now, and as it was when the last step ended. */
struct ml_leak_group {
    uint64_t bytes, blocks;
    uint64_t end_bytes, end_blocks;
    uint32_t stack; /* of the block that came last */
    bool touched;   /* is in the list of those that a step changed */
};

/* Where a step ended. */
struct ml_leak_end {
    uint64_t number; /* of the step that begins here */
    uint64_t time_ns;
    uint64_t bytes; /* live, of what is looked at */
};

/* Beside each entry of the live table. The young are those that are not looked at yet: they
 * have no group, and are a list instead, the oldest first. */
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
    uint32_t first_young, last_young;  /* + 1; 0: none */
    ML_VEC(uint32_t) pliable;          /* entries in groups whose size may change */
    ML_VEC(bool) ranged;               /* by space: its blocks are pliable */
    ML_VEC(uint64_t) counted_bytes;    /* by entry: what a pliable one is in its group with */
    ML_VEC(struct ml_leak_group) list; /* by group */
    ML_VEC(uint32_t) touched;
    ML_VEC(struct ml_leak_change) changes; /* in order of steps */
    ML_VEC(struct ml_leak_end) ends;
    uint64_t bytes;                   /* in all groups */
    uint64_t first_birth, last_birth; /* in nanoseconds, of any block; 0: none */
    int failed;
};

/* Hangs itself into the replay's on_open, on_close and on_split, with itself as ctx.
 * Everything given must outlive it. @return 0 or -ENOMEM; release it in both cases */
int ml_leak_book_init(struct ml_leak_book *book, struct ml_replay *replay, const enum ml_key *by,
                      size_t by_count);
void ml_leak_book_release(struct ml_leak_book *book);

/* A step ends here, and the next, of that number, begins. @return 0 or -ENOMEM */
int ml_leak_book_end(struct ml_leak_book *book, uint64_t number, uint64_t time_ns);

/* The next end is of a step that takes the place of all of its number or a higher one: what
 * they changed is its own. Before ml_leak_book_end(). */
void ml_leak_book_take_over(struct ml_leak_book *book, uint64_t number);

/* What the process had is gone with it. */
void ml_leak_book_end_process(struct ml_leak_book *book, uint32_t process);

/* Finds the groups that look like leaks: fills in which steps count, what they did, and the list.
 * @return 0 or -ENOMEM */
int ml_leak_signs(const struct ml_leak_book *book, const struct ml_leaks_opts *opts,
                  struct ml_leaks *ret);

#endif
