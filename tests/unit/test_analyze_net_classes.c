/* test_analyze_net_classes.c: categories and labels of the live blocks of a training are the same
 * whether a follower reads nets or all events.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_analyze_fed.h"

#define SEEDS 25
#define EVENTS 20000
#define ADDRESSES 300
#define SCOPES 24
#define STEPS 600
#define LAYERS 12

enum { FORWARD, BACKWARD, OPTIMIZER, PHASE_STRINGS };

/* Their names have one number each, as a collector gives it to them. */
struct phases {
    uint32_t strings[PHASE_STRINGS];
};

static struct phases name_phases(struct story *s)
{
    static const char *const names[] = {"forward", "backward", "optimizer"};
    struct phases phases;

    for (int i = 0; i < PHASE_STRINGS; i++)
        phases.strings[i] = ml_maker_string(s->f.maker, names[i]);
    return phases;
}

static void mark_phase(struct story *s, const struct phases *phases, uint64_t phase)
{
    story_event(s, (struct ml_event){.kind = ML_MARK,
                                     .args = {MEMLEDGER_MARK_PHASE, 0, phases->strings[phase]}});
}

/* ---- Random events -------------------------------------------------------------------- */

/* Threads that enter and leave scopes, run nodes without a push, mark phases, and allocate blocks
 * of which most are freed soon, by any thread. `losses` are pushes, pops and frees that are
 * missing. */
struct training {
    struct random_numbers random;
    struct story story;
    struct phases phases;
    uint32_t scopes[SCOPES], parents[SCOPES]; /* [0] is none */
    uint32_t spaces[2];
    uint32_t heap; /* of these, the index that most blocks are in */
    bool losses;
    bool nodes; /* backward runs most of the time: threads are in scopes that they never push */
    bool used[2][ADDRESSES];
};

static bool chance(struct training *t, uint64_t of)
{
    return random_below(&t->random, of) == 0;
}

static void define(struct training *t)
{
    static const uint8_t kinds[] = {MEMLEDGER_SCOPE_MODULE, MEMLEDGER_SCOPE_OPERATOR,
                                    MEMLEDGER_SCOPE_USER, MEMLEDGER_SCOPE_PHASE};
    static const char *const names[] = {"backward", "optimizer", "forward", "layer"};
    struct fixture *f = &t->story.f;

    for (uint32_t i = 1; i < STORY_THREADS; i++)
        ml_maker_thread(f->maker, 0, 100 + i, ml_maker_string(f->maker, "worker"));
    t->spaces[0] = t->story.space =
        ml_maker_space(f->maker, 0, ml_maker_string(f->maker, "cuda:0"), MEMLEDGER_BLOCK,
                       ml_maker_string(f->maker, ML_TORCH_SPACE_NAME));
    t->spaces[1] = fixture_space(f, ML_HEAP_SPACE_NAME);
    for (uint32_t i = 1; i < SCOPES; i++) {
        char text[32];
        uint64_t kind = random_below(&t->random, 8);

        kind = kind < 3 ? 0 : kind < 6 ? 1 : kind - 4;
        t->parents[i] = (uint32_t)random_below(&t->random, i);
        snprintf(text, sizeof(text), "part%u", i);
        t->scopes[i] =
            story_scope(&t->story, t->scopes[t->parents[i]], kinds[kind],
                        kind == 3 ? names[random_below(&t->random, ML_ARRAY_SIZE(names))] : text);
    }
}

static uint32_t index_of(const struct training *t, uint32_t scope)
{
    for (uint32_t i = 0; i < SCOPES; i++)
        if (t->scopes[i] == scope)
            return i;
    return 0;
}

/* A child of the scope, 0 if it has none. */
static uint32_t random_child(struct training *t, uint32_t parent)
{
    uint32_t begin = (uint32_t)random_below(&t->random, SCOPES);

    for (uint32_t i = 0; i < SCOPES; i++) {
        uint32_t child = (begin + i) % SCOPES;

        if (child != 0 && t->parents[child] == parent)
            return child;
    }
    return 0;
}

static void random_turn(struct training *t)
{
    struct story *s = &t->story;
    uint32_t here = index_of(t, s->scopes[s->thread]), child = random_child(t, here);

    if (t->losses && chance(t, 30)) {
        be_in(s, t->scopes[random_below(&t->random, SCOPES)]);
    } else if (child && chance(t, 2)) {
        enter(s, t->scopes[child]);
    } else if (here) {
        leave_to(s, t->scopes[t->parents[here]]);
    }
}

static void random_memory(struct training *t)
{
    struct story *s = &t->story;
    uint32_t space = chance(t, 10) ? 1 - t->heap : t->heap;
    uint64_t slot = random_below(&t->random, chance(t, 8) ? ADDRESSES : 12),
             addr = 4096 + 64 * slot;

    s->space = t->spaces[space];
    if (!t->used[space][slot])
        born(s, addr, 1 + 32 * random_below(&t->random, 5));
    else if (chance(t, 15))
        name(s, addr, chance(t, 2) ? "weight" : "bias",
             random_below(&t->random, MEMLEDGER_TEMPORARY));
    else
        dies(s, addr);
    if (!(t->used[space][slot] && t->losses && chance(t, 40)))
        t->used[space][slot] = !t->used[space][slot];
    s->space = t->spaces[0];
}

static void random_rare_event(struct training *t)
{
    struct story *s = &t->story;

    switch (random_below(&t->random, 4)) {
    case 0: node(s); break;
    case 1: story_event(s, (struct ml_event){.kind = ML_OOM, .size = 1 << 20}); break;
    case 2:
        if (t->losses)
            story_event(s, (struct ml_event){.kind = ML_LOST, .args = {3, 0, 1}});
        else if (chance(t, 4))
            story_event(s, (struct ml_event){.kind = ML_THREAD_END});
        break;
    default: mark_phase(s, &t->phases, random_below(&t->random, PHASE_STRINGS));
    }
}

/* One of few. */
static void random_node(struct training *t)
{
    if (chance(t, 12))
        mark_phase(&t->story, &t->phases, BACKWARD);
    else
        be_in(&t->story, t->scopes[random_below(&t->random, 3)]);
}

static struct ml_trace *random_training(struct training t)
{
    t.story = story_begin();
    t.phases = name_phases(&t.story);
    define(&t);
    for (int i = 0; i < EVENTS; i++) {
        if (chance(&t, 6))
            t.story.thread = (uint32_t)random_below(&t.random, STORY_THREADS);
        if (chance(&t, 60))
            random_rare_event(&t);
        else if (chance(&t, 4))
            (t.nodes ? random_node : random_turn)(&t);
        else
            random_memory(&t);
    }
    return fixture_open(&t.story.f);
}

static void random_trainings(void **state)
{
    uint64_t nets = 0, carried = 0, kept = 0, scopes = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        for (uint32_t i = 0; i < 8; i++) {
            struct training t = {
                .random = {seed}, .losses = i & 1, .heap = i >> 1 & 1, .nodes = i >> 2};
            struct fed fed = compare(random_training(t), seed, 2000);

            nets += fed.nets;
            carried += fed.carried;
            kept += fed.kept;
            scopes += fed.by_kind[ML_PUSH] + fed.by_kind[ML_POP];
        }
    assert_true(nets > 10 * SEEDS && carried > 1000 * SEEDS && kept > 0 && scopes > 0);
}

/* The events of test_analyze_random.h, in which scopes come in no order. */
static void random_modules(void **state)
{
    uint64_t nets = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        nets += compare(random_trace(seed, true), seed, 300).nets;
        nets += compare(random_trace_that_lasts(seed), seed, 300).nets;
    }
    assert_true(nets > 0);
}

/* ---- A training as programs run it ---------------------------------------------------- */

struct model {
    struct story story;
    struct phases phases;
    uint32_t layers[LAYERS], operators[LAYERS];
};

static void use_temps(struct model *m)
{
    for (uint64_t i = 0; i < 3; i++) {
        born(&m->story, 0x100000 + 4096 * i, 512);
        dies(&m->story, 0x100000 + 4096 * i);
    }
}

static void train_step(struct model *m, uint64_t number)
{
    struct story *s = &m->story;

    step(s, number);
    born(s, 0x1000, 64);
    name(s, 0x1000, "tokens", MEMLEDGER_INPUT);
    mark_phase(s, &m->phases, FORWARD);
    for (uint64_t i = 0; i < LAYERS; i++) {
        enter(s, m->layers[i]);
        enter(s, m->operators[i]);
        born(s, 0x200000 + 4096 * i, 1024);
        use_temps(m);
        leave_to(s, m->layers[i]);
        leave_to(s, 0);
    }
    mark_phase(s, &m->phases, BACKWARD);
    for (uint64_t i = LAYERS; i-- > 0;) {
        enter(s, m->layers[i]);
        born(s, 0x300000 + 4096 * i, 256);
        use_temps(m);
        dies(s, 0x200000 + 4096 * i);
        leave_to(s, 0);
    }
    mark_phase(s, &m->phases, OPTIMIZER);
    for (uint64_t i = 0; i < LAYERS; i++)
        dies(s, 0x300000 + 4096 * i);
    dies(s, 0x1000);
}

static struct ml_trace *trained(void)
{
    struct model m = {.story = story_begin()};

    m.phases = name_phases(&m.story);
    for (uint64_t i = 0; i < LAYERS; i++) {
        char text[16];

        snprintf(text, sizeof(text), "layer%zu", (size_t)i);
        m.layers[i] = story_module(&m.story, 0, text);
        m.operators[i] = story_scope(&m.story, m.layers[i], MEMLEDGER_SCOPE_OPERATOR, "matmul");
        born(&m.story, 0x400000 + 4096 * i, 256);
        name(&m.story, 0x400000 + 4096 * i, text, MEMLEDGER_PARAMETER);
    }
    for (uint64_t i = 0; i < STEPS; i++)
        train_step(&m, i);
    return fixture_open(&m.story.f);
}

/* A follower reads the marks, the input, and what is open at the ends of blocks. */
static void a_training_is_carried(void **state)
{
    struct fed fed = compare(trained(), 1, 6000);

    (void)state;
    assert_true(fed.nets > 0);
    assert_true(fed.carried > 4 * fed.kept);
    assert_true(fed.by_kind[ML_PUSH] < STEPS * LAYERS / 4); /* of twice that */
}

/* A thread runs a node, another one whose blocks a follower does not see, and then the first one
 * again: what it frees there is not temporary, so that a pass has left it, and a similar block of
 * another pass is no workspace. */
static struct ml_trace *unseen_node(void)
{
    struct story s = story_begin();
    struct phases phases = name_phases(&s);
    uint32_t first = story_scope(&s, 0, MEMLEDGER_SCOPE_PHASE, "backward");
    uint32_t second = story_module(&s, first, "layer");

    be_in(&s, first);
    born(&s, 0x1000, 64);
    for (int i = 0; i < 100; i++) {
        be_in(&s, second);
        born(&s, 0x2000, 64);
        dies(&s, 0x2000);
    }
    mark_phase(&s, &phases, BACKWARD);
    be_in(&s, first);
    born(&s, 0x3000, 64);
    be_in(&s, second);
    born(&s, 0x2000, 64);
    dies(&s, 0x2000);
    be_in(&s, first);
    mark_phase(&s, &phases, BACKWARD);
    mark_phase(&s, &phases, BACKWARD);
    dies(&s, 0x3000);
    node(&s);
    return fixture_open(&s.f);
}

static void unseen_nodes_count(void **state)
{
    uint64_t nets = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        nets += compare(unseen_node(), seed, 100).nets;
    assert_true(nets > SEEDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_trainings),
        cmocka_unit_test(random_modules),
        cmocka_unit_test(a_training_is_carried),
        cmocka_unit_test(unseen_nodes_count),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
