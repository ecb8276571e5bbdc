/* ledger_plateau.h: how long the figure of a sample stays valid, and at which moment of that time
 * the book is opened. Only the ledger includes it.
 *
 * A program reports a block right after the driver call that made room for it, and so after the
 * sample of that call. The figure stays the same until the driver gives or takes memory. Within
 * that plateau the book may be opened anywhere; it is opened where blocks explain the most.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_LEDGER_PLATEAU_H
#define ML_ANALYZE_LEDGER_PLATEAU_H

#include <stdbool.h>
#include <stdint.h>

/* A sample, and the facts about other processes at its time. */
struct ml_ledger_sample {
    uint64_t event; /* its number, from 1; 0: none */
    uint64_t time_ns;
    uint64_t bits; /* enum ml_sample_bits; 0: only a position among the events */
    uint64_t used, free, total;
    bool has_others;
    uint64_t others;
    uint32_t left_first, left_count; /* processes without memory: see ledger_leaving.h */
};

struct ml_ledger_moment {
    uint64_t event; /* the last one before the book */
    uint64_t time_ns;
};

struct ml_ledger_plateau {
    struct ml_ledger_sample sample; /* at its start */
    bool open;                      /* the figure is still valid */
    uint64_t most_bytes;            /* of blocks, */
    struct ml_ledger_moment most;   /* and where they were first reached */
    struct ml_ledger_moment last;   /* for a plateau that has ended */
};

/* @block_bytes  of blocks on the device at the sample */
void ml_plateau_begin(struct ml_ledger_plateau *plateau, const struct ml_ledger_sample *sample,
                      uint64_t block_bytes);

/* Blocks were reported. Ignored unless the plateau is open. */
void ml_plateau_blocks(struct ml_ledger_plateau *plateau, uint64_t block_bytes,
                       struct ml_ledger_moment now);

/* `last` is the last moment at which the figure was valid. */
void ml_plateau_end(struct ml_ledger_plateau *plateau, struct ml_ledger_moment last);

#endif
