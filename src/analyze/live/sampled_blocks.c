/* sampled_blocks.c: the numbers of blocks that samples stand for, in the totals of the live table.
 *
 * A sample stands for a number of blocks that is not whole. The fraction is carried to the next, so
 * that sums are right, and live blocks are none again when all samples have been freed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include "live_totals.h"
#include "sampled.h"

void ml_sampled_in(struct ml_replay *r, struct ml_replay_space *s, uint64_t bytes)
{
    s->live_blocks += ml_sample_count(&s->live_parts, bytes, s->sampled_bytes);
    if (s->counted)
        r->live_variance += ml_sample_variance(bytes, s->sampled_bytes);
}

uint64_t ml_sampled_made(struct ml_replay *r, struct ml_replay_space *s, uint64_t bytes)
{
    if (s->counted) {
        r->allocated_variance += ml_sample_variance(bytes, s->sampled_bytes);
        r->allocations_variance += ml_sample_count_variance(bytes, s->sampled_bytes);
        r->largest_weight = fmax(r->largest_weight, ml_sample_weight(bytes, s->sampled_bytes));
    }
    return ml_sample_count(&s->allocation_parts, bytes, s->sampled_bytes);
}

/* A replay that began at a checkpoint lacks the parts from before: no number falls below 0. */
uint64_t ml_sampled_out(struct ml_replay *r, struct ml_replay_space *s, uint64_t bytes)
{
    uint64_t less = ml_sample_parts(bytes, s->sampled_bytes);
    uint64_t live = s->live_blocks * ML_SAMPLE_PARTS + s->live_parts;

    live -= ml_min_u64(less, live);
    s->live_blocks = live / ML_SAMPLE_PARTS;
    s->live_parts = (uint32_t)(live % ML_SAMPLE_PARTS);
    if (s->counted)
        r->live_variance -= ml_sample_variance(bytes, s->sampled_bytes);
    return ml_sample_count(&s->free_parts, bytes, s->sampled_bytes);
}

/* ml_book_in adds to the live ones. */
uint64_t ml_sampled_back(struct ml_replay_space *s, uint64_t bytes)
{
    uint64_t less = ml_sample_parts(bytes, s->sampled_bytes);
    uint64_t whole = less / ML_SAMPLE_PARTS;
    uint32_t parts = (uint32_t)(less % ML_SAMPLE_PARTS);

    if (s->free_parts < parts) {
        s->free_parts += ML_SAMPLE_PARTS;
        whole++;
    }
    s->free_parts -= parts;
    return whole;
}
