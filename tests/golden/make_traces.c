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
#include "trace_scene.h"

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

/* The program's own API calls. */
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

static int write_run(const char *directory, const char *name, const char *command,
                     void (*run)(struct scene *s))
{
    struct ml_maker_opts opts = {.start_wall_ns = START_WALL};
    struct scene s = {0};
    char path[4096];
    int r;

    snprintf(path, sizeof(path), "%s/%s", directory, name);
    unlink(path);
    s.m = ml_maker_create(path, &opts);
    ml_maker_setting(s.m, "version", "0.1.0");
    ml_maker_setting(s.m, "command", command);
    ml_maker_setting(s.m, "host", "workstation");
    if (strstr(command, "cuda"))
        ml_maker_setting(s.m, "gpu cuda:0", "NVIDIA H200");
    ml_maker_process(s.m, 4000, -1, text(&s, command));
    ml_maker_thread(s.m, 0, 4000, text(&s, "train"));
    run(&s);
    r = ml_maker_close(s.m);
    if (r < 0)
        fprintf(stderr, "make_traces: %s: %s\n", path, strerror(-r));
    return r;
}

/* ---- Three steps of a network of modules ------------------------------- */

#define TENSORS UINT64_C(0x20000000000)

struct network {
    uint32_t gpt, up, down;                /* forward */
    uint32_t gpt_back, up_back, down_back; /* backward */
    uint32_t loss_back, optimizer, adam;
};

static uint32_t module(struct scene *s, uint32_t parent, const char *name)
{
    return ml_maker_scope(s->m, parent, MEMLEDGER_SCOPE_MODULE, text(s, name));
}

static struct network define_network(struct scene *s)
{
    uint32_t backward = ml_maker_scope(s->m, 0, MEMLEDGER_SCOPE_PHASE, text(s, "backward"));
    uint32_t mlp, mlp_back;
    struct network n = {.gpt = module(s, 0, "GPT"), .gpt_back = module(s, backward, "GPT")};

    mlp = module(s, n.gpt, "blocks.0.mlp");
    mlp_back = module(s, n.gpt_back, "blocks.0.mlp");
    n.up = module(s, mlp, "blocks.0.mlp.up");
    n.down = module(s, mlp, "blocks.0.mlp.down");
    n.up_back = module(s, mlp_back, "blocks.0.mlp.up");
    n.down_back = module(s, mlp_back, "blocks.0.mlp.down");
    n.loss_back =
        ml_maker_scope(s->m, backward, MEMLEDGER_SCOPE_OPERATOR, text(s, "NllLossBackward0"));
    n.optimizer = ml_maker_scope(s->m, 0, MEMLEDGER_SCOPE_PHASE, text(s, "optimizer"));
    n.adam = ml_maker_scope(s->m, n.optimizer, MEMLEDGER_SCOPE_USER, text(s, "AdamW"));
    return n;
}

static void tensor(struct scene *s, unsigned number, uint64_t bytes)
{
    alloc(s, s->blocks, TENSORS + number * 256 * MIB, bytes);
}

static void drop(struct scene *s, unsigned number)
{
    release(s, s->blocks, TENSORS + number * 256 * MIB);
}

static void call_tensor(struct scene *s, unsigned number, const char *name, uint64_t category)
{
    label(s, TENSORS + number * 256 * MIB, name, category);
}

static void phase(struct scene *s, const char *name)
{
    event(s, 1000,
          (struct ml_event){.kind = ML_MARK, .args = {MEMLEDGER_MARK_PHASE, 0, text(s, name)}});
}

static void step(struct scene *s, uint64_t number)
{
    event(s, 1000, (struct ml_event){.kind = ML_MARK, .args = {MEMLEDGER_MARK_STEP, number, 0}});
}

/* One layer: its output, and scratch that is gone before it returns. */
static void call_layer(struct scene *s, uint32_t parent, uint32_t layer, unsigned output,
                       uint64_t bytes)
{
    push(s, layer);
    tensor(s, output, bytes);
    tensor(s, 30, 4 * MIB);
    drop(s, 30);
    pop(s, parent);
}

static void network_forward(struct scene *s, const struct network *n, uint64_t batch)
{
    tensor(s, 0, batch * 1024);
    phase(s, "forward");
    push(s, n->gpt);
    call_tensor(s, 0, "input.0", MEMLEDGER_INPUT);
    call_layer(s, n->gpt, n->up, 1, 4 * batch * MIB);
    call_layer(s, n->gpt, n->down, 2, batch * MIB);
    pop(s, 0);
    tensor(s, 3, 512); /* the loss */
}

/* Nodes of the tape run in scopes without a push. */
static void network_backward(struct scene *s, const struct network *n, uint64_t batch)
{
    phase(s, "backward");
    s->scope = n->loss_back;
    tensor(s, 10, batch * MIB);
    s->scope = n->down_back;
    tensor(s, 21, 16 * MIB);
    tensor(s, 11, 4 * batch * MIB);
    drop(s, 10);
    drop(s, 2);
    s->scope = n->up_back;
    tensor(s, 20, 16 * MIB);
    drop(s, 11);
    drop(s, 1);
    s->scope = 0;
    phase(s, "");
    call_tensor(s, 20, "blocks.0.mlp.up.weight", MEMLEDGER_GRADIENT);
    call_tensor(s, 21, "blocks.0.mlp.down.weight", MEMLEDGER_GRADIENT);
    drop(s, 3);
    drop(s, 0);
}

static void network_optimizer(struct scene *s, const struct network *n, bool first)
{
    phase(s, "optimizer");
    push(s, n->optimizer);
    push(s, n->adam);
    for (unsigned i = 0; first && i < 2; i++)
        tensor(s, 24 + i, 16 * MIB);
    tensor(s, 31, 16 * MIB);
    drop(s, 31);
    pop(s, n->optimizer);
    pop(s, 0);
    phase(s, "");
    if (first)
        call_tensor(s, 24, "blocks.0.mlp.up.weight.exp_avg", MEMLEDGER_OPTIMIZER_STATE);
    drop(s, 20);
    drop(s, 21);
}

static void network_run(struct scene *s)
{
    struct network n = define_network(s);

    s->blocks = gpu_space(s, "cuda:0", MEMLEDGER_BLOCK, ML_TORCH_SPACE_NAME);
    tensor(s, 22, 16 * MIB);
    tensor(s, 23, 16 * MIB);
    for (unsigned i = 0; i < 3; i++) {
        uint64_t batch = i == 1 ? 8 : 4;

        if (i == 0)
            step(s, i);
        network_forward(s, &n, batch);
        if (i == 0) {
            call_tensor(s, 22, "blocks.0.mlp.up.weight", MEMLEDGER_PARAMETER);
            call_tensor(s, 23, "blocks.0.mlp.down.weight", MEMLEDGER_PARAMETER);
        }
        network_backward(s, &n, batch);
        network_optimizer(s, &n, i == 0);
        if (i < 2)
            step(s, i + 1);
    }
    event(s, MS, (struct ml_event){.kind = ML_PROCESS_END, .args = {0, 1}});
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
        write_run(directory, "gpu.mled", "python3 train.py --device cuda", gpu_run) < 0 ||
        write_run(directory, "python.mled", "python3 train.py --device cuda", python_run) < 0 ||
        write_run(directory, "modules.mled", "python3 gpt.py", network_run) < 0 ||
        ml_write_gpt(directory) < 0 || ml_write_mxnet(directory) < 0 ||
        ml_write_leaky(directory) < 0 || ml_write_oom(directory) < 0)
        return 1;
    return 0;
}
