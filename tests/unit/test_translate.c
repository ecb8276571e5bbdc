/* test_translate.c: records of a ring become events and definitions of a trace,
 * from the first word to what a reader sees; also records that make no sense.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "defs.h"
#include "lifetime_events.h"
#include "losses.h"
#include "memledger/memledger.h"
#include "record_length.h"
#include "source_stacks.h"
#include "trace.h"
#include "translate.h"

#define RING_WORDS 4096

/* A target with one thread, its ring in our memory, and the trace made of it. */
struct fixture {
    char path[64];
    struct ml_dict dict;
    struct ml_trace_writer writer;
    struct ml_ticks ticks;
    _Atomic uint64_t heartbeat;
    struct ml_stage stage;
    struct ml_target target;
    struct ml_source source;
    struct ml_ring ring;
    uint64_t words[RING_WORDS];
    uint64_t head, now;
    struct ml_trace *trace;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    struct ml_error err = {0};
    int fd;

    assert_non_null(f);
    strcpy(f->path, "/tmp/test_translate-XXXXXX");
    fd = mkstemp(f->path);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(ml_dict_init(&f->dict), 0);
    if (ml_trace_writer_open(&f->writer, f->path, true, 0, &f->dict, &err))
        fail_msg("%s", err.text);
    f->ticks = (struct ml_ticks){.ticks = 1 << 30, .ns = 1 << 30, .rate = UINT64_C(1) << 32};
    f->stage = (struct ml_stage){
        .dict = &f->dict, .writer = &f->writer, .ticks = &f->ticks, .heartbeat = &f->heartbeat};
    f->source = (struct ml_source){
        .target = &f->target, .ring = &f->ring, .data = f->words, .mask = RING_WORDS - 1};
    f->target.process =
        ml_dict_add(&f->dict, ML_DEF_PROCESS, (uint64_t[ML_DEF_FIELDS]){[ML_PROCESS_PID] = 1});
    ml_source_open(&f->stage, &f->source);
    *state = f;
    return 0;
}

static void release_target(struct fixture *f)
{
    ml_vec_release(&f->source.left);
    ml_source_stacks_free(f->source.stacks);
    ml_map_release(&f->target.frames);
    ml_vec_release(&f->target.strings);
    ml_vec_release(&f->target.spaces);
    ml_vec_release(&f->target.objects);
    ml_vec_release(&f->target.counters);
    ml_vec_release(&f->target.stacks);
    ml_vec_release(&f->target.python_frames);
    ml_vec_release(&f->target.libraries);
    ml_tapes_release(&f->target.tapes);
    ml_backward_release(&f->target.backward);
    ml_works_release(&f->target.works);
    ml_expected_release(&f->target.expected);
    ml_outputs_release(&f->target.waiting);
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    release_target(f);
    ml_trace_free(f->trace);
    ml_dict_release(&f->dict);
    unlink(f->path);
    free(f);
    return 0;
}

/* Drains the ring, as a pass does. */
static void drain(struct fixture *f)
{
    f->source.end = f->head;
    while (ml_source_peek(&f->stage, &f->source))
        if (!ml_source_take_plain(&f->stage, &f->source, UINT64_MAX))
            ml_source_take(&f->stage, &f->source);
    assert_int_equal(f->source.tail, f->head);
}

static void put_word(struct fixture *f, uint64_t word)
{
    f->words[f->head++ & (RING_WORDS - 1)] = word;
}

static void put(struct fixture *f, unsigned kind, const uint64_t *words, unsigned n)
{
    put_word(f, ml_record_word(kind, kind == ML_ALLOC || kind == ML_REC_ALLOC_STACK, ++f->now));
    for (unsigned i = 0; i < n; i++)
        put_word(f, words[i]);
    drain(f);
}

#define PUT(f, kind, ...)                                                                          \
    put(f, kind, (uint64_t[]){__VA_ARGS__}, sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static void put_string(struct fixture *f, uint32_t number, const char *text)
{
    uint64_t words[8] = {ml_pair(number, strlen(text))};

    assert_true(strlen(text) < 56);
    memcpy(&words[1], text, strlen(text));
    put(f, ML_REC_STRING, words, 1 + (unsigned)(strlen(text) + 7) / 8);
}

static void open_trace(struct fixture *f)
{
    struct ml_error err = {0};

    ml_source_close(&f->stage, &f->source);
    assert_int_equal(f->dict.error, 0);
    assert_int_equal(ml_trace_writer_close(&f->writer), 0);
    if (ml_trace_open(f->path, &(struct ml_trace_opts){0}, &f->trace, &err))
        fail_msg("%s", err.text);
}

/* The next event that is not the thread's end. */
static size_t read_events(struct fixture *f, struct ml_event *ret, size_t room)
{
    struct ml_error err = {0};
    const struct ml_event *batch;
    struct ml_cursor *c;
    size_t count = 0;
    int n;

    assert_int_equal(ml_cursor_open(f->trace, 0, UINT64_MAX, &c, &err), 0);
    while ((n = ml_cursor_next(c, &batch, &err)) > 0)
        for (int i = 0; i < n; i++)
            if (batch[i].kind != ML_THREAD_END && count < room)
                ret[count++] = batch[i];
    assert_int_equal(n, 0);
    ml_cursor_free(c);
    return count;
}

static const char *text(const struct fixture *f, uint32_t string)
{
    return ml_trace_string(f->trace, string, NULL);
}

static const struct ml_scope *scope(const struct fixture *f, uint32_t number)
{
    return ml_trace_scope(f->trace, number);
}

/* Forward in a module, then backward: pushes and pops of the tape make no event. */
static void backward_lands_in_its_module(void **state)
{
    struct fixture *f = *state;
    const struct ml_scope *s;
    struct ml_event events[8];

    put_string(f, 1, "GPT");
    put_string(f, 2, "Model");
    PUT(f, ML_PUSH, ml_pair(MEMLEDGER_SCOPE_MODULE | 2 << 8, 1));
    PUT(f, ML_REC_TAPE, 9, 1, 5);
    PUT(f, ML_POP);
    PUT(f, ML_REC_PUSH_TAPE, 9, 4, 0);
    PUT(f, ML_ALLOC, 64, 100);
    PUT(f, ML_POP);
    PUT(f, ML_ALLOC, 128, 100);
    PUT(f, ML_POP); /* one too many */
    open_trace(f);
    assert_int_equal(read_events(f, events, 8), 4);
    assert_true(events[0].kind == ML_PUSH && events[1].kind == ML_POP);
    assert_true(events[2].kind == ML_ALLOC && events[3].kind == ML_ALLOC);
    s = scope(f, events[2].scope);
    assert_string_equal(text(f, s->name), "GPT");
    assert_string_equal(text(f, s->class_name), "Model");
    assert_int_equal(s->kind, MEMLEDGER_SCOPE_MODULE);
    s = scope(f, s->parent);
    assert_string_equal(text(f, s->name), "backward");
    assert_int_equal(s->kind, MEMLEDGER_SCOPE_PHASE);
    assert_int_equal(s->parent, 0);
    assert_int_equal(events[3].scope, 0);
}

static const struct ml_frame *frame_of(const struct fixture *f, uint32_t stack)
{
    return ml_trace_frame(f->trace, ml_trace_stack(f->trace, stack)->frame);
}

static void python_stacks_reach_the_file(void **state)
{
    struct fixture *f = *state;
    struct ml_event events[8];
    uint32_t stack;

    put_string(f, 1, "train");
    put_string(f, 2, "train.py");
    put_string(f, 3, "forward");
    put_string(f, 4, "model.py");
    PUT(f, ML_REC_PYTHON_FRAME, ml_pair(1, 1), ml_pair(2, 10));
    PUT(f, ML_REC_PYTHON_FRAME, ml_pair(2, 3), ml_pair(4, 42));
    PUT(f, ML_REC_PYTHON_FRAME, ml_pair(3, 3), ml_pair(4, 43));
    PUT(f, ML_REC_STACK, ml_pair(1, 1), 0x1234); /* a native one, numbered with them */
    PUT(f, ML_REC_PYTHON_STACK, ml_pair(2, 2), ml_pair(1, 2));
    PUT(f, ML_REC_PYTHON_STACK, ml_pair(3, 3), ml_pair(2, 3), 1);
    PUT(f, ML_REC_ALLOC_STACK, 64, 100, 2);
    PUT(f, ML_REC_ALLOC_STACK, 128, 100, 3);
    PUT(f, ML_REC_ALLOC_STACK, 192, 100, 1);
    PUT(f, ML_OOM, 100, 2);
    open_trace(f);
    assert_int_equal(read_events(f, events, 8), 4);
    stack = events[0].stack;
    assert_int_equal(ml_trace_stack(f->trace, stack)->depth, 2);
    assert_int_equal(frame_of(f, stack)->kind, ML_FRAME_PYTHON);
    assert_string_equal(text(f, frame_of(f, stack)->function), "forward");
    assert_string_equal(text(f, frame_of(f, stack)->file), "model.py");
    assert_int_equal(frame_of(f, stack)->line, 42);
    stack = ml_trace_stack(f->trace, stack)->caller;
    assert_string_equal(text(f, frame_of(f, stack)->function), "train");
    assert_int_equal(frame_of(f, stack)->line, 10);
    stack = events[1].stack; /* 43, called by 42, called by train: the first is its caller */
    assert_int_equal(ml_trace_stack(f->trace, stack)->caller, events[0].stack);
    assert_int_equal(frame_of(f, stack)->line, 43);
    assert_int_equal(frame_of(f, events[2].stack)->kind, ML_FRAME_NATIVE);
    assert_int_equal(frame_of(f, events[2].stack)->address, 0x1234);
    assert_true(events[3].kind == ML_OOM && events[3].stack == events[0].stack);
}

/* A frame that was never announced is left out, a stack without any is unknown. */
static void python_stacks_do_without_what_is_missing(void **state)
{
    struct fixture *f = *state;
    struct ml_event events[4];

    PUT(f, ML_REC_PYTHON_FRAME, ml_pair(1, 77), ml_pair(78, 5)); /* strings neither */
    PUT(f, ML_REC_PYTHON_FRAME, ml_pair(0, 1), 0);
    PUT(f, ML_REC_PYTHON_FRAME, ml_pair(UINT32_MAX, 1), 0);
    PUT(f, ML_REC_PYTHON_STACK, ml_pair(1, 3), ml_pair(1, UINT32_MAX), 0);
    PUT(f, ML_REC_PYTHON_STACK, ml_pair(2, 1), 9);
    PUT(f, ML_REC_PYTHON_STACK, ml_pair(3, 0));
    for (uint64_t stack = 1; stack <= 4; stack++)
        PUT(f, ML_REC_ALLOC_STACK, 64 * stack, 100, stack);
    open_trace(f);
    assert_int_equal(read_events(f, events, 4), 4);
    assert_int_equal(ml_trace_stack(f->trace, events[0].stack)->depth, 1);
    assert_int_equal(frame_of(f, events[0].stack)->line, 5);
    assert_true(!events[1].stack && !events[2].stack && !events[3].stack);
}

static void a_stack_that_is_too_long_is_damage(void **state)
{
    struct fixture *f = *state;
    struct ml_event event;

    put_word(f, ml_record_word(ML_REC_PYTHON_STACK, 0, 1));
    put_word(f, ml_pair(1, ML_STACK_MAX_FRAMES + 1));
    drain(f);
    open_trace(f);
    assert_int_equal(read_events(f, &event, 1), 1);
    assert_int_equal(event.kind, ML_LOST);
}

/* ---- Records that make no sense ------------------------------------------ */

static uint64_t random_state;

static uint64_t random_number(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* Mostly small, so that it means something; else of any size. */
static uint64_t random_word(void)
{
    uint64_t small = ml_pair(random_number() % 16, random_number() % 16);

    switch (random_number() % 8) {
    case 0: return random_number();
    case 1: return random_number() >> random_number() % 64;
    case 2: return ml_pair(random_number() % 4 | random_number() % 16 << 8, random_number() % 16);
    case 3: return random_number() % 4096;
    default: return random_number() % 2 ? small : small & 15;
    }
}

/* Those that a profile answers need a whole target. */
static unsigned random_kind(void)
{
    static const uint8_t often[] = {ML_PUSH,
                                    ML_POP,
                                    ML_REC_TAPE,
                                    ML_REC_PUSH_TAPE,
                                    ML_REC_PYTHON_FRAME,
                                    ML_REC_PYTHON_STACK,
                                    ML_REC_ALLOC_STACK};
    unsigned kind = (unsigned)(random_number() % (ML_REC_KINDS + 1));

    if (random_number() % 2)
        return often[random_number() % sizeof(often)];
    return kind == ML_REC_CONFIG || kind == ML_REC_STATE || kind == ML_REC_REQUEST ||
                   kind == ML_REC_FILE
               ? ML_PUSH
               : kind;
}

/* As many words as it says that it has, or a ring that is given up. */
static void take_random_record(struct fixture *f)
{
    put_word(f, ml_record_word(random_kind(), (unsigned)random_number() % 4, ++f->now));
    for (unsigned k = 1; k < ML_RECORD_MAX_WORDS; k++)
        put_word(f, random_word());
    f->source.end = f->head;
    if (ml_source_peek(&f->stage, &f->source))
        ml_source_take(&f->stage, &f->source);
    f->head = f->source.tail;
}

static void random_records_make_a_good_trace(void **state)
{
    struct fixture *f = *state;
    struct ml_event event;

    random_state = 88172645463325252u;
    for (int i = 0; i < 200000; i++)
        take_random_record(f);
    open_trace(f); /* which refuses scopes and stacks that are too deep or out of order */
    assert_int_equal(read_events(f, &event, 1), 1);
    assert_true(ml_trace_scopes(f->trace) > 100);
    assert_true(ml_trace_stacks(f->trace) > 10);
}

/* A block that another chunk asks for, in the place of one whose end was lost. */
static void what_waited_is_forgotten_when_records_are_lost(void **state)
{
    enum { KEY = 0x1000, LABEL = 1, OPERATOR = 2, SIZE = 64 };
    struct fixture *f = *state;
    uint32_t category, label;
    struct ml_work work;

    put_string(f, LABEL, "fc1");
    put_string(f, OPERATOR, "relu");
    PUT(f, ML_REC_EXPECT, KEY, ml_pair(MEMLEDGER_ACTIVATION, LABEL));
    PUT(f, ML_REC_WORK, KEY, ml_pair(0, OPERATOR));
    PUT(f, ML_REC_EXPECT_OUTPUT, SIZE, ml_pair(MEMLEDGER_ACTIVATION, LABEL));
    assert_true(ml_expected_find(&f->target.expected, KEY, &category, &label));
    assert_int_equal(f->source.outputs.count, 1);
    atomic_store(&f->ring.lost, 1);
    ml_source_note_lost(&f->stage, &f->source);
    assert_false(ml_expected_find(&f->target.expected, KEY, &category, &label));
    assert_false(ml_works_take(&f->target.works, KEY, &work));
    assert_int_equal(f->source.outputs.count, 0);
    open_trace(f);
}

static void what_was_not_followed_is_told_once(void **state)
{
    static struct ml_ringset shared;
    struct ml_target_set set = {.shared = &shared};
    struct fixture *f = *state;
    struct ml_event events[2];

    assert_int_equal(ml_vec_push(&f->target.sets, set), 0);
    shared.not_followed = 3;
    ml_target_note_lost(&f->stage, &f->target);
    ml_target_note_lost(&f->stage, &f->target);
    ml_vec_release(&f->target.sets);
    open_trace(f);
    assert_int_equal(read_events(f, events, 2), 1);
    assert_int_equal(events[0].kind, ML_LOST);
    assert_int_equal(events[0].args[0], 3);
    assert_int_equal(events[0].args[2], ML_LOST_NOT_FOLLOWED);
}

/* They are no events: the trace is complete without them. */
static void details_that_tables_had_no_room_for_are_told_once(void **state)
{
    static struct ml_ringset shared;
    struct ml_target_set set = {.shared = &shared};
    struct fixture *f = *state;
    struct ml_event events[4];

    assert_int_equal(ml_vec_push(&f->target.sets, set), 0);
    shared.details_lost = 3;
    f->target.works.dropped = 4;
    f->target.expected.dropped = 5;
    ml_target_note_lost(&f->stage, &f->target);
    ml_target_note_lost(&f->stage, &f->target);
    ml_vec_release(&f->target.sets);
    open_trace(f);
    assert_int_equal(read_events(f, events, 4), 2);
    assert_int_equal(events[0].args[0], 3);
    assert_int_equal(events[0].args[2], ML_LOST_DETAILS);
    assert_int_equal(events[1].args[0], 4 + 5);
    assert_int_equal(events[1].args[2], ML_LOST_DETAILS);
    assert_int_equal(f->stage.lost, 0);
}

static void put_in_space(struct fixture *f, uint32_t space, uint64_t address)
{
    put_word(f, ml_record_word(ML_ALLOC, space, ++f->now));
    put_word(f, address);
    put_word(f, 64);
    if (space >= ML_SPACE_WIDE)
        put_word(f, space);
}

/* Beyond 254 a space's number is the record's last word, and runs of others go on after it. */
static void spaces_may_have_large_numbers(void **state)
{
    static const uint32_t numbers[] = {1, 254, 255, 256, 1, 254, ML_SPACE_MAX, 255};
    struct fixture *f = *state;
    struct ml_event events[8];

    put_string(f, 1, "cpu");
    put_string(f, 2, "large");
    PUT(f, ML_REC_SPACE, ml_pair(ML_SPACE_MAX, MEMLEDGER_POOL), ml_pair(1, 2));
    for (size_t i = 0; i < 8; i++)
        put_in_space(f, numbers[i], 0x1000 + 64 * i);
    drain(f);
    open_trace(f);
    assert_int_equal(read_events(f, events, 8), 8);
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(events[i].kind, ML_ALLOC);
        assert_int_equal(events[i].addr, 0x1000 + 64 * i);
        assert_int_equal(events[i].size, 64);
        for (size_t k = 0; k < 8; k++)
            assert_int_equal(events[i].space == events[k].space, numbers[i] == numbers[k]);
    }
    assert_int_equal(ml_trace_spaces(f->trace), 5);
    assert_int_equal(ml_trace_space(f->trace, events[6].space)->level, MEMLEDGER_POOL);
}

static void a_space_with_an_impossible_number_is_damage(void **state)
{
    struct fixture *f = *state;
    struct ml_event events[2];

    put_in_space(f, ML_SPACE_MAX + 1, 0x1000);
    put_in_space(f, 3, 0x2000);
    drain(f);
    open_trace(f);
    assert_int_equal(read_events(f, events, 2), 2);
    assert_int_equal(events[0].kind, ML_LOST);
    assert_int_equal(events[0].args[2], ML_LOST_DAMAGED);
    assert_int_equal(events[1].addr, 0x2000);
}

/* Room for 20 names: the scopes of the others are one below the same parent, and each is left
 * by its own pop. */
static void names_without_room_are_one_and_counted(void **state)
{
    struct fixture *f = *state;
    struct ml_event events[256];
    uint64_t folded = 0;
    size_t n;

    f->dict.id_max = 20;
    put_string(f, 1, "outer");
    PUT(f, ML_PUSH, ml_pair(MEMLEDGER_SCOPE_PHASE, 1));
    for (uint32_t i = 2; i < 40; i++) {
        char text[16];

        snprintf(text, sizeof(text), "scope %u", i);
        put_string(f, i, text);
        PUT(f, ML_PUSH, ml_pair(MEMLEDGER_SCOPE_PHASE, i));
        PUT(f, ML_ALLOC, 64 * i, 1);
        PUT(f, ML_POP);
        ml_stage_note_unkept(&f->stage);
    }
    f->dict.error = 0; /* is looked at by who imports */
    open_trace(f);
    n = read_events(f, events, 256);
    for (size_t i = 0; i < n; i++) {
        uint32_t scope = events[i].scope, parent = ml_trace_scope(f->trace, scope)->parent;
        if (events[i].kind == ML_LOST)
            folded += events[i].args[2] == ML_LOST_NAMES_FOLDED ? events[i].args[0] : 0;
        if (events[i].kind == ML_ALLOC)
            assert_int_equal(parent, 1);
        if (events[i].kind == ML_ALLOC && events[i].addr == 64 * 39)
            assert_string_equal(
                ml_trace_string(f->trace, ml_trace_scope(f->trace, scope)->name, NULL),
                ML_OTHER_NAMES);
        if (events[i].kind == ML_POP)
            assert_int_equal(scope, 1);
    }
    assert_int_equal(folded, 22);
    assert_int_equal(f->stage.lost, 0);
}

/* ---- Targets that change what is being read ------------------------------------- */

#define FLIPS 200000

static void set_word(struct fixture *f, uint64_t at, uint64_t word)
{
    __atomic_store_n(&f->words[at & (RING_WORDS - 1)], word, __ATOMIC_RELAXED);
}

/* The word that decided on the record's length is the one that is used. */
static void believes_the_first_look(void **state)
{
    struct fixture *f = *state;
    uint64_t begin = f->head;

    put_word(f, ml_record_word(ML_REC_STRING, 0, ++f->now));
    put_word(f, ml_pair(7, 8));
    put_word(f, 0x6867666564636261); /* abcdefgh */
    f->source.end = f->head;
    assert_true(ml_source_peek(&f->stage, &f->source));
    set_word(f, begin, ml_record_word(ML_REC_STACK, 0, f->now));
    set_word(f, begin + 1, ml_pair(9, 3));
    ml_source_take(&f->stage, &f->source);
    assert_int_equal(f->source.tail, f->head);
    assert_int_equal(f->target.strings.len, 8);
    assert_string_equal(ml_dict_text(&f->dict, f->target.strings.items[7]), "abcdefgh");
    open_trace(f);
}

struct flipped {
    struct fixture *f;
    uint64_t at;
    _Atomic bool over;
};

static void *flip(void *arg)
{
    struct flipped *flipped = arg;

    for (unsigned i = 0; !flipped->over; i++)
        set_word(flipped->f, flipped->at, ml_pair(i % 4, i % 2 ? 8 : ML_NAME_MAX_BYTES));
    return NULL;
}

/* A record whose length changes all the time has one length or the other. */
static void survives_a_length_that_changes(void **state)
{
    struct fixture *f = *state;
    struct flipped flipped = {f, f->head + 1, false};
    uint64_t begin = f->head;
    pthread_t thread;

    put_word(f, ml_record_word(ML_REC_STRING, 0, ++f->now));
    put_word(f, ml_pair(1, 8));
    put_word(f, 0x6867666564636261);
    assert_int_equal(pthread_create(&thread, NULL, flip, &flipped), 0);
    for (unsigned i = 0; i < FLIPS; i++) {
        f->source.tail = begin;
        f->source.end = begin + 2 + (ML_NAME_MAX_BYTES + 7) / 8;
        assert_true(ml_source_peek(&f->stage, &f->source));
        ml_source_take(&f->stage, &f->source);
        assert_true(f->source.tail == begin + 3 || f->source.tail == f->source.end);
    }
    flipped.over = true;
    pthread_join(thread, NULL);
    for (size_t i = 0; i < f->target.strings.len; i++) {
        size_t len = strlen(ml_dict_text(&f->dict, f->target.strings.items[i]));
        assert_true(len == 0 || len == 8);
    }
    f->source.tail = f->head;
    open_trace(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(believes_the_first_look, setup, teardown),
        cmocka_unit_test_setup_teardown(survives_a_length_that_changes, setup, teardown),
        cmocka_unit_test_setup_teardown(backward_lands_in_its_module, setup, teardown),
        cmocka_unit_test_setup_teardown(python_stacks_reach_the_file, setup, teardown),
        cmocka_unit_test_setup_teardown(python_stacks_do_without_what_is_missing, setup, teardown),
        cmocka_unit_test_setup_teardown(a_stack_that_is_too_long_is_damage, setup, teardown),
        cmocka_unit_test_setup_teardown(what_waited_is_forgotten_when_records_are_lost, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(what_was_not_followed_is_told_once, setup, teardown),
        cmocka_unit_test_setup_teardown(details_that_tables_had_no_room_for_are_told_once, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(spaces_may_have_large_numbers, setup, teardown),
        cmocka_unit_test_setup_teardown(a_space_with_an_impossible_number_is_damage, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(names_without_room_are_one_and_counted, setup, teardown),
        cmocka_unit_test_setup_teardown(random_records_make_a_good_trace, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
