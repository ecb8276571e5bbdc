/* test_analyze_story.h: a training program in a few calls: scopes are entered and left, phases
 * marked, blocks allocated and freed, in any thread and process.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TEST_ANALYZE_STORY_H
#define ML_TEST_ANALYZE_STORY_H

#include "test_analyze_fixture.h"

#include "classify.h"
#include "replay.h"

#define STORY_THREADS 4

struct story {
    struct fixture f;
    uint32_t thread;
    uint32_t space;
    uint32_t scopes[STORY_THREADS]; /* where each thread is */
};

static inline struct story story_begin(void)
{
    struct story s = {.f = fixture_begin()};

    s.space = s.f.block;
    return s;
}

static inline void story_event(struct story *s, struct ml_event event)
{
    event.thread = s->thread;
    event.scope = s->scopes[s->thread];
    event.space = s->space;
    fixture_event(&s->f, event);
}

/* A scope in another one. */
static inline uint32_t story_scope(struct story *s, uint32_t parent, uint32_t kind,
                                   const char *name)
{
    return ml_maker_scope(s->f.maker, parent, kind, ml_maker_string(s->f.maker, name));
}

static inline uint32_t story_module(struct story *s, uint32_t parent, const char *name)
{
    return story_scope(s, parent, MEMLEDGER_SCOPE_MODULE, name);
}

static inline void enter(struct story *s, uint32_t scope)
{
    s->scopes[s->thread] = scope;
    story_event(s, (struct ml_event){.kind = ML_PUSH});
}

/* The thread is in `scope` again. */
static inline void leave_to(struct story *s, uint32_t scope)
{
    s->scopes[s->thread] = scope;
    story_event(s, (struct ml_event){.kind = ML_POP});
}

/* A node of the tape runs, or the thread is back: no event tells. */
static inline void be_in(struct story *s, uint32_t scope)
{
    s->scopes[s->thread] = scope;
}

static inline void mark(struct story *s, const char *phase)
{
    story_event(s, (struct ml_event){
                       .kind = ML_MARK,
                       .args = {MEMLEDGER_MARK_PHASE, 0, ml_maker_string(s->f.maker, phase)}});
}

/* The next node, in the same scope. */
static inline void node(struct story *s)
{
    story_event(s, (struct ml_event){.kind = ML_MARK, .args = {ML_MARK_NODE}});
}

static inline void step(struct story *s, uint64_t number)
{
    story_event(s, (struct ml_event){.kind = ML_MARK, .args = {MEMLEDGER_MARK_STEP, number}});
}

static inline void automatic_step(struct story *s, uint64_t number)
{
    story_event(s, (struct ml_event){.kind = ML_MARK,
                                     .args = {MEMLEDGER_MARK_STEP, number,
                                              ml_maker_string(s->f.maker, ML_STEP_AUTOMATIC)}});
}

static inline void evaluation(struct story *s, uint64_t before_step)
{
    story_event(s, (struct ml_event){.kind = ML_MARK,
                                     .args = {MEMLEDGER_MARK_STEP, before_step,
                                              ml_maker_string(s->f.maker, ML_STEP_EVALUATION)}});
}

static inline void born(struct story *s, uint64_t addr, uint64_t size)
{
    story_event(s, (struct ml_event){.kind = ML_ALLOC, .addr = addr, .size = size});
}

static inline void dies(struct story *s, uint64_t addr)
{
    story_event(s, (struct ml_event){.kind = ML_FREE, .addr = addr});
}

static inline void name(struct story *s, uint64_t addr, const char *label, uint64_t category)
{
    story_event(s, (struct ml_event){.kind = ML_LABEL,
                                     .addr = addr,
                                     .args = {ml_maker_string(s->f.maker, label), category}});
}

/* The end of the story. The caller frees the trace and releases the classes. */
static inline struct ml_trace *story_classes(struct story *s, struct ml_classes *ret)
{
    struct ml_trace *trace = fixture_open(&s->f);
    struct ml_error err = {0};

    if (ml_classify(trace, ret, &err) < 0)
        fail_msg("%s", err.text);
    return trace;
}

/* Ends the story; its allocations must have these categories, in order. */
#define assert_categories(story, ...)                                                              \
    do {                                                                                           \
        const uint8_t expected_[] = {__VA_ARGS__};                                                 \
        struct ml_classes classes_;                                                                \
        struct ml_trace *trace_ = story_classes((story), &classes_);                               \
                                                                                                   \
        assert_true(classes_.known);                                                               \
        assert_int_equal(classes_.categories.len, sizeof(expected_));                              \
        for (size_t i_ = 0; i_ < sizeof(expected_); i_++)                                          \
            if (classes_.categories.items[i_] != expected_[i_])                                    \
                fail_msg("allocation %zu has category %u, not %u", i_,                             \
                         (unsigned)classes_.categories.items[i_], (unsigned)expected_[i_]);        \
        ml_classes_release(&classes_);                                                             \
        ml_trace_free(trace_);                                                                     \
    } while (0)

#endif
