/* live_totals.h: the totals: gauges that rise and fall with each block. Inline, since this runs
 * for every event; only the live table includes it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_LIVE_TOTALS_H
#define ML_ANALYZE_LIVE_TOTALS_H

#include "replay.h"
#include "sampled.h"

static ML_ALWAYS_INLINE void ml_gauge_add(struct ml_gauge *g, uint64_t bytes, uint64_t time_ns)
{
    g->live_bytes += bytes;
    if (g->live_bytes > g->peak_bytes) {
        g->peak_bytes = g->live_bytes;
        g->peak_time_ns = time_ns;
    }
}

/* Updates the peak of the category that changed last. */
static ML_ALWAYS_INLINE void ml_settle(struct ml_replay *r)
{
    ml_gauge_add(&r->categories[r->unsettled].bytes, 0, r->unsettled_ns);
}

/* Sets the recent peak to the current total. */
static ML_ALWAYS_INLINE void ml_crest_take(struct ml_replay *r, uint64_t time_ns)
{
    r->recent_peak.bytes = r->bytes.live_bytes;
    r->recent_peak.time_ns = time_ns;
    r->recent_peak.event = r->events;
    if (ML_UNLIKELY(r->recent_peak.by_category))
        for (size_t i = 0; i < ML_CATEGORIES; i++)
            r->recent_peak.categories[i] = r->categories[i].bytes.live_bytes;
}

/* Adds bytes to the device's counted spaces. */
static ML_ALWAYS_INLINE void ml_device_add(struct ml_replay_device *device, uint64_t bytes,
                                           uint64_t time_ns)
{
    device->bytes.live_bytes += bytes;
    if (device->bytes.live_bytes <= device->crest_bytes)
        return;
    device->crest_bytes = device->bytes.live_bytes;
    ml_gauge_add(&device->bytes, 0, time_ns);
}

/* Adds bytes of a block to the totals that include the space. */
static ML_ALWAYS_INLINE void ml_totals_add(struct ml_replay *r, const struct ml_replay_space *s,
                                           const struct ml_block *block, uint64_t bytes,
                                           uint64_t time_ns)
{
    struct ml_replay_device *device = &r->devices.items[s->device];

    ml_gauge_add(&device->levels[s->level], bytes, time_ns);
    if (!s->counted)
        return;
    ml_device_add(device, bytes, time_ns);
    ml_gauge_add(&r->processes.items[s->process].bytes, bytes, time_ns);
    ml_settle(r);
    r->categories[block->category].bytes.live_bytes += bytes;
    r->unsettled = block->category;
    r->unsettled_ns = time_ns;
    r->bytes.live_bytes += bytes;
    if (ML_UNLIKELY(r->on_bytes))
        r->on_bytes(r->ctx, block, bytes);
    if (r->bytes.live_bytes <= r->recent_peak.bytes)
        return;
    ml_crest_take(r, time_ns);
    if (r->bytes.live_bytes > r->bytes.peak_bytes) {
        r->bytes.peak_bytes = r->bytes.live_bytes;
        r->bytes.peak_time_ns = time_ns;
        r->peak_event = r->events;
        r->peak_variance = r->live_variance;
    }
}

/* Removes bytes from them. */
static ML_ALWAYS_INLINE void ml_totals_remove(struct ml_replay *r, const struct ml_replay_space *s,
                                              const struct ml_block *block, uint64_t bytes)
{
    struct ml_replay_device *device = &r->devices.items[s->device];

    device->levels[s->level].live_bytes -= bytes;
    if (!s->counted)
        return;
    device->bytes.live_bytes -= bytes;
    r->processes.items[s->process].bytes.live_bytes -= bytes;
    ml_settle(r);
    r->categories[block->category].bytes.live_bytes -= bytes;
    r->bytes.live_bytes -= bytes;
    if (ML_UNLIKELY(r->on_bytes))
        r->on_bytes(r->ctx, block, -bytes);
}

/* Books a free of a sample. @return the number of blocks that it stands for */
uint64_t ml_sampled_out(struct ml_replay *r, struct ml_replay_space *s, uint64_t bytes);

/* The same for a block that was not freed after all: the number to take back. */
uint64_t ml_sampled_back(struct ml_replay_space *s, uint64_t bytes);

/* Books a live sample, and an allocation of one. @return as above */
void ml_sampled_in(struct ml_replay *r, struct ml_replay_space *s, uint64_t bytes);
uint64_t ml_sampled_made(struct ml_replay *r, struct ml_replay_space *s, uint64_t bytes);

/* Books a free. */
static ML_ALWAYS_INLINE void ml_book_out(struct ml_replay *r, struct ml_replay_space *s,
                                         struct ml_block *b)
{
    uint64_t blocks = 1;

    b->live = false;
    s->bytes.live_bytes -= b->size;
    if (ML_UNLIKELY(s->sampled_bytes))
        blocks = ml_sampled_out(r, s, b->size);
    else
        s->live_blocks--;
    s->frees += blocks;
    ml_totals_remove(r, s, b, b->size);
    if (s->counted)
        r->categories[b->category].frees += blocks;
}

/* Books a live block. The caller counts the allocation. */
static ML_ALWAYS_INLINE void ml_book_in(struct ml_replay *r, struct ml_replay_space *s,
                                        struct ml_block *b, uint64_t time_ns)
{
    b->live = true;
    ml_gauge_add(&s->bytes, b->size, time_ns);
    if (ML_UNLIKELY(s->sampled_bytes))
        ml_sampled_in(r, s, b->size);
    else
        s->live_blocks++;
    ml_totals_add(r, s, b, b->size, time_ns);
}

/* The bytes that the block spans, including those of blocks cut from it. */
static inline uint64_t ml_span_of(const struct ml_replay *r, uint32_t block)
{
    uint64_t cut = 0;

    if (ML_UNLIKELY(ml_map_len(&r->cut_bytes) > 0))
        ml_map_get(&r->cut_bytes, block, &cut);
    return r->blocks.items[block].size + cut;
}

#endif
