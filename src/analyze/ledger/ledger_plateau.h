/* ledger_plateau.h: how long the figure of a sample holds, and at which moment of
 * that time the book is opened. Only the ledger includes it.
 *
 * A program reports a block right after the driver's call that made room for it,
 * and so after the sample that goes with that call. The figure is the same until
 * the driver gives or takes something: within that plateau the book may be opened
 * anywhere, and is opened where it says most.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_LEDGER_PLATEAU_H
#define ML_ANALYZE_LEDGER_PLATEAU_H

#include <stdbool.h>
#include <stdint.h>

/* A sample, with what was known of other processes then. */
struct ml_ledger_sample {
    uint64_t event; /* its number, from 1; 0: there is none */
    uint64_t time_ns;
    uint64_t bits; /* enum ml_sample_bits; 0: only a place among the events */
    uint64_t used, free, total;
    bool has_others;
    uint64_t others;
    uint32_t left_first, left_count; /* who has nothing left: see ledger_leaving.h */
};

struct ml_ledger_moment {
    uint64_t event; /* the last one before the book is opened */
    uint64_t time_ns;
};

struct ml_ledger_plateau {
    struct ml_ledger_sample sample; /* that it begins with */
    bool open;                      /* the figure still holds */
    uint64_t most_bytes;            /* of blocks, */
    struct ml_ledger_moment most;   /* and where there were first so many */
    struct ml_ledger_moment last;   /* of a plateau that has ended */
};

/* @block_bytes  in blocks on the device at the sample */
void ml_plateau_begin(struct ml_ledger_plateau *plateau, const struct ml_ledger_sample *sample,
                      uint64_t block_bytes);

/* Blocks were reported, as long as it is open. */
void ml_plateau_blocks(struct ml_ledger_plateau *plateau, uint64_t block_bytes,
                       struct ml_ledger_moment now);

/* `last` is where the figure held for the last time. */
void ml_plateau_end(struct ml_ledger_plateau *plateau, struct ml_ledger_moment last);

#endif
