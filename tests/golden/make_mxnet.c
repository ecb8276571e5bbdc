/* make_mxnet.c: MXNet on a GPU: a pool that returns whole allocations of the driver, keeps them
 * and reuses them, names of MXNet 2, samples by process; for the files of the old profilers. A
 * part of make_traces.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cuda_spaces.h"
#include "trace_scene.h"

#define POOL UINT64_C(0x7f0000000000)
#define TOTAL (16160 * MIB)
#define UUID "0f8fad5b_d9cb_469f_a165_70867728950e_"

struct mxnet {
    uint32_t driver, context, pinned, host;
};

static struct mxnet define_mxnet(struct scene *s)
{
    uint32_t gpu = text(s, "cuda:0"), name = text(s, "mxnet");
    struct mxnet x;

    ml_maker_setting(s->m, "version", "0.1.0");
    ml_maker_setting(s->m, "command", "python3 lstm.py --gpu");
    ml_maker_setting(s->m, "host", "workstation");
    ml_maker_process(s->m, 4000, -1, text(s, "python3 lstm.py --gpu"));
    ml_maker_thread(s->m, 0, 4000, text(s, "python3"));
    x.context = ml_maker_space(s->m, 0, gpu, MEMLEDGER_DRIVER, text(s, ML_CUDA_CONTEXT));
    x.driver = ml_maker_space(s->m, 0, gpu, MEMLEDGER_DRIVER, text(s, ML_CUDA_MEMORY));
    s->blocks = ml_maker_space(s->m, 0, gpu, MEMLEDGER_BLOCK, name);
    x.pinned = ml_maker_space(s->m, 0, text(s, "cpu_pinned"), MEMLEDGER_BLOCK, name);
    x.host = ml_maker_space(s->m, 0, text(s, "cpu"), MEMLEDGER_BLOCK, name);
    return x;
}

static void sample(struct scene *s, uint64_t used)
{
    uint64_t bits = ML_SAMPLE_USED | ML_SAMPLE_FREE | ML_SAMPLE_TOTAL | ML_SAMPLE_BY_PROCESS |
                    UINT64_C(1) << ML_SAMPLE_PROCESS_SHIFT;

    event(s, MS,
          (struct ml_event){.kind = ML_SAMPLE,
                            .args = {text(s, "cuda:0"), bits, used, TOTAL - used, TOTAL, used}});
}

/* What the pool gives out, first taken from the driver if `taken` is not 0. */
static void give(struct scene *s, const struct mxnet *x, unsigned place, uint64_t taken,
                 uint64_t asked, const char *name)
{
    uint64_t addr = POOL + place * 64 * MIB;

    if (taken)
        alloc(s, x->driver, addr, taken);
    alloc(s, s->blocks, addr, asked);
    if (name)
        label(s, addr, name, MEMLEDGER_OTHER);
}

static void lstm_run(struct scene *s)
{
    struct mxnet x = define_mxnet(s);
    uint32_t zeros = ml_maker_scope(s->m, 0, MEMLEDGER_SCOPE_OPERATOR, text(s, "_zeros"));

    alloc(s, x.context, 1, 300 * MIB);
    sample(s, 300 * MIB);
    alloc(s, x.host, 0x5000, 3 * MIB);
    alloc(s, x.pinned, 0x7e0000000000, MIB);
    give(s, &x, 0, 4 * MIB, 4 * MIB - 96, "in_arg:embed_weight");
    give(s, &x, 1, 4 * MIB, 4 * MIB - 96, "arg_grad:embed_weight");
    give(s, &x, 2, 2 * MIB, 2 * MIB, "in_arg:" UUID "l0_i2h_weight");
    give(s, &x, 3, 8 * MIB, 7 * MIB, "data_entry:lstm_t0_oedge0");
    sample(s, 318 * MIB);
    push(s, zeros);
    give(s, &x, 4, 4096, 8, NULL);
    pop(s, 0);
    give(s, &x, 5, 4096, 8, "resource:temp_space (sample_op.h +365)");
    give(s, &x, 6, 4 * MIB, 3 * MIB, "optimizer_state:mean:embed_weight");
    give(s, &x, 7, MIB, MIB, "skip me");
    release(s, s->blocks, POOL + 3 * 64 * MIB);
    give(s, &x, 3, 0, 8 * MIB, "data_entry:lstm_t1_oedge0"); /* used again */
    release(s, s->blocks, POOL + 6 * 64 * MIB);              /* kept by the pool */
    release(s, s->blocks, POOL + 5 * 64 * MIB);
    release(s, x.driver, POOL + 5 * 64 * MIB); /* given back */
    sample(s, 324 * MIB);
    event(s, MS, (struct ml_event){.kind = ML_PROCESS_END, .args = {0, 1}});
}

int ml_write_mxnet(const char *directory)
{
    struct ml_maker_opts opts = {.start_wall_ns = START_WALL};
    struct scene s = {0};
    char path[4096];
    int r;

    snprintf(path, sizeof(path), "%s/mxnet.mled", directory);
    unlink(path);
    s.m = ml_maker_create(path, &opts);
    lstm_run(&s);
    r = ml_maker_close(s.m);
    if (r < 0)
        fprintf(stderr, "make_traces: %s: %s\n", path, strerror(-r));
    return r;
}
