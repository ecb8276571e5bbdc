/* translate.c: what each ring record means in the trace.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "translate.h"

#include <string.h>

#include "memledger/memledger.h"
#include "profile_requests.h"
#include "record_words.h"
#include "source_labels.h"
#include "source_scopes.h"
#include "target_stacks.h"
#include "varint.h"

/* The longest record: a string, and one more word for a space, which a string does not use. */
#define RECORD_WORDS (ML_RECORD_MAX_WORDS + 1)
#define OBJECTS_MAX (1u << 20)

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
    [ML_REC_ALLOC_STACK] = 4,
    [ML_REC_TAPE] = 4,
    [ML_REC_PUSH_TAPE] = 4,
    [ML_REC_PYTHON_FRAME] = 3,
    [ML_REC_PYTHON_STACK] = 2,
    [ML_REC_WORK] = 3,
    [ML_REC_MOVE_WORK] = 3,
    [ML_REC_PUSH_WORK] = 3,
    [ML_REC_EXPECT] = 3,
    [ML_REC_EXPECT_OUTPUT] = 3,
    [ML_REC_LABEL_EXPECTED] = 5,
    [ML_REC_FILE] = 3,
};

static inline void emit(struct ml_stage *stage, struct ml_target *t, const struct ml_event *ev)
{
    ml_trace_writer_event(stage->writer, ev);
    if (ML_UNLIKELY(t->profile && ml_profile_active(t->profile)))
        ml_profile_event(t->profile, ev);
}

/* ---- Losses and ends ---------------------------------------------------- */

static void emit_lost(struct ml_stage *stage, uint32_t thread, uint64_t count,
                      enum ml_lost_reason reason)
{
    struct ml_event ev = {.kind = ML_LOST,
                          .time_ns = stage->ticks->ns,
                          .thread = thread,
                          .args = {count, stage->ticks->old_ns, reason}};

    stage->lost += ml_lost_is_events(reason) ? count : 0;
    stage->names_folded += reason == ML_LOST_NAMES_FOLDED ? count : 0;
    stage->spaces_refused += reason == ML_LOST_SPACES ? count : 0;
    stage->own_events++;
    ml_trace_writer_event(stage->writer, &ev);
}

void ml_stage_note_lost(struct ml_stage *stage, uint64_t count)
{
    if (count)
        emit_lost(stage, 0, count, ML_LOST_RING_FULL);
}

void ml_stage_note_unkept(struct ml_stage *stage)
{
    uint64_t unkept = stage->dict->unkept - stage->unkept_seen;

    if (unkept)
        emit_lost(stage, 0, unkept, ML_LOST_NAMES_FOLDED);
    stage->unkept_seen += unkept;
}

/* The end of any of these may have been lost. */
static void forget_what_waits(struct ml_source *s)
{
    ml_works_forget_all(&s->target->works);
    ml_expected_forget_all(&s->target->expected);
    s->outputs.count = 0;
}

void ml_source_note_lost(struct ml_stage *stage, struct ml_source *s)
{
    uint64_t lost = atomic_load_explicit(&s->ring->lost, memory_order_relaxed);

    if (lost <= s->lost_seen)
        return;
    emit_lost(stage, s->thread, lost - s->lost_seen, ML_LOST_RING_FULL);
    forget_what_waits(s);
    s->lost_seen = lost;
}

/* The increase of one of the target's counters. */
static void note_counter(struct ml_stage *stage, _Atomic uint64_t *counter, uint64_t *seen,
                         enum ml_lost_reason reason)
{
    uint64_t lost = atomic_load_explicit(counter, memory_order_relaxed);

    if (lost <= *seen)
        return;
    emit_lost(stage, 0, lost - *seen, reason);
    *seen = lost;
}

void ml_target_note_lost(struct ml_stage *stage, struct ml_target *t)
{
    for (size_t i = 0; i < t->sets.len; i++) {
        struct ml_target_set *set = &t->sets.items[i];
        note_counter(stage, &set->shared->lost, &set->lost_seen, ML_LOST_RING_FULL);
        note_counter(stage, &set->shared->not_followed, &set->not_followed_seen,
                     ML_LOST_NOT_FOLLOWED);
        note_counter(stage, &set->shared->names_folded, &set->names_folded_seen,
                     ML_LOST_NAMES_FOLDED);
        note_counter(stage, &set->shared->spaces_refused, &set->spaces_refused_seen,
                     ML_LOST_SPACES);
        note_counter(stage, &set->shared->details_lost, &set->details_lost_seen, ML_LOST_DETAILS);
    }
    if (t->works.dropped + t->expected.dropped)
        emit_lost(stage, 0, t->works.dropped + t->expected.dropped, ML_LOST_DETAILS);
    t->works.dropped = t->expected.dropped = 0;
}

void ml_target_note_end(struct ml_stage *stage, struct ml_target *t, uint64_t status)
{
    struct ml_event ev = {
        .kind = ML_PROCESS_END, .time_ns = t->end_ns, .args = {t->process, status}};

    stage->own_events++;
    emit(stage, t, &ev);
}

/* ---- Threads ------------------------------------------------------------ */

void ml_source_open(struct ml_stage *stage, struct ml_source *s)
{
    uint64_t fields[ML_DEF_FIELDS] = {
        [ML_THREAD_PROCESS] = s->target->process,
        [ML_THREAD_TID] = __atomic_load_n(&s->ring->tid, __ATOMIC_RELAXED),
        [ML_THREAD_START_NS] = stage->ticks->ns,
    };
    char name[sizeof(s->ring->name)]; /* the target may change the shared one */

    for (size_t i = 0; i < sizeof(name); i++)
        name[i] = __atomic_load_n(&s->ring->name[i], __ATOMIC_RELAXED);
    fields[ML_THREAD_NAME] = ml_dict_string(stage->dict, name, strnlen(name, sizeof(name)));
    s->thread = ml_dict_add(stage->dict, ML_DEF_THREAD, fields);
    ml_source_leave_scopes(s);
    s->open = true;
    s->times_named = 0;
    ml_source_note_name(stage, s);
}

void ml_source_note_name(struct ml_stage *stage, struct ml_source *s)
{
    char name[sizeof(s->ring->given.text)];

    if (ml_given_name_get(&s->ring->given, &s->times_named, name))
        ml_dict_thread_name(stage->dict, s->thread, name);
}

void ml_source_close(struct ml_stage *stage, struct ml_source *s)
{
    /* It has no time: the writer uses that of the last event. */
    struct ml_event ev = {.kind = ML_THREAD_END, .thread = s->thread};

    ml_source_note_lost(stage, s);
    ml_source_note_name(stage, s);
    stage->own_events++;
    emit(stage, s->target, &ev);
    s->open = false;
}

/* ---- Reading a record --------------------------------------------------- */

/* The number of bytes or frames in a record of variable length. */
static uint32_t count_in(struct ml_source *s)
{
    s->second = ml_ring_word(s, 1);
    return ml_low(s->second);
}

static bool has_own_length(unsigned kind)
{
    return kind == ML_REC_STRING || kind == ML_REC_STACK || kind == ML_REC_PYTHON_STACK;
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
    if (ML_UNLIKELY(kind == ML_REC_STACK)) {
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
    s->ticks = ml_ticks_unwrap(stage->ticks, s->first >> 16);
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
        last = ml_ticks_unwrap(stage->ticks, at.first >> 16);
        at.tail += at.words;
    }
    return last;
}

/* The target sees the room at once: it may be waiting for it. */
void ml_source_skip(struct ml_stage *stage, struct ml_source *s)
{
    emit_lost(stage, s->thread, 1, ML_LOST_DAMAGED);
    s->tail = s->end;
    atomic_store_explicit(&s->ring->tail, s->tail, memory_order_release);
}

/* ---- Definitions -------------------------------------------------------- */

static void take_string(struct ml_stage *stage, struct ml_source *s)
{
    uint32_t number = ml_high(ml_word(s, 1));
    size_t len = ml_low(ml_word(s, 1));
    struct ml_target *t = s->target;

    if (ml_table_reach(&t->strings, number, ML_NAMES_MAX))
        t->strings.items[number] = ml_dict_string(stage->dict, (const char *)&s->record[2], len);
}

static void take_space(struct ml_source *s)
{
    struct ml_target *t = s->target;
    uint32_t number = ml_high(ml_word(s, 1));
    uint64_t names = ml_word(s, 2);

    if (!number || !ml_table_reach(&t->spaces, number, ML_SPACE_MAX + 1))
        return;
    t->spaces.items[number].level = ml_low(ml_word(s, 1));
    t->spaces.items[number].device = ml_target_string(t, ml_high(names));
    t->spaces.items[number].name = ml_target_string(t, ml_low(names));
}

/* Defines a space at its first event. A space whose announcement
 * was lost is called unknown. False: it cannot be defined. */
static ML_NOINLINE bool define_space(struct ml_stage *stage, struct ml_target *t, uint32_t number)
{
    uint64_t fields[ML_DEF_FIELDS] = {[ML_SPACE_PROCESS] = t->process};
    uint64_t unkept = stage->dict->unkept;
    struct ml_target_space *s;
    uint32_t id;

    if (!ml_table_reach(&t->spaces, number, ML_SPACE_MAX + 1))
        return false;
    s = &t->spaces.items[number];
    if (!s->level)
        s->device = s->name = ml_dict_cstr(stage->dict, "unknown");
    fields[ML_SPACE_DEVICE] = s->device;
    fields[ML_SPACE_LEVEL] = s->level ? s->level : MEMLEDGER_BLOCK;
    fields[ML_SPACE_NAME] = s->name;
    id = ml_dict_add(stage->dict, ML_DEF_SPACE, fields);
    if (stage->dict->unkept != unkept)
        return false;
    s->id = 1 + id;
    return true;
}

/* Whether the space has a number in the trace by now. */
static inline bool know_space(struct ml_stage *stage, struct ml_target *t, uint32_t number)
{
    return ML_LIKELY(number < t->spaces.len && t->spaces.items[number].id) ||
           define_space(stage, t, number);
}

static void take_object(struct ml_stage *stage, struct ml_source *s)
{
    struct ml_target *t = s->target;
    uint32_t number = ml_high(ml_word(s, 1));
    uint32_t domain = ml_high(ml_word(s, 2));
    uint64_t fields[ML_DEF_FIELDS] = {
        [ML_OBJECT_PROCESS] = t->process,
        [ML_OBJECT_KIND] = ml_low(ml_word(s, 1)),
        [ML_OBJECT_DOMAIN] = domain < t->objects.len ? t->objects.items[domain] : 0,
        [ML_OBJECT_NAME] = ml_target_string(t, ml_low(ml_word(s, 2))),
    };

    if (!number || !ml_table_reach(&t->objects, number, OBJECTS_MAX) ||
        !ml_table_reach(&t->counters, number, OBJECTS_MAX))
        return;
    if (!t->objects.items[number]) /* else it is announced again */
        t->objects.items[number] = 1 + ml_dict_add(stage->dict, ML_DEF_OBJECT, fields);
}

/* ---- Events ------------------------------------------------------------- */

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
    ev->stack = ml_target_stack(s->target, ml_word(s, 3));
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
        return moved;
    case ML_POP: return ml_source_pop(stage->dict, s, &ev->scope);
    case ML_MARK:
        ev->args[0] = ml_word(s, 1);
        ev->args[1] = ml_word(s, 2);
        ev->args[2] = ml_target_string(s->target, (uint32_t)ml_word(s, 3));
        return true;
    case ML_OOM:
        ev->size = ml_word(s, 1);
        ev->stack = ml_target_stack(s->target, ml_word(s, 2));
        if (!ev->stack)
            ev->stack = s->place.stack;
        stage->refusals++;
        return true;
    case ML_SAMPLE: sample(stage, s, ev); return true;
    case ML_START:
    case ML_STOP: return object_arg(s->target, ml_word(s, 1), ev);
    case ML_MARKER: marker(s, ev); return true;
    case ML_REC_ALLOC_STACK: alloc_stack(s, ev); return true;
    case ML_REC_COUNTER_SET:
    case ML_REC_COUNTER_ADJUST: return counter(s, kind == ML_REC_COUNTER_ADJUST, ev);
    case ML_REC_STRING: take_string(stage, s); return false;
    case ML_REC_SPACE: take_space(s); return false;
    case ML_REC_OBJECT: take_object(stage, s); return false;
    case ML_REC_LIBRARY: ml_target_take_library(stage->dict, s); return false;
    case ML_REC_STACK: ml_target_take_stack(stage->dict, s); return false;
    case ML_REC_PYTHON_FRAME: ml_target_take_python_frame(stage->dict, s); return false;
    case ML_REC_PYTHON_STACK: ml_target_take_python_stack(stage->dict, s); return false;
    case ML_REC_TAPE: ml_source_take_tape(s); return false;
    case ML_REC_PUSH_TAPE: ml_source_push_tape(stage->dict, s); return false;
    case ML_REC_WORK: ml_source_hand_work(s); return false;
    case ML_REC_MOVE_WORK: ml_source_move_work(s); return false;
    case ML_REC_PUSH_WORK:
        moved = ml_source_push_work(stage->dict, s);
        ev->kind = ML_PUSH;
        ev->scope = s->place.scope;
        return moved;
    case ML_REC_EXPECT: ml_source_expect(s); return false;
    case ML_REC_EXPECT_OUTPUT: ml_source_expect_output(s); return false;
    case ML_REC_LABEL_EXPECTED: return ml_source_label_expected(stage->dict, s, ev);
    case ML_REC_CONFIG: ml_profile_take_config(stage, s); return false;
    case ML_REC_STATE: ml_profile_take_state(stage, s, ev->time_ns); return false;
    case ML_REC_REQUEST: ml_profile_take_request(stage, s); return false;
    case ML_REC_FILE: ml_profile_take_file(stage, s); return false;
    default: return false;
    }
}

/* The first event since a node of a tape began. */
static ML_NOINLINE void tell_node(struct ml_stage *stage, struct ml_source *s,
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
        emit(stage, s->target, &ev);
    }
    s->last_node = s->node;
}

/* Each word of the ring once. */
static void copy_record(struct ml_source *s, uint64_t *record)
{
    record[0] = s->first;
    for (uint32_t i = 1; i < s->words; i++)
        record[i] = ml_ring_word(s, i);
    if (has_own_length(s->first & 0xff))
        record[1] = s->second;
    s->record = record;
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
        if (ML_UNLIKELY(!know_space(stage, t, space))) {
            emit_lost(stage, s->thread, 1,
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
    s->tail += s->words;
    if (ML_UNLIKELY(s->node_begun))
        tell_node(stage, s, &ev);
    emit(stage, t, &ev);
}

void ml_source_take(struct ml_stage *stage, struct ml_source *s)
{
    uint64_t record[RECORD_WORDS];

    copy_record(s, record);
    take_copy(stage, s);
    s->record = NULL;
}

/* Whether a run can begin with this plain record. The first event
 * of a block, and events that a profile wants, take the slow path. */
static bool begins_run(const struct ml_stage *stage, const struct ml_source *s)
{
    const struct ml_encoder *e = stage->writer->encoder;
    const struct ml_target *t = s->target;
    unsigned kind = s->first & 0xff;
    uint32_t space = s->first >> 8 & 0xff;

    return (kind == ML_ALLOC || kind == ML_FREE) && !s->node_begun && !s->place.stack &&
           space < ML_SPACE_WIDE && space < t->spaces.len && t->spaces.items[space].id &&
           e->events && e->events < ML_BLOCK_MAX_EVENTS &&
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
    while (run.events < ML_BLOCK_MAX_EVENTS && s.tail + 3 <= end) {
        uint64_t first = ml_ring_word(&s, 0);
        uint64_t stamp = ml_ticks_unwrap(&ticks, first >> 16);
        uint64_t time_ns = ml_max_u64(ml_ticks_ns(&ticks, stamp), run.last_ns);
        uint32_t is_alloc = (first & 0xff) == ML_ALLOC;
        uint64_t size = ml_ring_word(&s, 2); /* the next record's, after a free: not used */

        if ((first & 0xffff) - (is_alloc ? ML_ALLOC : ML_FREE) != space << 8 || stamp >= limit ||
            !ml_encoder_run_fits(&run, time_ns, is_alloc ? size : 0))
            break;
        ml_encoder_run_put(&run, (uint8_t)first, time_ns, ml_ring_word(&s, 1), is_alloc, size);
        s.tail += 2 + is_alloc;
    }
    allocs = run.sizes - e->sizes;
    counts[ML_ALLOC] += allocs;
    counts[ML_FREE] += run.events - before - allocs;
    ml_encoder_run_end(&run);
    source->tail = s.tail;
    return run.events - before;
}
