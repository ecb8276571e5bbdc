/* make_traces.c: writes the traces under traces/, from which the golden reports
 * are made. They are stored, so that later versions are tested with files of
 * this one; run it only to add to them:
 *
 *     make_traces DIRECTORY
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cuda_spaces.h"
#include "memledger/memledger.h"
#include "trace_maker.h"

#define MIB UINT64_C(1048576)
#define MS UINT64_C(1000000)
#define START_WALL UINT64_C(1767225600000000000) /* 2026-01-01 */

/* A trace being written, and where its events are. */
struct scene {
    struct ml_maker *m;
    uint64_t now_ns;
    uint32_t thread, scope;
    uint32_t heap, driver, segments, blocks, child_heap; /* spaces */
};

static void event(struct scene *s, uint64_t after_ns, struct ml_event e)
{
    s->now_ns += after_ns;
    e.time_ns = s->now_ns;
    e.thread = s->thread;
    e.scope = s->scope;
    ml_maker_event(s->m, &e);
}

static void alloc(struct scene *s, uint32_t space, uint64_t addr, uint64_t size)
{
    event(s, MS, (struct ml_event){.kind = ML_ALLOC, .space = space, .addr = addr, .size = size});
}

static void release(struct scene *s, uint32_t space, uint64_t addr)
{
    event(s, MS, (struct ml_event){.kind = ML_FREE, .space = space, .addr = addr});
}

static void label(struct scene *s, uint64_t addr, const char *name, uint64_t category)
{
    event(s, 1000,
          (struct ml_event){.kind = ML_LABEL,
                            .space = s->blocks,
                            .addr = addr,
                            .args = {ml_maker_string(s->m, name), category}});
}

static uint32_t text(struct scene *s, const char *string)
{
    return ml_maker_string(s->m, string);
}

static void push(struct scene *s, uint32_t scope)
{
    s->scope = scope;
    event(s, 1000, (struct ml_event){.kind = ML_PUSH});
}

static void pop(struct scene *s, uint32_t scope)
{
    s->scope = scope;
    event(s, 1000, (struct ml_event){.kind = ML_POP});
}

static void define_places(struct scene *s, const char *command)
{
    uint32_t parent, cpu = text(s, "cpu"), gpu = text(s, "cuda:0");

    ml_maker_setting(s->m, "version", "0.1.0");
    ml_maker_setting(s->m, "command", command);
    ml_maker_setting(s->m, "host", "workstation");
    parent = ml_maker_process(s->m, 4000, -1, text(s, command));
    ml_maker_process(s->m, 4010, parent, text(s, "python3 loader.py"));
    ml_maker_thread(s->m, 0, 4000, text(s, "train"));
    ml_maker_thread(s->m, 0, 4001, text(s, "autograd"));
    ml_maker_thread(s->m, 1, 4010, text(s, "loader"));
    s->heap = ml_maker_space(s->m, 0, cpu, MEMLEDGER_BLOCK, text(s, "malloc"));
    s->driver = ml_maker_space(s->m, 0, gpu, MEMLEDGER_DRIVER, text(s, "cuMemAlloc"));
    s->segments = ml_maker_space(s->m, 0, gpu, MEMLEDGER_POOL, text(s, "caching"));
    s->blocks = ml_maker_space(s->m, 0, gpu, MEMLEDGER_BLOCK, text(s, "tensor"));
    s->child_heap = ml_maker_space(s->m, 1, cpu, MEMLEDGER_BLOCK, text(s, "malloc"));
}

/* One training step: weights that stay, what forward and backward need. */
static void training_step(struct scene *s, uint64_t batch)
{
    uint32_t model = ml_maker_scope(s->m, 0, MEMLEDGER_SCOPE_MODULE, text(s, "model"));
    uint32_t conv = ml_maker_scope(s->m, model, MEMLEDGER_SCOPE_MODULE, text(s, "conv1"));
    uint32_t fc = ml_maker_scope(s->m, model, MEMLEDGER_SCOPE_MODULE, text(s, "fc"));

    alloc(s, s->driver, 0x10000000000, 64 * MIB);
    alloc(s, s->segments, 0x10000000000, 40 * MIB);
    push(s, model);
    push(s, conv);
    alloc(s, s->blocks, 0x10000000000, 2 * MIB);
    label(s, 0x10000000000, "conv1.weight", MEMLEDGER_PARAMETER);
    pop(s, model);
    push(s, fc);
    alloc(s, s->blocks, 0x10000200000, 8 * MIB);
    label(s, 0x10000200000, "fc.weight", MEMLEDGER_PARAMETER);
    pop(s, model);
    pop(s, 0);
    event(s, 5 * MS, (struct ml_event){.kind = ML_MARK, .args = {MEMLEDGER_MARK_STEP, 1, 0}});
    event(
        s, 1000,
        (struct ml_event){.kind = ML_MARK, .args = {MEMLEDGER_MARK_PHASE, 0, text(s, "forward")}});
    push(s, conv);
    alloc(s, s->blocks, 0x10000c00000, batch * MIB);
    label(s, 0x10000c00000, "conv1.output", MEMLEDGER_ACTIVATION);
    event(s, MS,
          (struct ml_event){.kind = ML_ALLOC_EX,
                            .space = s->blocks,
                            .addr = 0x10001800000,
                            .size = 512,
                            .args = {500, 7}});
    release(s, s->blocks, 0x10001800000);
    pop(s, 0);
    event(s, 30 * MS,
          (struct ml_event){.kind = ML_SAMPLE,
                            .args = {text(s, "cuda:0"), 7, 600 * MIB, 400 * MIB, 1000 * MIB, 0}});
    s->thread = 1;
    push(s, conv);
    alloc(s, s->blocks, 0x10002000000, 3 * MIB);
    label(s, 0x10002000000, "conv1.weight.grad", MEMLEDGER_GRADIENT);
    release(s, s->blocks, 0x10000c00000);
    pop(s, 0);
    s->thread = 0;
    release(s, s->blocks, 0x10002000000);
}

/* The host side: malloc, realloc, a forked child. */
static void host_side(struct scene *s)
{
    event(s, 10 * MS, (struct ml_event){.kind = ML_OOM, .space = s->blocks, .size = 4096 * MIB});
    alloc(s, s->heap, 0x5000, 1000);
    event(s, MS, (struct ml_event){.kind = ML_MOVE, .space = s->heap, .addr = 0x5000});
    alloc(s, s->heap, 0x6000, 3000);
    alloc(s, s->heap, 0x8000, 100000);
    event(
        s, MS,
        (struct ml_event){.kind = ML_FREE_RANGE, .space = s->heap, .addr = 0x9000, .size = 0x1000});
    s->thread = 2;
    alloc(s, s->child_heap, 0x5000, 70000);
    release(s, s->child_heap, 0x6000); /* the parent's block */
    event(s, MS, (struct ml_event){.kind = ML_PROCESS_END, .args = {1, 1 + (2 << 8)}});
    s->thread = 0;
}

/* What the program tells about itself. */
static void own_instruments(struct scene *s)
{
    uint32_t domain = ml_maker_object(s->m, 0, MEMLEDGER_DOMAIN, -1, text(s, "loader"));
    uint32_t task = ml_maker_object(s->m, 0, MEMLEDGER_TASK, domain, text(s, "decode"));
    uint32_t counter = ml_maker_object(s->m, 0, MEMLEDGER_COUNTER, domain, text(s, "queue"));

    event(s, MS, (struct ml_event){.kind = ML_START, .args = {task}});
    event(s, MS, (struct ml_event){.kind = ML_COUNTER, .args = {counter, 9}}); /* zigzag: -5 */
    event(s, MS, (struct ml_event){.kind = ML_STOP, .args = {task}});
    event(s, MS,
          (struct ml_event){.kind = ML_MARKER,
                            .args = {domain + 1, text(s, "epoch end"), text(s, "process")}});
}

static int write_training(const char *path, const char *command, uint64_t batch, bool spoilt)
{
    struct scene s = {0};
    struct ml_maker_opts opts = {
        .block_events = 16, .start_wall_ns = START_WALL, .no_index = spoilt};

    unlink(path);
    s.m = ml_maker_create(path, &opts);
    define_places(&s, command);
    training_step(&s, batch);
    host_side(&s);
    own_instruments(&s);
    if (spoilt)
        event(&s, MS,
              (struct ml_event){.kind = ML_LOST, .args = {1234, 100 * MS, ML_LOST_RING_FULL}});
    event(&s, MS, (struct ml_event){.kind = ML_THREAD_END});
    return ml_maker_close(s.m);
}

/* ---- A training step on a GPU, for the ledger -------------------------- */

#define GPU_TOTAL (143771 * MIB)
#define GPU_RESERVED (615 * MIB)
#define SEGMENT UINT64_C(0x7f0000000000)

static uint32_t gpu_space(struct scene *s, const char *device, uint32_t level, const char *name)
{
    return ml_maker_space(s->m, 0, text(s, device), level, text(s, name));
}

static void gpu_sample(struct scene *s, uint64_t bits, uint64_t used)
{
    bits |= ML_SAMPLE_USED | ML_SAMPLE_FREE | ML_SAMPLE_TOTAL;
    event(s, MS,
          (struct ml_event){
              .kind = ML_SAMPLE,
              .args = {text(s, "cuda:0"), bits, used, GPU_TOTAL - GPU_RESERVED - used, GPU_TOTAL}});
}

static void gpu_tensor(struct scene *s, uint32_t scope, uint64_t offset, uint64_t bytes,
                       const char *name, uint64_t category)
{
    push(s, scope);
    alloc(s, s->blocks, SEGMENT + offset, bytes);
    label(s, SEGMENT + offset, name, category);
    pop(s, 0);
}

static void gpu_tensors(struct scene *s)
{
    uint32_t model = ml_maker_scope(s->m, 0, MEMLEDGER_SCOPE_MODULE, text(s, "model"));
    uint32_t conv = ml_maker_scope(s->m, model, MEMLEDGER_SCOPE_MODULE, text(s, "conv1"));
    uint32_t fc = ml_maker_scope(s->m, model, MEMLEDGER_SCOPE_MODULE, text(s, "fc"));

    gpu_tensor(s, conv, 0, 12 * MIB, "conv1.weight", MEMLEDGER_PARAMETER);
    gpu_tensor(s, fc, 12 * MIB, 200 * MIB, "fc.weight", MEMLEDGER_PARAMETER);
    gpu_tensor(s, conv, 212 * MIB, 256 * MIB, "conv1.output", MEMLEDGER_ACTIVATION);
    gpu_tensor(s, fc, 500 * MIB, 4 * MIB + 512, "fc.output", MEMLEDGER_ACTIVATION);
}

/* An allocation that a library asked for. */
static void gpu_owned(struct scene *s, uint32_t space, uint64_t addr, uint64_t size,
                      const char *library)
{
    uint32_t number = ml_maker_library(s->m, 0, 0x1000, 0x100000, library, "");
    uint32_t frame = ml_maker_frame(s->m, number, 0x40);

    event(s, MS,
          (struct ml_event){.kind = ML_ALLOC,
                            .space = space,
                            .stack = ml_maker_stack(s->m, 0, frame),
                            .addr = addr,
                            .size = size});
}

static void gpu_run(struct scene *s)
{
    uint32_t memory = gpu_space(s, "cuda:0", MEMLEDGER_DRIVER, ML_CUDA_MEMORY);
    uint32_t modules = gpu_space(s, "cuda:0", MEMLEDGER_DRIVER, ML_CUDA_MODULES);
    uint32_t pools = gpu_space(s, "cuda:0", MEMLEDGER_DRIVER, ML_CUDA_POOLS);
    uint32_t async = gpu_space(s, "cuda:0", MEMLEDGER_BLOCK, ML_CUDA_ASYNC);

    s->blocks = gpu_space(s, "cuda:0", MEMLEDGER_BLOCK, "tensors");
    gpu_sample(s, 0, 0);
    alloc(s, gpu_space(s, "cuda:0", MEMLEDGER_DRIVER, ML_CUDA_CONTEXT), 1, 527 * MIB);
    gpu_sample(s, ML_SAMPLE_INSIDE, 527 * MIB);
    gpu_owned(s, modules, 1, 60 * MIB, "/opt/torch/lib/libtorch_cuda.so");
    gpu_owned(s, modules, 2, 32 * MIB, "/opt/nvidia/libcublas.so.13");
    gpu_owned(s, memory, SEGMENT, 512 * MIB, "/opt/torch/lib/libc10_cuda.so");
    gpu_owned(s, memory, SEGMENT + 4096 * MIB, 64 * MIB, "/opt/nvidia/libcublas.so.13");
    gpu_owned(s, memory, SEGMENT + 5120 * MIB, 32 * MIB, "/opt/nvidia/libcublasLt.so.13");
    alloc(s, gpu_space(s, "cuda:0", MEMLEDGER_DRIVER, ML_CUDA_ROUNDING), 1, 2 * MIB);
    alloc(s, pools, 1, 64 * MIB);
    gpu_owned(s, async, SEGMENT + 8192 * MIB, 40 * MIB, "/opt/site-packages/cupy/cuda/memory.so");
    alloc(s, gpu_space(s, ML_CUDA_MANAGED_DEVICE, MEMLEDGER_DRIVER, ML_CUDA_MANAGED),
          SEGMENT + 16384 * MIB, 64 * MIB);
    gpu_sample(s, ML_SAMPLE_INSIDE, 1361 * MIB); /* the peak: 4 MiB more than the book and all */
    gpu_tensors(s);
    release(s, async, SEGMENT + 8192 * MIB);
    release(s, pools, 1);
    release(s, s->blocks, SEGMENT + 212 * MIB);
    gpu_sample(s, ML_SAMPLE_INSIDE | ML_SAMPLE_LAST, 1228 * MIB);
    event(s, MS, (struct ml_event){.kind = ML_PROCESS_END, .args = {0, 1}});
    gpu_sample(s, 0, 0);
}

/* ---- Modules with a class, blocks with a Python stack ------------------ */

static void python_run(struct scene *s)
{
    uint32_t train = ml_maker_python_frame(s->m, "train", "/home/me/train.py", 10);
    uint32_t forward = ml_maker_python_frame(s->m, "Block.forward", "/home/me/model.py", 42);
    uint32_t outer = ml_maker_stack(s->m, 0, train);
    uint32_t inner = ml_maker_stack(s->m, outer, forward);
    uint32_t model =
        ml_maker_class_scope(s->m, 0, MEMLEDGER_SCOPE_MODULE, text(s, "GPT"), text(s, "GPT"));
    uint32_t block = ml_maker_class_scope(s->m, model, MEMLEDGER_SCOPE_MODULE, text(s, "blocks.0"),
                                          text(s, "Block"));

    s->blocks = gpu_space(s, "cuda:0", MEMLEDGER_BLOCK, "torch");
    push(s, model);
    push(s, block);
    event(s, MS,
          (struct ml_event){
              .kind = ML_ALLOC, .space = s->blocks, .stack = inner, .addr = 64, .size = MIB});
    event(
        s, MS,
        (struct ml_event){.kind = ML_OOM, .space = s->blocks, .stack = outer, .size = 4096 * MIB});
    pop(s, model);
    pop(s, 0);
}

/* ------------------------------------------------------------------------ */

static int write_run(const char *directory, const char *name, void (*run)(struct scene *s))
{
    struct ml_maker_opts opts = {.start_wall_ns = START_WALL};
    struct scene s = {0};
    char path[4096];
    int r;

    snprintf(path, sizeof(path), "%s/%s", directory, name);
    unlink(path);
    s.m = ml_maker_create(path, &opts);
    ml_maker_setting(s.m, "version", "0.1.0");
    ml_maker_setting(s.m, "command", "python3 train.py --device cuda");
    ml_maker_setting(s.m, "host", "workstation");
    ml_maker_setting(s.m, "gpu cuda:0", "NVIDIA H200");
    ml_maker_process(s.m, 4000, -1, text(&s, "python3 train.py --device cuda"));
    ml_maker_thread(s.m, 0, 4000, text(&s, "train"));
    run(&s);
    r = ml_maker_close(s.m);
    if (r < 0)
        fprintf(stderr, "make_traces: %s: %s\n", path, strerror(-r));
    return r;
}

/* ---- Three steps of a model with names, for tree, layers, table, steps -- */

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

static int write_model(const char *directory)
{
    struct ml_maker_opts opts = {.start_wall_ns = START_WALL};
    struct scene s = {0};
    struct gpt g;
    char path[4096];

    snprintf(path, sizeof(path), "%s/modules.mled", directory);
    unlink(path);
    s.m = ml_maker_create(path, &opts);
    define_places(&s, "python3 gpt.py");
    model_weights(&s);
    alloc(&s, s.heap, 0x5000, 70000);
    g = define_model(&s);
    for (uint64_t step = 0; step < 3; step++) {
        mark(&s, MEMLEDGER_MARK_STEP, step, "");
        tensor(&s, 0, TENSORS + 200 * MIB, 64 * KIB);
        label(&s, TENSORS + 200 * MIB, "input.0", MEMLEDGER_INPUT);
        model_forward(&s, &g);
        model_backward(&s, &g, step);
        release(&s, s.blocks, TENSORS + 200 * MIB);
        model_optimizer(&s, &g, step);
    }
    event(&s, MS, (struct ml_event){.kind = ML_OOM, .space = s.blocks, .size = 4096 * MIB});
    event(&s, MS, (struct ml_event){.kind = ML_PROCESS_END, .args = {0, 1}});
    return ml_maker_close(s.m);
}

/* ------------------------------------------------------------------------ */

static int write_one(const char *directory, const char *name, const char *command, uint64_t batch,
                     bool spoilt)
{
    char path[4096];
    int r;

    snprintf(path, sizeof(path), "%s/%s", directory, name);
    r = write_training(path, command, batch, spoilt);
    if (r == 0 && spoilt && truncate(path, 2000) < 0)
        r = -errno;
    if (r < 0)
        fprintf(stderr, "make_traces: %s: %s\n", path, strerror(-r));
    return r;
}

int main(int argc, char **argv)
{
    const char *directory = argc > 1 ? argv[1] : ".";

    if (write_one(directory, "train-32.mled", "python3 train.py --batch 32", 16, false) < 0 ||
        write_one(directory, "train-64.mled", "python3 train.py --batch 64", 32, false) < 0 ||
        write_one(directory, "train-cut.mled", "python3 train.py --batch 32", 16, true) < 0 ||
        write_run(directory, "gpu.mled", gpu_run) < 0 ||
        write_run(directory, "python.mled", python_run) < 0 || write_model(directory) < 0)
        return 1;
    return 0;
}
