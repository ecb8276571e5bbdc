/* reach_tags.h: the section on which blocks a process could still reach as it ended.
 * docs/trace-format.md has the tables.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REACH_TAGS_H
#define ML_REACH_TAGS_H

/* Tags of the tables. */
enum ml_reach_tag { ML_REACH_PROCESSES = 1, ML_REACH_BLOCKS = 2 };

/* Fields of a row of ML_REACH_PROCESSES. */
enum ml_reach_process_field {
    ML_REACH_PROCESS_NUMBER,
    ML_REACH_PROCESS_OUTCOME,        /* enum ml_reach_outcome */
    ML_REACH_PROCESS_TIME_NS,        /* of the copy */
    ML_REACH_PROCESS_SEARCHED_BYTES, /* outside of blocks */
    ML_REACH_PROCESS_FIELDS,
};

/* Whether the memory of a process was searched. */
enum ml_reach_outcome {
    ML_REACH_SEARCHED = 0,
    ML_REACH_UNREADABLE = 1, /* the copy has gone, or may not be read */
    ML_REACH_TOO_LONG = 2,   /* the search took too long */
};

/* Fields of a row of ML_REACH_BLOCKS: a block that its process never freed. */
enum ml_reach_block_field {
    ML_REACH_BLOCK_SPACE,   /* number */
    ML_REACH_BLOCK_ADDRESS, /* zigzag of the difference to the row before */
    ML_REACH_BLOCK_REACH,   /* enum ml_reach */
    ML_REACH_BLOCK_FIELDS,
};

/* How a process could reach a block that it never freed. */
enum ml_reach {
    ML_REACH_UNKNOWN = 0,  /* not searched for */
    ML_REACH_DEFINITE = 1, /* no pointer to it: definitely lost */
    ML_REACH_INDIRECT = 2, /* pointers in lost blocks only: indirectly lost */
    ML_REACH_REACHABLE = 3,
    ML_REACHES,
};

#endif
