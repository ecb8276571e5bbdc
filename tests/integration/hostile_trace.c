/* hostile_trace.c: small traces that make a reader allocate much memory.
 *
 *     hostile_trace FILE KIND COUNT
 *
 * Each is valid: COUNT times the same, with numbers that rise by one, so that it shrinks
 * to a thousandth. KIND is a name of the table at the end. One is harmless, "repeats":
 * nothing of it stays.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memledger/memledger.h"
#include "trace_maker.h"

#define FIRST_ADDR UINT64_C(0x7f0000000000)

struct made {
    struct ml_maker *maker;
    uint32_t process, device, name, stack;
    uint64_t time_ns;
};

static void event(struct made *t, struct ml_event e)
{
    e.time_ns = ++t->time_ns;
    ml_maker_event(t->maker, &e);
}

/* One block; the thread, space, scope and stack are given, since some traces use many. */
static void alloc(struct made *t, uint64_t i, struct ml_event e)
{
    e.kind = ML_ALLOC;
    e.addr = FIRST_ADDR + i * 64;
    e.size = 64;
    event(t, e);
}

static void live(struct made *t, uint64_t i)
{
    alloc(t, i, (struct ml_event){0});
}

static void repeats(struct made *t, uint64_t i)
{
    (void)i;
    alloc(t, 0, (struct ml_event){0});
    event(t, (struct ml_event){.kind = ML_FREE, .addr = FIRST_ADDR});
}

/* In a module, so that categories are looked for. */
static void blocks(struct made *t, uint64_t i)
{
    alloc(t, i, (struct ml_event){.scope = 1});
}

static void label(struct made *t, uint64_t i, uint32_t scope)
{
    event(t, (struct ml_event){.kind = ML_LABEL,
                               .addr = FIRST_ADDR + i * 64,
                               .scope = scope,
                               .args = {t->name, MEMLEDGER_PARAMETER}});
}

static void named(struct made *t, uint64_t i)
{
    alloc(t, i, (struct ml_event){0});
    label(t, i, 0);
}

static void threads(struct made *t, uint64_t i)
{
    event(t, (struct ml_event){.kind = ML_PUSH, .thread = (uint32_t)i, .scope = 1});
    alloc(t, i, (struct ml_event){.thread = (uint32_t)i, .scope = 1});
}

static void spaces(struct made *t, uint64_t i)
{
    alloc(t, i, (struct ml_event){.space = (uint32_t)i});
}

static void scopes(struct made *t, uint64_t i)
{
    ml_maker_scope(t->maker, 1, MEMLEDGER_SCOPE_MODULE, t->name);
    alloc(t, i, (struct ml_event){.scope = (uint32_t)(i + 2)});
}

#define NAMED_MODULES 50000

/* Modules with names that do not compress well, and steps. */
static void modules(struct made *t, uint64_t i)
{
    uint64_t hash = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    char name[64];

    hash ^= hash >> 29;
    if (i < NAMED_MODULES) {
        snprintf(name, sizeof(name), "layer_%016" PRIx64, hash);
        ml_maker_scope(t->maker, 1, MEMLEDGER_SCOPE_MODULE, ml_maker_string(t->maker, name));
    }
    if (i % NAMED_MODULES == 0)
        event(t, (struct ml_event){.kind = ML_MARK, .args = {0, i / NAMED_MODULES}});
    event(t, (struct ml_event){.kind = ML_ALLOC,
                               .addr = FIRST_ADDR + (i << 20),
                               .size = hash >> 45,
                               .scope = (uint32_t)(2 + i % NAMED_MODULES)});
}

static void stacks(struct made *t, uint64_t i)
{
    ml_maker_stack(t->maker, t->stack, 0);
    alloc(t, i, (struct ml_event){.stack = (uint32_t)(i + 2)});
}

static void processes(struct made *t, uint64_t i)
{
    uint32_t process = ml_maker_process(t->maker, (uint32_t)i + 200, 0, t->name);

    alloc(t, i,
          (struct ml_event){
              .space = ml_maker_space(t->maker, process, t->device, MEMLEDGER_BLOCK, t->name)});
}

static void strings(struct made *t, uint64_t i)
{
    (void)i;
    ml_maker_bytes(t->maker, "", 0);
}

static void steps(struct made *t, uint64_t i)
{
    event(t, (struct ml_event){.kind = ML_MARK, .args = {0, i}});
    alloc(t, i, (struct ml_event){.scope = 1});
}

static void samples(struct made *t, uint64_t i)
{
    event(t, (struct ml_event){.kind = ML_SAMPLE, .args = {t->device, 15, i, i, i, i}});
}

static void counters(struct made *t, uint64_t i)
{
    uint32_t object = ml_maker_object(t->maker, t->process, MEMLEDGER_COUNTER, -1, t->name);

    event(t, (struct ml_event){.kind = ML_COUNTER, .args = {object, i}});
}

static void refusals(struct made *t, uint64_t i)
{
    event(t, (struct ml_event){.kind = ML_OOM, .size = i});
}

/* ---- Training ---------------------------------------------------------- */

#define MODULES 32
#define BLOCKS_OF_CALL 4
#define BLOCKS_OF_PHASE 1024

enum phase { FORWARD, BACKWARD, OPTIMIZER, PHASES };

/* The modules, below scope 1, and once more below the phase of backward. */
static void training_scopes(struct made *t)
{
    uint32_t backward =
        ml_maker_scope(t->maker, 0, MEMLEDGER_SCOPE_PHASE, ml_maker_string(t->maker, "backward"));

    for (unsigned i = 0; i < MODULES; i++)
        ml_maker_scope(t->maker, 1, MEMLEDGER_SCOPE_MODULE, t->name);
    for (unsigned i = 0; i < MODULES; i++)
        ml_maker_scope(t->maker, backward, MEMLEDGER_SCOPE_MODULE, t->name);
}

static uint32_t training_scope(enum phase phase, uint64_t call)
{
    uint32_t module = (uint32_t)(call % MODULES);

    switch (phase) {
    case FORWARD: return 3 + module;
    case BACKWARD: return 3 + MODULES + module;
    default: return 0;
    }
}

static void training_begins(struct made *t, enum phase phase)
{
    static const char *const names[PHASES] = {"forward", "backward", "optimizer"};

    event(t, (struct ml_event){
                 .kind = ML_MARK,
                 .args = {MEMLEDGER_MARK_PHASE, 0, ml_maker_string(t->maker, names[phase])},
             });
}

/* Steps of three phases that leave blocks behind: activations of calls of modules, gradients
 * of nodes, which push no scope, the optimizer's state. One block of sixteen has a label. */
static void training(struct made *t, uint64_t i)
{
    enum phase phase = i / BLOCKS_OF_PHASE % PHASES;
    uint32_t scope = training_scope(phase, i / BLOCKS_OF_CALL);

    if (i == 0)
        training_scopes(t);
    if (i % BLOCKS_OF_PHASE == 0)
        training_begins(t, phase);
    if (phase == FORWARD && i % BLOCKS_OF_CALL == 0)
        event(t, (struct ml_event){.kind = ML_PUSH, .scope = scope});
    alloc(t, i, (struct ml_event){.scope = scope});
    if (i % 16 == 15)
        label(t, i, scope);
    if (phase == FORWARD && i % BLOCKS_OF_CALL == BLOCKS_OF_CALL - 1)
        event(t, (struct ml_event){.kind = ML_POP, .scope = 1});
}

static const struct {
    const char *name;
    void (*make)(struct made *t, uint64_t i);
    bool module; /* scope 1 */
} kinds[] = {
    {"blocks", blocks, true},      {"counters", counters, false}, {"live", live, false},
    {"modules", modules, true},    {"named", named, true},        {"processes", processes, false},
    {"refusals", refusals, false}, {"repeats", repeats, false},   {"samples", samples, false},
    {"scopes", scopes, true},      {"spaces", spaces, false},     {"stacks", stacks, false},
    {"steps", steps, true},        {"strings", strings, false},   {"threads", threads, true},
    {"training", training, true},
};

/* What all have: a process, a space on a GPU, a stack. */
static void begin(struct made *t, bool module)
{
    t->name = ml_maker_string(t->maker, "x");
    t->device = ml_maker_string(t->maker, "cuda:0");
    t->process = ml_maker_process(t->maker, 100, -1, t->name);
    ml_maker_thread(t->maker, t->process, 100, t->name);
    ml_maker_space(t->maker, t->process, t->device, MEMLEDGER_BLOCK, t->name);
    if (module)
        ml_maker_scope(t->maker, 0, MEMLEDGER_SCOPE_MODULE, t->name);
    t->stack = ml_maker_stack(t->maker, 0, ml_maker_frame(t->maker, -1, 16));
}

int main(int argc, char **argv)
{
    struct made t = {0};

    for (size_t k = 0; argc == 4 && k < sizeof(kinds) / sizeof(kinds[0]); k++) {
        if (strcmp(argv[2], kinds[k].name) != 0)
            continue;
        t.maker = ml_maker_create(argv[1], NULL);
        begin(&t, kinds[k].module);
        for (uint64_t i = 0; i < strtoull(argv[3], NULL, 10); i++)
            kinds[k].make(&t, i);
        return ml_maker_close(t.maker) < 0;
    }
    fprintf(stderr, "usage: hostile_trace FILE KIND COUNT\n");
    return 2;
}
