/* gpu_seed.c: see gpu_seed.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu_seed.h"

#include "compiler.h"
#include "cuda_spaces.h"
#include "memledger/memledger.h"
#include "trace_maker.h"

#define DEVICE "cuda:0"
#define MIB ((uint64_t)1 << 20)
#define KNOWN (ML_SAMPLE_USED | ML_SAMPLE_FREE | ML_SAMPLE_TOTAL)

static uint64_t now_ns;

static void event(struct ml_maker *m, struct ml_event event)
{
    event.time_ns = now_ns;
    now_ns += 1000;
    ml_maker_event(m, &event);
}

static void sample(struct ml_maker *m, const char *device, uint64_t bits, uint64_t used)
{
    event(m, (struct ml_event){
                 .kind = ML_SAMPLE,
                 .args = {ml_maker_string(m, device), bits, used, 100 * MIB, 1000 * MIB, 7 * MIB}});
}

static uint32_t space(struct ml_maker *m, const char *device, uint32_t level, const char *name)
{
    return ml_maker_space(m, 0, ml_maker_string(m, device), level, ml_maker_string(m, name));
}

static void alloc(struct ml_maker *m, uint32_t space, uint64_t addr, uint64_t size)
{
    event(m, (struct ml_event){.kind = ML_ALLOC, .space = space, .addr = addr, .size = size});
}

static void end(struct ml_maker *m, uint32_t space, uint64_t addr)
{
    event(m, (struct ml_event){.kind = ML_FREE, .space = space, .addr = addr});
}

/* What the driver takes, and what is on other devices. */
static void charge(struct ml_maker *m)
{
    static const char *const charges[] = {ML_CUDA_CONTEXT,  ML_CUDA_MODULES, ML_CUDA_LIMITS,
                                          ML_CUDA_ROUNDING, ML_CUDA_OTHER,   ML_CUDA_ARRAYS,
                                          ML_CUDA_POOLS,    ML_CUDA_GRAPHS,  ML_CUDA_VIRTUAL};

    for (unsigned i = 0; i < ML_ARRAY_SIZE(charges); i++)
        alloc(m, space(m, DEVICE, MEMLEDGER_DRIVER, charges[i]), 1, (i + 1) * MIB);
    alloc(m, space(m, ML_CUDA_MANAGED_DEVICE, MEMLEDGER_DRIVER, ML_CUDA_MANAGED), 0x7000, 9 * MIB);
    alloc(m, space(m, ML_CUDA_IMPORTED_DEVICE, MEMLEDGER_DRIVER, ML_CUDA_IMPORTED), 0x8000, MIB);
    alloc(m, space(m, "cpu", MEMLEDGER_BLOCK, ML_CUDA_PINNED), 0x9000, MIB);
}

/* Blocks in a pool in the driver's memory: labelled, with stacks, freed. */
static void nest(struct ml_maker *m)
{
    uint32_t driver = space(m, DEVICE, MEMLEDGER_DRIVER, ML_CUDA_MEMORY);
    uint32_t pool = space(m, DEVICE, MEMLEDGER_POOL, "pool");
    uint32_t tensors = space(m, DEVICE, MEMLEDGER_BLOCK, "tensors");
    uint32_t stack = ml_maker_stack(m, 0, ml_maker_frame(m, -1, 0x1234));

    alloc(m, driver, 0x100000, 20 * MIB);
    alloc(m, pool, 0x100000, 10 * MIB);
    event(
        m,
        (struct ml_event){
            .kind = ML_ALLOC, .space = tensors, .stack = stack, .addr = 0x100000, .size = 4 * MIB});
    event(m, (struct ml_event){.kind = ML_LABEL,
                               .space = tensors,
                               .addr = 0x100000,
                               .args = {ml_maker_string(m, "weights"), MEMLEDGER_PARAMETER}});
    alloc(m, tensors, 0x600000, 2 * MIB);
    alloc(m, tensors, 0x90000000, MIB); /* a stray one */
    sample(m, DEVICE, KNOWN | ML_SAMPLE_INSIDE, 70 * MIB);
    sample(m, "cpu", KNOWN, 50 * MIB);
    end(m, tensors, 0x600000);
    end(m, driver, 0x100000);
}

int gpu_seed_write(const char *path)
{
    struct ml_maker *m = ml_maker_create(path, &(struct ml_maker_opts){.stored = true});

    ml_maker_process(m, 100, -1, ml_maker_string(m, "program"));
    ml_maker_thread(m, 0, 100, ml_maker_string(m, "main"));
    ml_maker_setting(m, "gpu " DEVICE, "NVIDIA H200");
    sample(m, DEVICE, KNOWN, 3 * MIB);
    charge(m);
    nest(m);
    sample(m, DEVICE, KNOWN, 60 * MIB);
    event(m, (struct ml_event){.kind = ML_PROCESS_END, .args = {0, 1}});
    return ml_maker_close(m);
}
