/* make_oom.c: a model that does not fit on its GPU, as recorded from PyTorch: a failed
 * allocation that the allocator recovers from, then one in forward that ends the run; a part of
 * make_traces.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cuda_spaces.h"
#include "trace_scene.h"

#define BASE UINT64_C(0x7f0000000000)
#define PLACE(n) (BASE + (n)*1024 * MIB)
#define TOTAL (1000 * MIB)
#define CONTEXT (150 * MIB)

struct model {
    uint32_t root, layer[2], optimizer;
    uint32_t torch_stack, line;
    uint64_t reserved; /* bytes of segments */
};

static struct model define_model(struct scene *s)
{
    uint32_t gpt = text(s, "GPT"), block = text(s, "Block");
    uint32_t library =
        ml_maker_library(s->m, 0, 0x1000, 0x100000, "/opt/torch/lib/libc10_cuda.so", "");
    struct model m = {
        .root = ml_maker_class_scope(s->m, 0, MEMLEDGER_SCOPE_MODULE, gpt, gpt),
        .optimizer = ml_maker_scope(s->m, 0, MEMLEDGER_SCOPE_PHASE, text(s, "optimizer")),
    };

    m.layer[0] =
        ml_maker_class_scope(s->m, m.root, MEMLEDGER_SCOPE_MODULE, text(s, "layers.0"), block);
    m.layer[1] =
        ml_maker_class_scope(s->m, m.root, MEMLEDGER_SCOPE_MODULE, text(s, "layers.1"), block);
    m.torch_stack = ml_maker_stack(s->m, 0, ml_maker_frame(s->m, library, 0x40));
    m.line = ml_maker_stack(s->m, 0,
                            ml_maker_python_frame(s->m, "Block.forward", "/home/me/model.py", 42));
    return m;
}

static void sample(struct scene *s, const struct model *m)
{
    uint64_t used = CONTEXT + m->reserved;

    event(s, 1000,
          (struct ml_event){.kind = ML_SAMPLE,
                            .args = {text(s, "cuda:0"),
                                     ML_SAMPLE_USED | ML_SAMPLE_FREE | ML_SAMPLE_TOTAL, used,
                                     TOTAL - used, TOTAL}});
}

static void segment(struct scene *s, struct model *m, uint64_t addr, uint64_t bytes)
{
    event(s, MS,
          (struct ml_event){.kind = ML_ALLOC,
                            .space = s->driver,
                            .stack = m->torch_stack,
                            .addr = addr,
                            .size = bytes});
    m->reserved += bytes;
    sample(s, m);
}

static void block(struct scene *s, const struct model *m, uint64_t addr, uint64_t bytes)
{
    event(s, 1000,
          (struct ml_event){
              .kind = ML_ALLOC, .space = s->blocks, .stack = m->line, .addr = addr, .size = bytes});
}

static void named(struct scene *s, struct model *m, uint64_t place, uint64_t bytes,
                  const char *name, uint64_t category)
{
    segment(s, m, PLACE(place), bytes);
    block(s, m, PLACE(place), bytes);
    label(s, PLACE(place), name, category);
}

static void refuse(struct scene *s, uint32_t space, uint64_t bytes, uint32_t stack)
{
    event(s, 1000,
          (struct ml_event){.kind = ML_OOM, .space = space, .size = bytes, .stack = stack});
}

/* Its cache is enough once it is freed. */
static void recover(struct scene *s, struct model *m)
{
    segment(s, m, PLACE(1), 500 * MIB);
    block(s, m, PLACE(1), 500 * MIB);
    release(s, s->blocks, PLACE(1));
    refuse(s, s->driver, 600 * MIB, 0);
    release(s, s->driver, PLACE(1));
    m->reserved -= 500 * MIB;
    segment(s, m, PLACE(2), 600 * MIB);
    block(s, m, PLACE(2), 600 * MIB);
    release(s, s->blocks, PLACE(2));
    release(s, s->driver, PLACE(2));
    m->reserved -= 600 * MIB;
}

static void train(struct scene *s, struct model *m)
{
    named(s, m, 3, 60 * MIB, "layers.0.weight", MEMLEDGER_PARAMETER);
    named(s, m, 4, 80 * MIB, "layers.1.weight", MEMLEDGER_PARAMETER);
    named(s, m, 5, 60 * MIB, "layers.0.weight", MEMLEDGER_GRADIENT);
    named(s, m, 6, 80 * MIB, "layers.1.weight", MEMLEDGER_GRADIENT);
    named(s, m, 7, 120 * MIB, "layers.0.weight.exp_avg", MEMLEDGER_OPTIMIZER_STATE);
    named(s, m, 8, 160 * MIB, "layers.1.weight.exp_avg", MEMLEDGER_OPTIMIZER_STATE);
    push(s, m->root);
    push(s, m->layer[0]);
    segment(s, m, PLACE(9), 100 * MIB);
    block(s, m, PLACE(9), 90 * MIB);
    segment(s, m, PLACE(10), 20 * MIB);
    block(s, m, PLACE(10), 6 * MIB);
    block(s, m, PLACE(10) + 6 * MIB, 6 * MIB);
    pop(s, m->root);
    push(s, m->layer[1]);
    refuse(s, s->driver, 240 * MIB, 0);
    refuse(s, s->driver, 240 * MIB, 0);
    refuse(s, s->blocks, 240 * MIB, m->line);
}

int ml_write_oom(const char *directory)
{
    struct ml_maker_opts opts = {.start_wall_ns = START_WALL};
    struct scene s = {0};
    struct model m;
    char path[4096];
    int r;

    snprintf(path, sizeof(path), "%s/oom.mled", directory);
    unlink(path);
    s.m = ml_maker_create(path, &opts);
    define_places(&s, "python3 train.py");
    s.driver =
        ml_maker_space(s.m, 0, text(&s, "cuda:0"), MEMLEDGER_DRIVER, text(&s, ML_CUDA_MEMORY));
    s.blocks = ml_maker_space(s.m, 0, text(&s, "cuda:0"), MEMLEDGER_BLOCK, text(&s, "torch"));
    m = define_model(&s);
    recover(&s, &m);
    train(&s, &m);
    event(&s, MS, (struct ml_event){.kind = ML_PROCESS_END, .args = {0, 1 + (1 << 8)}});
    r = ml_maker_close(s.m);
    if (r < 0)
        fprintf(stderr, "make_traces: %s: %s\n", path, strerror(-r));
    return r;
}
