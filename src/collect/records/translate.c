/* translate.c: what each ring record means in the trace.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "translate.h"

#include "helpers.h"
#include "losses.h"
#include "profile_requests.h"
#include "record_words.h"
#include "sampled.h"
#include "source_labels.h"
#include "source_scopes.h"
#include "source_stacks.h"
#include "target_definitions.h"
#include "target_stacks.h"
#include "varint.h"

/* The longest record: a string, and one more word for a space, which a string does not use. */
#define RECORD_WORDS (ML_RECORD_MAX_WORDS + 1)

/* The object's number in the trace as an event's first argument. */
static bool object_arg(const struct ml_target *t, uint64_t number, struct ml_event *ev)
{
    if (number >= t->objects.len || !t->objects.items[number])
        return false;
    ev->args[0] = t->objects.items[number] - 1;
    return true;
}

static bool counter(struct ml_source *s, bool adjust, struct ml_event *ev)
{
    uint64_t number = ml_word(s, 1);
    int64_t *value;

    if (!object_arg(s->target, number, ev))
        return false;
    value = &s->target->counters.items[number];
    *value = (int64_t)((adjust ? (uint64_t)*value : 0) + ml_word(s, 2));
    ev->kind = ML_COUNTER;
    ev->args[1] = ml_zigzag(*value);
    return true;
}

static void marker(struct ml_source *s, struct ml_event *ev)
{
    const struct ml_target *t = s->target;
    uint32_t domain = ml_high(ml_word(s, 1));

    ev->args[0] = domain < t->objects.len ? t->objects.items[domain] : 0;
    ev->args[1] = ml_target_string(t, ml_low(ml_word(s, 1)));
    ev->args[2] = ml_target_string(t, (uint32_t)ml_word(s, 2));
}

static void alloc_stack(struct ml_source *s, struct ml_event *ev)
{
    ev->kind = ML_ALLOC;
    ev->addr = ml_word(s, 1);
    ev->size = ml_word(s, 2);
    ev->stack = ml_source_stack(s, ml_word(s, 3));
}

/* A target may not decide whose memory the last value counts. A sample that the
 * collector took has the process in the bits already, and no thread: it gets the last one,
 * which costs no byte in the file. */
static void sample(struct ml_stage *stage, struct ml_source *s, struct ml_event *ev)
{
    const uint64_t known_bits = (1u << ML_SAMPLE_PROCESS_SHIFT) - 1;
    uint64_t pair = ml_word(s, 1);

    ev->args[0] = ml_target_string(s->target, ml_high(pair));
    ev->args[1] = ml_low(pair);
    for (unsigned i = 2; i < ML_EVENT_ARGS; i++)
        ev->args[i] = ml_word(s, i);
    stage->samples++;
    if (s->target->own) {
        ev->thread = stage->writer->encoder->thread;
        ev->scope = stage->writer->encoder->scope;
        if (stage->growth)
            ml_growth_sample(stage->growth, ev);
        return;
    }
    ev->args[1] &= known_bits;
    if (ev->args[1] & ML_SAMPLE_BY_PROCESS)
        ev->args[1] |= (uint64_t)(1 + s->target->process) << ML_SAMPLE_PROCESS_SHIFT;
}

/* Kinds other than plain allocations and frees. Returns whether there is an
 * event to write. */
static ML_NOINLINE bool take_rare(struct ml_stage *stage, struct ml_source *s, unsigned kind,
                                  struct ml_event *ev)
{
    bool moved;

    switch (kind) {
    case ML_FREE_RANGE:
        ev->addr = ml_word(s, 1);
        ev->size = ml_word(s, 2);
        return true;
    case ML_ALLOC_EX:
        ev->addr = ml_word(s, 1);
        ev->size = ml_word(s, 2);
        ev->args[0] = ml_word(s, 3);
        ev->args[1] = ml_word(s, 4);
        return true;
    case ML_LABEL:
        ev->addr = ml_word(s, 1);
        ev->args[0] = ml_target_string(s->target, ml_low(ml_word(s, 2)));
        ev->args[1] = ml_high(ml_word(s, 2));
        return true;
    case ML_PUSH:
        moved = ml_source_push(stage->dict, s);
        ev->scope = s->place.scope;
        ev->args[0] = s->place.operators;
        if (ml_high(ml_word(s, 1)) & ML_PUSH_IMPERATIVE)
            ev->args[0] |= ML_OPERATOR_IMPERATIVE;
        return moved;
    case ML_POP: return ml_source_pop(stage->dict, s, &ev->scope);
    case ML_MARK:
        ev->args[0] = ml_word(s, 1);
        ev->args[1] = ml_word(s, 2);
        ev->args[2] = ml_target_string(s->target, (uint32_t)ml_word(s, 3));
        return true;
    case ML_OOM:
        ev->size = ml_word(s, 1);
        ev->stack = ml_source_stack(s, ml_word(s, 2));
        if (!ev->stack)
            ev->stack = s->place.stack;
        stage->refusals++;
        return true;
    case ML_SAMPLE: sample(stage, s, ev); return true;
    case ML_START:
    case ML_STOP: return object_arg(s->target, ml_word(s, 1), ev);
    case ML_MARKER: marker(s, ev); return true;
    case ML_REC_ALLOC_STACK: alloc_stack(s, ev); return true;
    case ML_REC_ALLOC_APART:
        ev->kind = ML_ALLOC;
        ev->addr = ml_word(s, 1);
        ev->size = ml_word(s, 2);
        ev->scope = 0;
        return true;
    case ML_REC_COUNTER_SET:
    case ML_REC_COUNTER_ADJUST: return counter(s, kind == ML_REC_COUNTER_ADJUST, ev);
    case ML_REC_STRING: ml_target_take_string(stage, s); return false;
    case ML_REC_SPACE: ml_target_take_space(s); return false;
    case ML_REC_OBJECT: ml_target_take_object(stage, s); return false;
    case ML_REC_LIBRARY: ml_target_take_library(stage->dict, s); return false;
    case ML_REC_STACK: ml_target_take_stack(stage->dict, s); return false;
    case ML_REC_RING_STACK: ml_source_take_stack(stage->dict, s); return false;
    case ML_REC_PYTHON_FRAME: ml_target_take_python_frame(stage->dict, s); return false;
    case ML_REC_PYTHON_STACK: ml_target_take_python_stack(stage->dict, s); return false;
    case ML_REC_TAPE: ml_source_take_tape(s); return false;
    case ML_REC_FUNCTION: ml_source_enter_function(stage->dict, s); return false;
    case ML_REC_PUSH_TAPE: ml_source_push_tape(stage->dict, s); return false;
    case ML_REC_WORK: ml_source_hand_work(s); return false;
    case ML_REC_MOVE_WORK: ml_source_move_work(s); return false;
    case ML_REC_PUSH_WORK:
        moved = ml_source_push_work(stage->dict, s);
        ev->kind = ML_PUSH;
        ev->scope = s->place.scope;
        ev->args[0] = s->place.operators;
        return moved;
    case ML_REC_EXPECT: ml_source_expect(s); return false;
    case ML_REC_EXPECT_OUTPUT: ml_source_expect_output(s); return false;
    case ML_REC_LABEL_EXPECTED: return ml_source_label_expected(stage->dict, s, ev);
    case ML_REC_CONFIG: ml_profile_take_config(stage, s); return false;
    case ML_REC_STATE: ml_profile_take_state(stage, s, ev->time_ns); return false;
    case ML_REC_REQUEST: ml_profile_take_request(stage, s); return false;
    case ML_REC_FILE: ml_profile_take_file(stage, s); return false;
    case ML_REC_HELPS: s->helps = true; return false;
    default: return false;
    }
}

/* The first event since a node of a tape began. */
static ML_NOINLINE void emit_node_mark(struct ml_stage *stage, struct ml_source *s,
                                       const struct ml_event *next)
{
    struct ml_event ev = {.kind = ML_MARK,
                          .time_ns = next->time_ns,
                          .thread = next->thread,
                          .space = stage->writer->encoder->space,
                          .scope = next->scope,
                          .args = {ML_MARK_NODE}};

    s->node_begun = false;
    if (s->node == s->last_node) {
        stage->own_events++;
        ml_stage_emit(stage, s->target, &ev);
    }
    s->last_node = s->node;
}

/* Each word of the ring once. */
static void copy_record(struct ml_source *s, uint64_t *record)
{
    record[0] = s->first;
    for (uint32_t i = 1; i < s->words; i++)
        record[i] = ml_ring_word(s, i);
    if (ml_has_own_length(s->first & 0xff))
        record[1] = s->second;
    s->record = record;
}

/* A sampled block: its size in the trace is what it stands for. */
static void weigh(struct ml_event *ev, uint64_t mean)
{
    ev->kind = ML_ALLOC_EX;
    ev->args[0] = ev->size;
    ev->args[1] = 0;
    ev->size = ml_sample_estimate(ev->size, mean);
}

static void take_copy(struct ml_stage *stage, struct ml_source *s)
{
    unsigned kind = s->first & 0xff;
    uint32_t space = ml_space_in(s);
    struct ml_target *t = s->target;
    struct ml_event ev = {
        .kind = (uint8_t)kind,
        .time_ns = ml_ticks_ns(stage->ticks, s->ticks),
        .thread = s->thread,
        .scope = s->place.scope,
        .space = stage->writer->encoder->space,
    };

    if (ML_LIKELY(space)) {
        if (ML_UNLIKELY(!ml_target_know_space(stage, t, space))) {
            ml_stage_emit_lost(stage, s->thread, 1,
                               space > ML_SPACE_MAX ? ML_LOST_DAMAGED : ML_LOST_NOT_WRITTEN);
            s->tail += s->words;
            return;
        }
        ev.space = t->spaces.items[space].id - 1;
    }
    if (ML_LIKELY(kind == ML_ALLOC)) {
        ev.addr = ml_word(s, 1);
        ev.size = ml_word(s, 2);
        ev.stack = s->place.stack;
    } else if (ML_LIKELY(kind == ML_FREE || kind == ML_MOVE || kind == ML_MOVE_FAILED)) {
        ev.addr = ml_word(s, 1);
    } else if (!take_rare(stage, s, kind, &ev)) {
        s->tail += s->words;
        ml_trace_writer_relieve(stage->writer);
        return;
    }
    if (ML_UNLIKELY(space && ev.kind == ML_ALLOC && t->spaces.items[space].sampled))
        weigh(&ev, t->spaces.items[space].sampled);
    s->tail += s->words;
    if (ML_UNLIKELY(s->helps && kind != ML_REC_ALLOC_APART))
        ml_source_help(s, &ev);
    if (ML_UNLIKELY(s->node_begun && kind != ML_REC_ALLOC_APART))
        emit_node_mark(stage, s, &ev);
    ml_stage_emit(stage, t, &ev);
}

void ml_source_take(struct ml_stage *stage, struct ml_source *s)
{
    uint64_t record[RECORD_WORDS];

    copy_record(s, record);
    take_copy(stage, s);
    s->record = NULL;
}

static bool is_alloc_or_free(unsigned kind)
{
    return kind == ML_ALLOC || kind == ML_FREE || kind == ML_REC_ALLOC_STACK;
}

/* Whether a run can begin with this plain record. The first event
 * of a block, and events that a profile wants, take the slow path. */
static bool begins_run(const struct ml_stage *stage, const struct ml_source *s)
{
    const struct ml_encoder *e = stage->writer->encoder;
    const struct ml_target *t = s->target;
    uint32_t space = s->first >> 8 & 0xff;

    return is_alloc_or_free(s->first & 0xff) && !s->node_begun && !s->helps && !s->place.stack &&
           space < ML_SPACE_WIDE && space < t->spaces.len && t->spaces.items[space].id &&
           !t->spaces.items[space].sampled && e->events && e->events < ML_BLOCK_MAX_EVENTS &&
           !(t->profile && ml_profile_active(t->profile));
}

uint32_t ml_source_take_plain(struct ml_stage *stage, struct ml_source *source, uint64_t limit)
{
    struct ml_encoder *e = stage->writer->encoder;
    uint64_t *counts = stage->writer->counts.events;
    struct ml_encoder_run run;
    uint32_t before = e->events;
    uint32_t allocs;

    if (!begins_run(stage, source))
        return 0;
    /* Copies: after stores to the columns the compiler would read the originals
     * again for every record. */
    const struct ml_ticks ticks = *stage->ticks;
    struct ml_source s = *source;
    uint32_t space = s.first >> 8 & 0xff;
    /* Not all at once: the target waits for the words read to be returned. */
    uint64_t end = ml_min_u64(s.end, s.tail + s.mask / 8);

    ml_encoder_run_begin(&run, e, s.thread, s.target->spaces.items[space].id - 1, s.place.scope);
    while (run.events < ML_BLOCK_MAX_EVENTS && s.tail + 4 <= end) {
        uint64_t first = ml_ring_word(&s, 0);
        uint64_t stamp = ml_ticks_unwrap(&ticks, first >> ML_TIME_SHIFT);
        uint64_t time_ns = ml_max_u64(ml_ticks_ns(&ticks, stamp), run.last_ns);
        unsigned kind = first & 0xff;
        uint32_t is_alloc = kind != ML_FREE, has_stack = kind == ML_REC_ALLOC_STACK;
        uint64_t size = ml_ring_word(&s, 2); /* the next record's, after a free: not used */

        if (!is_alloc_or_free(kind) || (first >> 8 & 0xff) != space || stamp >= limit ||
            !ml_encoder_run_fits(&run, time_ns, is_alloc ? size : 0))
            break;
        ml_encoder_run_put(&run, is_alloc ? ML_ALLOC : ML_FREE, time_ns, ml_ring_word(&s, 1),
                           is_alloc, size,
                           has_stack ? ml_source_stack(&s, ml_ring_word(&s, 3)) : 0);
        s.tail += 2 + is_alloc + has_stack;
    }
    allocs = run.sizes - e->sizes;
    counts[ML_ALLOC] += allocs;
    counts[ML_FREE] += run.events - before - allocs;
    ml_encoder_run_end(&run);
    source->tail = s.tail;
    return run.events - before;
}
