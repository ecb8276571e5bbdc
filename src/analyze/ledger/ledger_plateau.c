/* ledger_plateau.c: see ledger_plateau.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ledger_plateau.h"

void ml_plateau_begin(struct ml_ledger_plateau *plateau, const struct ml_ledger_sample *sample,
                      uint64_t block_bytes)
{
    struct ml_ledger_moment here = {sample->event, sample->time_ns};

    *plateau = (struct ml_ledger_plateau){
        .sample = *sample, .open = true, .most_bytes = block_bytes, .most = here, .last = here};
}

void ml_plateau_blocks(struct ml_ledger_plateau *plateau, uint64_t block_bytes,
                       struct ml_ledger_moment now)
{
    if (!plateau->open || block_bytes <= plateau->most_bytes)
        return;
    plateau->most_bytes = block_bytes;
    plateau->most = now;
}

void ml_plateau_end(struct ml_ledger_plateau *plateau, struct ml_ledger_moment last)
{
    if (!plateau->open)
        return;
    plateau->open = false;
    plateau->last = last;
}
