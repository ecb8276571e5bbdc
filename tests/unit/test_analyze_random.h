/* test_analyze_random.h: traces of random events of every kind that changes a live table, the same
 * for the same seed: blocks inside blocks, ranges, resizes, labels, processes that fork, end and
 * replace themselves.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TEST_ANALYZE_RANDOM_H
#define ML_TEST_ANALYZE_RANDOM_H

#include <stdio.h>

#include "test_analyze_story.h"

#define RANDOM_EVENTS 6000
#define RANDOM_SPACES 8
#define RANDOM_SCOPES 6

struct random_numbers {
    uint64_t state;
};

static inline uint64_t random_below(struct random_numbers *r, uint64_t limit)
{
    uint64_t z = r->state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (z ^ z >> 31) % limit;
}

struct random_run {
    struct random_numbers random;
    struct story story;
    uint32_t spaces[RANDOM_SPACES];
    uint32_t scopes[RANDOM_SCOPES];
    bool modules;
    bool whole_moves; /* each resize ends with the next event of its thread, as recorders do it */
    bool ends;        /* processes may end, and some go on afterwards */
    bool plain;       /* no blocks inside blocks, no ranges, no labels */
    int events;
};

static inline void random_define(struct random_run *run)
{
    struct fixture *f = &run->story.f;
    uint32_t cuda = ml_maker_string(f->maker, "cuda:0");

    for (uint32_t i = 1; i < STORY_THREADS; i++)
        ml_maker_thread(f->maker, 0, 100 + i, ml_maker_string(f->maker, "worker"));
    fixture_process(f, 1, 101, 0, ML_FORKED);
    fixture_process(f, 2, 100, 0, ML_EXECED);
    run->spaces[0] = f->block;
    run->spaces[1] = fixture_space(f, ML_HEAP_SPACE_NAME);
    run->spaces[2] = fixture_space(f, ML_MAP_SPACE_NAME);
    run->spaces[3] = fixture_space(f, "arena");
    run->spaces[4] = fixture_space_of(f, 1);
    run->spaces[5] = fixture_space_of(f, 2);
    run->spaces[6] =
        ml_maker_space(f->maker, 0, cuda, MEMLEDGER_BLOCK, ml_maker_string(f->maker, "torch"));
    run->spaces[7] =
        ml_maker_space(f->maker, 0, cuda, MEMLEDGER_DRIVER, ml_maker_string(f->maker, "cuda"));
    for (uint32_t i = 1; i < RANDOM_SCOPES; i++) {
        char text[16];

        snprintf(text, sizeof(text), "%s%u", run->modules ? "layer" : "part", i);
        run->scopes[i] =
            story_scope(&run->story, i / 2 ? run->scopes[i / 2] : 0,
                        run->modules ? MEMLEDGER_SCOPE_MODULE : MEMLEDGER_SCOPE_USER, text);
    }
}

static inline void random_mark(struct random_run *run)
{
    static const char *const phases[] = {"forward", "backward", "optimizer"};

    if (run->modules && random_below(&run->random, 2))
        mark(&run->story, phases[random_below(&run->random, 3)]);
    else if (random_below(&run->random, 3))
        automatic_step(&run->story, random_below(&run->random, 5));
    else
        step(&run->story, random_below(&run->random, 5));
}

/* Events that are rare in real traces too. */
static inline void random_rare(struct random_run *run)
{
    switch (random_below(&run->random, 5)) {
    case 0:
        if (run->ends && random_below(&run->random, 8) == 0)
            story_event(&run->story, (struct ml_event){.kind = ML_PROCESS_END,
                                                       .args = {random_below(&run->random, 3), 1}});
        break;
    case 1: story_event(&run->story, (struct ml_event){.kind = ML_OOM, .size = 1 << 20}); break;
    case 2: story_event(&run->story, (struct ml_event){.kind = ML_LOST, .args = {3, 0, 1}}); break;
    case 3: ml_maker_flush(run->story.f.maker); break;
    default: random_mark(run);
    }
}

static inline void random_scope(struct random_run *run)
{
    uint32_t scope = run->scopes[random_below(&run->random, RANDOM_SCOPES)];

    if (scope)
        enter(&run->story, scope);
    else
        leave_to(&run->story, 0);
}

/* One that is inside no other. */
static inline uint32_t random_plain_space(struct random_run *run)
{
    static const uint8_t plain[] = {0, 4, 5, 6};

    return run->spaces[plain[random_below(&run->random, ML_ARRAY_SIZE(plain))]];
}

/* A resize, and whether it succeeded. */
static inline void random_whole_move(struct random_run *run, struct ml_event move)
{
    bool fails = random_below(&run->random, 3) == 0;
    struct ml_event end = {.kind = fails ? ML_MOVE_FAILED : ML_ALLOC};

    end.addr = fails ? move.addr : 64 * random_below(&run->random, 400);
    end.size = fails ? 0 : random_below(&run->random, 300);
    story_event(&run->story, move);
    story_event(&run->story, end);
}

static inline void random_event(struct random_run *run)
{
    static const uint8_t kinds[] = {ML_ALLOC,      ML_ALLOC,       ML_ALLOC, ML_FREE,
                                    ML_FREE,       ML_FREE,        ML_MOVE,  ML_LABEL,
                                    ML_FREE_RANGE, ML_MOVE_FAILED, ML_PUSH,  ML_LOST};
    struct story *s = &run->story;
    struct ml_event event = {.kind = kinds[random_below(&run->random, ML_ARRAY_SIZE(kinds))]};

    s->thread = (uint32_t)random_below(&run->random, STORY_THREADS);
    s->space = run->plain ? random_plain_space(run)
                          : run->spaces[random_below(&run->random, RANDOM_SPACES)];
    if (run->plain && (event.kind == ML_LABEL || event.kind == ML_FREE_RANGE))
        event.kind = ML_ALLOC;
    event.addr = 64 * random_below(&run->random, 400);
    event.size = random_below(&run->random, 8) ? random_below(&run->random, 300)
                                               : 64 * random_below(&run->random, 60);
    if (run->whole_moves && event.kind == ML_MOVE_FAILED)
        event.kind = ML_MOVE;
    if (event.kind == ML_PUSH) {
        random_scope(run);
    } else if (event.kind == ML_LOST) {
        random_rare(run);
    } else if (event.kind == ML_LABEL) {
        name(s, event.addr, random_below(&run->random, 2) ? "weight" : "bias",
             random_below(&run->random, MEMLEDGER_TEMPORARY));
    } else {
        event.size = event.kind == ML_ALLOC || event.kind == ML_FREE_RANGE ? event.size : 0;
        if (run->whole_moves && event.kind == ML_MOVE)
            random_whole_move(run, event);
        else
            story_event(s, event);
    }
}

/* The caller frees it. */
static inline struct ml_trace *random_trace_of(struct random_run run)
{
    run.story = story_begin();
    random_define(&run);
    for (int i = 0; i < run.events; i++)
        random_event(&run);
    return fixture_open(&run.story.f);
}

static inline struct ml_trace *random_trace(uint64_t seed, bool modules)
{
    return random_trace_of((struct random_run){
        .random = {seed}, .modules = modules, .ends = true, .events = RANDOM_EVENTS});
}

/* Without modules. */
static inline struct ml_trace *random_plain_trace(uint64_t seed)
{
    return random_trace_of((struct random_run){
        .random = {seed}, .ends = true, .plain = true, .events = RANDOM_EVENTS});
}

/* With modules, and without processes that end. */
static inline struct ml_trace *random_trace_that_lasts(uint64_t seed)
{
    return random_trace_of(
        (struct random_run){.random = {seed}, .modules = true, .events = RANDOM_EVENTS});
}

#endif
