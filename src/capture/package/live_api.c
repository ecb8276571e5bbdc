/* live_api.c: the table of functions in live_api.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "live_api.h"

#include <errno.h>

#include "cuda_attach.h"
#include "cuda_older.h"
#include "cuda_resolve.h"
#include "live_blocks.h"
#include "live_log.h"
#include "recorder.h"
#include "torch_real.h"
#include "torch_spaces.h"
#if ML_WITH_MXNET
#include "mxnet_late.h"
#include "mxnet_older.h"
#endif

static bool is_device(int device)
{
    return device >= 0 && device < (int)ML_LIVE_DEVICES;
}

/* ---- The table ------------------------------------------------------------------ */

static int switch_on(int attached)
{
    return ml_live_switch_on(attached ? ML_LIVE_ATTACH : ML_LIVE_PROGRAM);
}

/* Without a table nothing needs PyTorch's hooks: a recording that began with the process never
 * ends. */
static void end_attach(void)
{
    if (ml_live_switch_off(ML_LIVE_ATTACH))
        ml_torch_unpatch();
}

static int is_on(void)
{
    return (int)ml_live_on;
}

static uint32_t space_of(unsigned device)
{
    return device == ML_LIVE_HOST ? ml_torch_cpu_space() : ml_torch_cuda_space((int)device - 1);
}

static void record(const struct ml_live_block *b)
{
    uint32_t space = space_of(b->device);

    if (space)
        ml_record_alloc(space, (const void *)(uintptr_t)b->address, b->bytes);
}

/* The trace of a late recording begins with the live blocks. */
static void tell_trace(void)
{
    uint32_t recording = ml_recorder_recording();

    if (!recording || !ml_recorder_is_late())
        return;
    ml_live_tell(recording, record);
    ml_recorder_mark_older();
}

static void seeding(int on)
{
    if (on)
        ml_live_seed_begin();
    else
        ml_live_seed_end();
}

static int seed(int device, uint64_t address, uint64_t bytes)
{
    return is_device(device) && ml_live_seed((unsigned)device, address, bytes);
}

static int find(uint64_t address, uint64_t *ret_bytes, int *ret_device, int *ret_phase)
{
    struct ml_live_block b;

    if (!ml_live_block_find(address, &b))
        return 0;
    *ret_bytes = b.bytes;
    *ret_device = (int)b.device;
    *ret_phase = (int)b.phase;
    return 1;
}

static uint64_t bytes(int device, int phase)
{
    unsigned which = phase < 0 ? ML_PHASES : (unsigned)phase;

    return is_device(device) ? ml_live_bytes((unsigned)device, which) : 0;
}

static uint64_t peak(int device)
{
    return is_device(device) ? ml_live_peak((unsigned)device) : 0;
}

static void reset_peak(int device)
{
    if (is_device(device))
        ml_live_reset_peak((unsigned)device);
}

/* ---- Phases --------------------------------------------------------------------- */

static int set_process_phase(int phase)
{
    uint8_t wanted = phase > 0 && phase < ML_PHASES ? (uint8_t)phase : ML_PHASE_NONE;

    return atomic_exchange_explicit(&ml_process_phase, wanted, memory_order_relaxed);
}

static void rephase(const uint64_t *addresses, size_t count, int phase)
{
    for (size_t i = 0; i < count && phase >= 0 && phase < ML_PHASES; i++)
        ml_live_rephase(addresses[i], (enum ml_phase)phase);
}

static int log_end(uint64_t devices, uint64_t *others, size_t count, uint64_t *ret)
{
    return ml_live_log_end(devices, others, count, ret);
}

static void log_forward(int on)
{
    ml_live_log_forward(on);
}

/* ---- Late start ---------------------------------------------------------------- */

static int patch_torch(void)
{
    return ml_torch_patch();
}

static int patch_mxnet(void)
{
#if ML_WITH_MXNET
    return ml_recorder_is_late() && ml_mxnet_patch();
#else
    return 0;
#endif
}

static unsigned mxnet_seed(const void *array)
{
#if ML_WITH_MXNET
    return ml_mxnet_seed(array);
#else
    (void)array;
    return 0;
#endif
}

static uint64_t cuda_hook(uint64_t address)
{
    return (uintptr_t)ml_cuda_hand_out((void *)(uintptr_t)address);
}

static void cuda_block(int ordinal, uint64_t address, uint64_t size, int is_virtual)
{
    ml_cuda_older_block(ordinal, address, size, is_virtual);
}

static int recording(void)
{
    if (!ml_recorder_start())
        return ML_LIVE_NOT_RECORDED;
    return ml_recorder_is_late() ? ML_LIVE_RECORDED_LATE : ML_LIVE_RECORDED_FROM_START;
}

static int join(const char *session_dir)
{
    int r = ml_live_on ? ml_recorder_join(session_dir) : -ENOMEM;

    if (r)
        return r;
    if (ml_session->cuda != ML_CUDA_OFF)
        ml_cuda_attach_begin();
    tell_trace();
    return 0;
}

static int leave(void)
{
    int r = ml_recorder_leave();

    ml_torch_close_spaces();
    return r;
}

extern const struct ml_live_api memledger_live_v1;

__attribute__((visibility("default"))) const struct ml_live_api memledger_live_v1 = {
    .version = ML_LIVE_API_VERSION,
    .struct_bytes = sizeof(struct ml_live_api),
    .switch_on = switch_on,
    .end_attach = end_attach,
    .is_on = is_on,
    .seeding = seeding,
    .seed = seed,
    .find = find,
    .bytes = bytes,
    .peak = peak,
    .reset_peak = reset_peak,
    .missed = ml_live_missed,
    .tell = tell_trace,
    .set_process_phase = set_process_phase,
    .rephase = rephase,
    .log_begin = ml_live_log_begin,
    .log_end = log_end,
    .log_forward = log_forward,
    .log_take = ml_live_log_take,
    .patch_torch = patch_torch,
    .patch_mxnet = patch_mxnet,
    .mxnet_seed = mxnet_seed,
    .cuda_hook = cuda_hook,
    .cuda_block = cuda_block,
    .recording = recording,
    .join = join,
    .leave = leave,
    .after_leave = ml_recorder_drop_rings,
};
