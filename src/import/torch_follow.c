/* torch_follow.c: the calls that consecutive stacks show, as scopes and marks, as if the program
 * had been recorded.
 *
 * A snapshot has no calls, only stacks of allocations and frees. Scopes that two consecutive stacks
 * have in common go on; the others end or begin between them. A module is called again when its
 * forward is back at the line where it was first seen.
 *
 * The autograd engine has its own thread for each GPU, which runs no Python code. If other stacks
 * have only Python frames, its stacks are empty.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>

#include "memledger/memledger.h"
#include "torch_device.h"

/* ---- Scopes ------------------------------------------------------------------------- */

static void leave_to(struct ml_torch_device *d, size_t depth)
{
    if (depth >= d->calls.len)
        return;
    ml_torch_pop_to(d, d->calls.items[depth].outer);
    d->calls.len = depth;
}

void ml_torch_leave_calls(struct ml_torch_device *d)
{
    leave_to(d, 0);
}

static int enter(struct ml_torch_device *d, const struct ml_torch_call *call)
{
    struct ml_torch_open_call open = {*call, call->frame, d->scope};

    if (ml_vec_push(&d->calls, open) < 0)
        return -ENOMEM;
    ml_torch_push(d, (struct ml_dict_scope){
                         .kind = call->kind, .name = call->name, .class_name = call->class_name});
    return 0;
}

static bool is_same_call(const struct ml_torch_open_call *open, const struct ml_torch_call *call)
{
    bool again = call->frame == open->call.frame && call->frame != open->last_frame;

    return open->call.kind == call->kind && open->call.name == call->name &&
           open->call.class_name == call->class_name && !again;
}

/* The number of calls, from the outermost on, that go on. */
static size_t common_depth(struct ml_torch_device *d, const struct ml_torch_call *calls,
                           size_t count)
{
    size_t depth = 0;

    while (depth < count && depth < d->calls.len &&
           is_same_call(&d->calls.items[depth], &calls[depth])) {
        d->calls.items[depth].last_frame = calls[depth].frame;
        depth++;
    }
    return depth;
}

static int go_to(struct ml_torch_device *d, const struct ml_torch_call *calls, size_t count)
{
    size_t depth = common_depth(d, calls, count);
    int r = 0;

    leave_to(d, depth);
    while (depth < count && r == 0)
        r = enter(d, &calls[depth++]);
    return r;
}

/* ---- Marks -------------------------------------------------------------------------- */

static bool is_annotated_step(const struct ml_torch_device *d)
{
    for (size_t i = 0; i < d->open.len; i++)
        if (d->open.items[i].optimizer)
            return true;
    return false;
}

/* The autograd engine may have no stacks. */
static bool is_training(const struct ml_torch_snapshot *t)
{
    return t->places.has_backward || t->allocs_lack_stacks;
}

/* Each call of the outermost module is a pass. What a training program allocates after it outside
 * of modules still belongs to forward: the loss. */
static bool goes_on(const struct ml_torch_device *d, enum ml_phase phase)
{
    if (phase == ML_PHASE_FORWARD)
        return d->phase == ML_PHASE_FORWARD && d->calls.len > 0;
    return d->phase == phase ||
           (d->phase == ML_PHASE_FORWARD && phase == ML_PHASE_NONE && is_training(d->t));
}

static void mark_phase(struct ml_torch_device *d, enum ml_phase phase)
{
    bool was_step = d->phase == ML_PHASE_OPTIMIZER;

    if (is_annotated_step(d) || goes_on(d, phase))
        return;
    ml_torch_leave_calls(d);
    if (was_step) {
        ml_torch_mark_phase(d, ML_PHASE_NONE);
        ml_torch_mark_step(d);
    }
    if (!was_step || phase != ML_PHASE_NONE)
        ml_torch_mark_phase(d, phase);
}

/* ---- Entries ------------------------------------------------------------------------ */

static int follow_engine(struct ml_torch_device *d)
{
    struct ml_torch_call backward = {
        .kind = MEMLEDGER_SCOPE_PHASE,
        .name = ml_dict_cstr(&d->t->sink->dict, ml_phase_name(ML_PHASE_BACKWARD)),
    };

    mark_phase(d, ML_PHASE_BACKWARD);
    return go_to(d, &backward, 1);
}

/* The annotation of a step already has its scopes. */
static size_t annotated_calls(const struct ml_torch_device *d, const struct ml_torch_place *place,
                              const struct ml_torch_call *calls)
{
    size_t count = 0;

    if (place->phase != ML_PHASE_OPTIMIZER || !is_annotated_step(d))
        return 0;
    while (count < place->call_count && calls[count].kind != MEMLEDGER_SCOPE_MODULE &&
           (count == 0 || calls[count].kind != MEMLEDGER_SCOPE_PHASE))
        count++;
    return count;
}

static int follow_stack(struct ml_torch_device *d, const struct ml_torch_history_entry *e)
{
    const struct ml_torch_place *place = ml_torch_place_of(&d->t->places, e->stack);
    const struct ml_torch_call *calls;
    size_t known;

    if (!place)
        return -ENOMEM;
    /* The end of a step may free what it used after its annotation has ended. */
    if (place->phase == ML_PHASE_OPTIMIZER && e->action == ML_TORCH_FREE_REQUESTED &&
        d->phase != ML_PHASE_OPTIMIZER)
        return 0;
    calls = d->t->places.calls.items + place->first_call;
    known = annotated_calls(d, place, calls);
    mark_phase(d, (enum ml_phase)place->phase);
    return go_to(d, calls + known, place->call_count - known);
}

/* Whether an entry of this kind comes with a stack in this snapshot. */
static bool has_stacks(const struct ml_torch_snapshot *t, const struct ml_torch_history_entry *e)
{
    switch ((enum ml_torch_action)e->action) {
    case ML_TORCH_ALLOC:
    case ML_TORCH_SEGMENT_ALLOC:
    case ML_TORCH_SEGMENT_MAP:
    case ML_TORCH_OOM: return t->allocs_have_stacks;
    case ML_TORCH_FREE_REQUESTED: return t->frees_have_stacks;
    default: return false;
    }
}

int ml_torch_follow(struct ml_torch_device *d, const struct ml_torch_history_entry *e)
{
    if (!d->t->places.telling || !has_stacks(d->t, e))
        return 0;
    return e->stack ? follow_stack(d, e) : follow_engine(d);
}

/* ---- Categories --------------------------------------------------------------------- */

static const struct ml_torch_place *place_of(struct ml_torch_device *d, uint32_t stack)
{
    return stack && d->t->places.telling ? ml_torch_place_of(&d->t->places, stack) : NULL;
}

struct ml_torch_purpose ml_torch_kept_purpose(struct ml_torch_device *d, uint32_t stack)
{
    const struct ml_torch_place *place = place_of(d, stack);

    if (!place)
        return (struct ml_torch_purpose){0};
    if (place->phase == ML_PHASE_OPTIMIZER && !place->workspace)
        return (struct ml_torch_purpose){.category = MEMLEDGER_OPTIMIZER_STATE};
    return (struct ml_torch_purpose){place->category, place->workspace};
}

/* The sizes that PyTorch chooses: for cuBLAS on Hopper and later, on other GPUs; for cuBLASLt. */
#define CUBLAS_BYTES (UINT64_C(32) << 20)
#define CUBLAS_BYTES_BEFORE UINT64_C(8519680) /* :4096:2:16:8 */
#define CUBLASLT_BYTES (UINT64_C(1) << 20)

/* A multiplication allocates its result, then a workspace if it is the first of its thread and
 * stream: the second block of the same call. The engine's thread has no stacks. Whether it is kept
 * for later calls shows in its lifetime. */
static bool may_be_workspace(struct ml_torch_device *d, const struct ml_torch_history_entry *e,
                             const struct ml_torch_place *place)
{
    bool is_blas = e->size == CUBLAS_BYTES || e->size == CUBLAS_BYTES_BEFORE;

    if (!d->t->places.telling || !d->t->allocs_have_stacks)
        return false;
    if (!e->stack)
        return is_blas;
    return place && place->multiplies && e->stack == d->last_stack &&
           (is_blas || e->size == CUBLASLT_BYTES);
}

struct ml_torch_purpose ml_torch_new_purpose(struct ml_torch_device *d,
                                             const struct ml_torch_history_entry *e)
{
    const struct ml_torch_place *place = place_of(d, e->stack);
    bool scratch = may_be_workspace(d, e, place);

    d->last_stack = e->stack;
    if (place && place->category != MEMLEDGER_OTHER)
        return (struct ml_torch_purpose){place->category, place->workspace};
    if (scratch)
        return (struct ml_torch_purpose){.category = MEMLEDGER_WORKSPACE};
    if (place && d->phase == ML_PHASE_NONE)
        return (struct ml_torch_purpose){.category = MEMLEDGER_INPUT};
    return (struct ml_torch_purpose){0};
}
