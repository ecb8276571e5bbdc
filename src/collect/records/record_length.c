/* record_length.c: see record_length.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "record_length.h"

#include "losses.h"
#include "record_words.h"

/* Words of each record, 0 for unknown ones. A string's length depends on
 * its text, a stack's on its frames. */
static const uint8_t record_words[ML_REC_KINDS] = {
    [ML_ALLOC] = 3,
    [ML_FREE] = 2,
    [ML_FREE_RANGE] = 3,
    [ML_ALLOC_EX] = 5,
    [ML_MOVE] = 2,
    [ML_MOVE_FAILED] = 2,
    [ML_LABEL] = 3,
    [ML_PUSH] = 2,
    [ML_POP] = 1,
    [ML_MARK] = 4,
    [ML_SAMPLE] = 6,
    [ML_START] = 2,
    [ML_STOP] = 2,
    [ML_MARKER] = 3,
    [ML_OOM] = 3,
    [ML_REC_STRING] = 2,
    [ML_REC_SPACE] = 3,
    [ML_REC_OBJECT] = 3,
    [ML_REC_COUNTER_SET] = 3,
    [ML_REC_COUNTER_ADJUST] = 3,
    [ML_REC_CONFIG] = 2,
    [ML_REC_STATE] = 2,
    [ML_REC_REQUEST] = 3,
    [ML_REC_LIBRARY] = 5,
    [ML_REC_STACK] = 2,
    [ML_REC_RING_STACK] = 2,
    [ML_REC_ALLOC_STACK] = 4,
    [ML_REC_TAPE] = 4,
    [ML_REC_PUSH_TAPE] = 4,
    [ML_REC_FUNCTION] = 2,
    [ML_REC_PYTHON_FRAME] = 3,
    [ML_REC_PYTHON_STACK] = 2,
    [ML_REC_WORK] = 3,
    [ML_REC_MOVE_WORK] = 3,
    [ML_REC_PUSH_WORK] = 3,
    [ML_REC_EXPECT] = 3,
    [ML_REC_EXPECT_OUTPUT] = 3,
    [ML_REC_LABEL_EXPECTED] = 5,
    [ML_REC_FILE] = 3,
    [ML_REC_HELPS] = 1,
    [ML_REC_ALLOC_APART] = 3,
};

/* The number of bytes or frames in a record of variable length. */
static uint32_t count_in(struct ml_source *s)
{
    s->second = ml_ring_word(s, 1);
    return ml_low(s->second);
}

static uint32_t length_of(struct ml_source *s, unsigned kind)
{
    uint32_t words = kind < ML_REC_KINDS ? record_words[kind] : 0;

    if (ML_UNLIKELY((s->first >> 8 & 0xff) == ML_SPACE_WIDE && words))
        words++;
    if (ML_UNLIKELY(kind == ML_REC_STRING)) {
        uint32_t bytes = count_in(s);
        return bytes > ML_NAME_MAX_BYTES ? 0 : words + (bytes + 7) / 8;
    }
    if (ML_UNLIKELY(kind == ML_REC_STACK || kind == ML_REC_RING_STACK)) {
        uint32_t frames = count_in(s);
        return frames > ML_STACK_MAX_FRAMES ? 0 : words + frames;
    }
    if (ML_UNLIKELY(kind == ML_REC_PYTHON_STACK)) {
        uint32_t frames = count_in(s);
        return frames > ML_STACK_MAX_FRAMES ? 0 : words + (frames + 1) / 2;
    }
    return words;
}

bool ml_source_peek(struct ml_stage *stage, struct ml_source *s)
{
    if (s->tail == s->end)
        return false;
    s->first = ml_ring_word(s, 0);
    s->words = length_of(s, s->first & 0xff);
    s->ticks = ml_ticks_unwrap(stage->ticks, s->first >> ML_TIME_SHIFT);
    if (ML_LIKELY(s->words && s->words <= s->end - s->tail))
        return true;
    ml_source_skip(stage, s);
    return false;
}

uint64_t ml_source_last_ticks(const struct ml_stage *stage, const struct ml_source *s)
{
    struct ml_source at = *s;
    uint64_t last = 0;

    at.end = atomic_load_explicit(&s->ring->head, memory_order_acquire);
    if (at.end - at.tail > at.mask + 1)
        return 0;
    while (at.tail != at.end) {
        at.first = ml_ring_word(&at, 0);
        at.words = length_of(&at, at.first & 0xff);
        if (!at.words || at.words > at.end - at.tail)
            break;
        last = ml_ticks_unwrap(stage->ticks, at.first >> ML_TIME_SHIFT);
        at.tail += at.words;
    }
    return last;
}

/* The target sees the room at once: it may be waiting for it. */
void ml_source_skip(struct ml_stage *stage, struct ml_source *s)
{
    ml_stage_emit_lost(stage, s->thread, 1, ML_LOST_DAMAGED);
    s->tail = s->end;
    atomic_store_explicit(&s->ring->tail, s->tail, memory_order_release);
}
