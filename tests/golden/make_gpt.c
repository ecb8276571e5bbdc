/* make_gpt.c: three steps of a model whose modules have names and classes, for tree,
 * layers, table and steps; a part of make_traces.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "trace_scene.h"

#define KIB UINT64_C(1024)
#define WEIGHTS UINT64_C(0x20000000000)
#define TENSORS UINT64_C(0x20100000000)
#define LAYERS 2

/* The scopes of a model: forward, and the same modules in backward. */
struct gpt {
    uint32_t root, embed, layer[LAYERS], linear[LAYERS], head, loss;
    uint32_t back_loss, back_head, back_layer[LAYERS], back_linear[LAYERS];
    uint32_t optimizer;
};

static uint32_t layer_scope(struct scene *s, uint32_t parent, unsigned layer, const char *below,
                            uint32_t class_name)
{
    char name[64];

    snprintf(name, sizeof(name), "layers.%u%s", layer, below);
    return ml_maker_class_scope(s->m, parent, MEMLEDGER_SCOPE_MODULE, text(s, name), class_name);
}

static struct gpt define_model(struct scene *s)
{
    uint32_t block = text(s, "Block"), linear = text(s, "Linear"), gpt = text(s, "GPT"),
             loss = text(s, "CrossEntropyLoss"), head = text(s, "head");
    struct gpt g = {.root = ml_maker_class_scope(s->m, 0, MEMLEDGER_SCOPE_MODULE, gpt, gpt)};
    uint32_t back;

    g.embed = ml_maker_class_scope(s->m, g.root, MEMLEDGER_SCOPE_MODULE, text(s, "embed"),
                                   text(s, "Embedding"));
    for (unsigned i = 0; i < LAYERS; i++) {
        g.layer[i] = layer_scope(s, g.root, i, "", block);
        g.linear[i] = layer_scope(s, g.layer[i], i, ".mlp.0", linear);
    }
    g.head = ml_maker_class_scope(s->m, g.root, MEMLEDGER_SCOPE_MODULE, head, linear);
    g.loss = ml_maker_class_scope(s->m, 0, MEMLEDGER_SCOPE_MODULE, loss, loss);
    back = ml_maker_scope(s->m, 0, MEMLEDGER_SCOPE_PHASE, text(s, "backward"));
    g.back_loss = ml_maker_class_scope(s->m, back, MEMLEDGER_SCOPE_MODULE, loss, loss);
    back = ml_maker_class_scope(s->m, back, MEMLEDGER_SCOPE_MODULE, gpt, gpt);
    g.back_head = ml_maker_class_scope(s->m, back, MEMLEDGER_SCOPE_MODULE, head, linear);
    for (unsigned i = LAYERS; i-- > 0;) {
        g.back_layer[i] = layer_scope(s, back, i, "", block);
        g.back_linear[i] = layer_scope(s, g.back_layer[i], i, ".mlp.0", linear);
    }
    g.optimizer = ml_maker_scope(s->m, 0, MEMLEDGER_SCOPE_PHASE, text(s, "optimizer"));
    return g;
}

/* A block in a scope, without a push: as autograd's threads have them. */
static void tensor(struct scene *s, uint32_t scope, uint64_t addr, uint64_t bytes)
{
    uint32_t around = s->scope;

    s->scope = scope;
    alloc(s, s->blocks, addr, bytes);
    s->scope = around;
}

static void model_weights(struct scene *s)
{
    static const struct {
        const char *name;
        uint64_t bytes;
    } weights[] = {{"embed.weight", 2 * MIB},
                   {"position", 128 * KIB},
                   {"layers.0.mlp.0.weight", MIB},
                   {"layers.1.mlp.0.weight", MIB},
                   {"head.weight", 2 * MIB}};

    for (uint64_t i = 0; i < sizeof(weights) / sizeof(weights[0]); i++) {
        alloc(s, s->blocks, WEIGHTS + i * 16 * MIB, weights[i].bytes);
        label(s, WEIGHTS + i * 16 * MIB, weights[i].name, MEMLEDGER_PARAMETER);
    }
}

static void mark(struct scene *s, uint64_t kind, uint64_t number, const char *name)
{
    event(s, 1000, (struct ml_event){.kind = ML_MARK, .args = {kind, number, text(s, name)}});
}

static void model_forward(struct scene *s, const struct gpt *g)
{
    mark(s, MEMLEDGER_MARK_PHASE, 0, "forward");
    push(s, g->root);
    push(s, g->embed);
    tensor(s, g->embed, TENSORS, 512 * KIB);
    pop(s, g->root);
    for (unsigned i = 0; i < LAYERS; i++) {
        push(s, g->layer[i]);
        push(s, g->linear[i]);
        tensor(s, g->linear[i], TENSORS + (1 + i) * 16 * MIB, 3 * MIB);
        tensor(s, g->linear[i], TENSORS + 90 * MIB, 4 * MIB);
        release(s, s->blocks, TENSORS + 90 * MIB);
        pop(s, g->layer[i]);
        tensor(s, g->layer[i], TENSORS + (4 + i) * 16 * MIB, 512 * KIB);
        pop(s, g->root);
    }
    push(s, g->head);
    tensor(s, g->head, TENSORS + 100 * MIB, 6 * MIB);
    pop(s, g->root);
    pop(s, 0);
    push(s, g->loss);
    tensor(s, g->loss, TENSORS + 110 * MIB, 6 * MIB);
    pop(s, 0);
}

static void model_backward(struct scene *s, const struct gpt *g, uint64_t step)
{
    mark(s, MEMLEDGER_MARK_PHASE, 0, "backward");
    tensor(s, g->back_loss, TENSORS + 120 * MIB, 6 * MIB);
    release(s, s->blocks, TENSORS + 110 * MIB);
    tensor(s, g->back_head, TENSORS + 130 * MIB, 512 * KIB);
    release(s, s->blocks, TENSORS + 100 * MIB);
    release(s, s->blocks, TENSORS + 120 * MIB);
    for (unsigned i = LAYERS; i-- > 0;) {
        tensor(s, g->back_linear[i], TENSORS + 140 * MIB, 3 * MIB);
        if (step == 0) {
            tensor(s, g->back_linear[i], WEIGHTS + (8 + i) * 16 * MIB, MIB);
            label(s, WEIGHTS + (8 + i) * 16 * MIB,
                  i ? "layers.1.mlp.0.weight" : "layers.0.mlp.0.weight", MEMLEDGER_GRADIENT);
        }
        release(s, s->blocks, TENSORS + 140 * MIB);
        release(s, s->blocks, TENSORS + (1 + i) * 16 * MIB);
        release(s, s->blocks, TENSORS + (4 + i) * 16 * MIB);
    }
    release(s, s->blocks, TENSORS + 130 * MIB);
    release(s, s->blocks, TENSORS);
    mark(s, MEMLEDGER_MARK_PHASE, 0, "");
}

static void model_optimizer(struct scene *s, const struct gpt *g, uint64_t step)
{
    mark(s, MEMLEDGER_MARK_PHASE, 0, "optimizer");
    push(s, g->optimizer);
    tensor(s, g->optimizer, TENSORS + 150 * MIB, MIB);
    for (unsigned i = 0; i < LAYERS && step == 0; i++) {
        tensor(s, g->optimizer, WEIGHTS + (12 + i) * 16 * MIB, MIB);
        label(s, WEIGHTS + (12 + i) * 16 * MIB,
              i ? "layers.1.mlp.0.weight.exp_avg" : "layers.0.mlp.0.weight.exp_avg",
              MEMLEDGER_OPTIMIZER_STATE);
    }
    release(s, s->blocks, TENSORS + 150 * MIB);
    pop(s, 0);
    mark(s, MEMLEDGER_MARK_PHASE, 0, "");
}

static void model_run(struct scene *s)
{
    struct gpt g;

    define_places(s, "python3 gpt.py");
    model_weights(s);
    alloc(s, s->heap, 0x5000, 70000);
    g = define_model(s);
    for (uint64_t step = 0; step < 3; step++) {
        mark(s, MEMLEDGER_MARK_STEP, step, "");
        tensor(s, 0, TENSORS + 200 * MIB, 64 * KIB);
        label(s, TENSORS + 200 * MIB, "input.0", MEMLEDGER_INPUT);
        model_forward(s, &g);
        model_backward(s, &g, step);
        release(s, s->blocks, TENSORS + 200 * MIB);
        model_optimizer(s, &g, step);
    }
    event(s, MS, (struct ml_event){.kind = ML_OOM, .space = s->blocks, .size = 4096 * MIB});
    event(s, MS, (struct ml_event){.kind = ML_PROCESS_END, .args = {0, 1}});
}

int ml_write_gpt(const char *directory)
{
    struct ml_maker_opts opts = {.start_wall_ns = START_WALL};
    struct scene s = {0};
    char path[4096];
    int r;

    snprintf(path, sizeof(path), "%s/gpt.mled", directory);
    unlink(path);
    s.m = ml_maker_create(path, &opts);
    model_run(&s);
    r = ml_maker_close(s.m);
    if (r < 0)
        fprintf(stderr, "make_traces: %s: %s\n", path, strerror(-r));
    return r;
}
