/* make_leaky.c: ten steps of a small model that keeps blocks it should free, for leaks, compare
 * and table --temporary; a part of make_traces.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <unistd.h>

#include "trace_scene.h"

#define KIB UINT64_C(1024)
#define WEIGHTS UINT64_C(0x30000000000)
#define TENSORS UINT64_C(0x30100000000)
#define LOSSES UINT64_C(0x30200000000)
#define SCORES UINT64_C(0x30300000000)
#define STEPS 10

struct world {
    struct scene s;
    uint32_t net, fc, words_forward, words_backward, words_none;
    uint32_t model_stack, loss_stack, score_stack;
};

static uint32_t stack_of(struct scene *s, uint32_t around, const char *function, uint32_t line)
{
    return ml_maker_stack(s->m, around,
                          ml_maker_python_frame(s->m, function, "/home/me/train.py", line));
}

static void define_world(struct world *w)
{
    struct scene *s = &w->s;
    uint32_t main_stack, net = text(s, "Net");

    define_places(s, "python3 leaky.py");
    w->net = ml_maker_class_scope(s->m, 0, MEMLEDGER_SCOPE_MODULE, net, net);
    w->fc = ml_maker_class_scope(s->m, w->net, MEMLEDGER_SCOPE_MODULE, text(s, "fc"),
                                 text(s, "Linear"));
    w->words_forward = text(s, "forward");
    w->words_backward = text(s, "backward");
    w->words_none = text(s, "");
    main_stack = stack_of(s, 0, "main", 60);
    w->model_stack = stack_of(s, stack_of(s, main_stack, "step", 31), "Net.forward", 12);
    w->loss_stack = stack_of(s, main_stack, "step", 33);
    w->score_stack = stack_of(s, main_stack, "evaluate", 45);
}

static void make(struct world *w, uint32_t stack, uint64_t addr, uint64_t size)
{
    event(&w->s, MS,
          (struct ml_event){
              .kind = ML_ALLOC, .space = w->s.blocks, .stack = stack, .addr = addr, .size = size});
}

static void phase(struct world *w, uint32_t name)
{
    event(&w->s, 1000, (struct ml_event){.kind = ML_MARK, .args = {MEMLEDGER_MARK_PHASE, 0, name}});
}

/* Forward makes a workspace and an output, and every third step a score. The output is
 * let go in backward; the loss and the score are not. */
static void train_step(struct world *w, uint64_t number)
{
    struct scene *s = &w->s;

    event(s, 1000, (struct ml_event){.kind = ML_MARK, .args = {MEMLEDGER_MARK_STEP, number}});
    phase(w, w->words_forward);
    push(s, w->net);
    push(s, w->fc);
    make(w, w->model_stack, TENSORS, 512 * KIB);
    release(s, s->blocks, TENSORS);
    make(w, w->model_stack, TENSORS + MIB, 256 * KIB + number % 2 * 64 * KIB);
    pop(s, w->net);
    pop(s, 0);
    make(w, w->loss_stack, LOSSES + number * MIB, 64 * KIB);
    phase(w, w->words_backward);
    release(s, s->blocks, TENSORS + MIB);
    phase(w, w->words_none);
    if (number % 2 == 0)
        make(w, w->score_stack, SCORES + number * MIB, 4 * KIB);
}

int ml_write_leaky(const char *directory)
{
    struct ml_maker_opts opts = {.start_wall_ns = START_WALL};
    struct world w = {0};
    char path[4096];
    int r;

    snprintf(path, sizeof(path), "%s/leaky.mled", directory);
    unlink(path);
    w.s.m = ml_maker_create(path, &opts);
    define_world(&w);
    alloc(&w.s, w.s.blocks, WEIGHTS, MIB);
    label(&w.s, WEIGHTS, "fc.weight", MEMLEDGER_PARAMETER);
    for (uint64_t i = 0; i < STEPS; i++)
        train_step(&w, i);
    event(&w.s, MS, (struct ml_event){.kind = ML_PROCESS_END, .args = {0, 1}});
    r = ml_maker_close(w.s.m);
    if (r < 0)
        fprintf(stderr, "cannot write %s\n", path);
    return r;
}
