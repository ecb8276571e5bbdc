/* mxnet_works.c: see mxnet_works.h.
 *
 * Push makes an operator ready to be run. The operator's address is the key: if it is pushed again
 * before it has run, it runs as many times, in that order.
 *
 * PushSync may leave a function to the next Push of its thread, with others. They are gathered
 * under the thread's key until the operator that contains them is known.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "mxnet_works.h"

#include <stddef.h>
#include <string.h>

#include "memledger/memledger.h"
#include "mxnet_features.h"
#include "mxnet_operators.h"
#include "mxnet_outputs.h"
#include "mxnet_parts.h"
#include "names.h"
#include "record.h"
#include "recorder.h"
#include "stack_wanted.h"
#include "unwound.h"

#define BULK_NAME "ImperativeBulk"
#define FILL_NAME "SetValueOp"
#define NORMAL 0   /* mxnet::FnProperty::kNormal */
#define RESULT 2ul /* in an operator's address: the key of its output */
#define PARTS 1ul  /* in an operator's address: the key of its parts */

typedef void push_function(void *engine, void *op, uint64_t context, int priority, bool profiling);
typedef void push_sync_function(void *engine, void *function, uint64_t context, const void *reads,
                                const void *writes, int property, int priority, const char *name);
typedef void push_async_function(void *engine, void *function, uint64_t context, const void *reads,
                                 const void *writes, int property, int priority, const char *name,
                                 bool wait);
typedef int bulk_size_function(const void *engine);

bool ml_mxnet_works_on;

static push_function *real_push;
static push_sync_function *real_push_sync;
static push_async_function *real_push_async;
static bulk_size_function *bulk_size;
static uint32_t operator_name_at;

/* The functions of this thread that wait for its next Push, and the key of the parts that it is
 * running. */
static __thread struct {
    uint32_t parts;
    uint64_t context; /* of the first */
    bool has_late;    /* the function being pushed follows that Push */
    uint32_t late_name, late_stack;
    uint64_t late_context;
    bool is_imperative; /* its next Push is that of PushAsync, not that of a graph */
    uintptr_t running;  /* 0: no bulk */
    uintptr_t fill;     /* the operator that it runs, if that fills an array */
    bool fills_head_gradients;
    unsigned head_gradients; /* filled so far */
} thread_work;

/* ---- Records -------------------------------------------------------------------- */

/* @name  with ML_WORK_IMPERATIVE or without */
static void hand_over(uintptr_t key, uint32_t stack, uint32_t name)
{
    uint64_t words[] = {ml_record_word(ML_REC_WORK, 0, ml_now()), key, ml_pair(stack, name)};

    ml_record(words, 3);
}

static void move(uintptr_t from, uintptr_t to)
{
    uint64_t words[] = {ml_record_word(ML_REC_MOVE_WORK, 0, ml_now()), from, to};

    ml_record(words, 3);
}

static void take(uintptr_t key, uint32_t name)
{
    uint64_t words[] = {ml_record_word(ML_REC_PUSH_WORK, 0, ml_now()), key, ml_pair(0, name)};

    ml_record(words, 3);
}

/* Recorded here because the thread that runs the work has no Python. */
static uint32_t stack_here(void)
{
    if (ML_LIKELY(ml_stacks_mode != ML_STACKS_PYTHON && ml_stacks_mode != ML_STACKS_ALL))
        return 0;
    return ml_stack_wanted();
}

uintptr_t ml_mxnet_begin_work(const void *op, const char *name, uint32_t scope)
{
    uintptr_t outer = thread_work.running;

    thread_work.running = name && !strcmp(name, BULK_NAME) ? (uintptr_t)op | PARTS : 0;
    thread_work.fill = name && !strcmp(name, FILL_NAME) ? (uintptr_t)op : 0;
    take((uintptr_t)op, scope);
    return outer;
}

void ml_mxnet_end_work(uintptr_t outer)
{
    thread_work.running = outer;
    if (ML_UNLIKELY(thread_work.fill))
        ml_mxnet_expect_no_more(thread_work.fill | RESULT);
    thread_work.fill = 0;
}

uintptr_t ml_mxnet_result_key(void)
{
    return thread_work.fill ? thread_work.fill | RESULT : 0;
}

void ml_mxnet_begin_head_gradients(void)
{
    thread_work.fills_head_gradients = true;
    thread_work.head_gradients = 0;
}

void ml_mxnet_end_head_gradients(void)
{
    thread_work.fills_head_gradients = false;
}

/* ---- Parts ---------------------------------------------------------------------- */

bool ml_mxnet_begin_part(void)
{
    if (!thread_work.running)
        return false;
    take(thread_work.running, 0);
    return true;
}

static uintptr_t gathered_key(void)
{
    return (uintptr_t)&thread_work;
}

static void gather(uint32_t stack, uint32_t name, uint64_t context)
{
    hand_over(gathered_key(), stack, name | ML_WORK_IMPERATIVE);
    if (!thread_work.parts++)
        thread_work.context = context;
}

/* The gathered functions are in the operator that is being pushed. */
static void hand_parts_over(uintptr_t op)
{
    move(gathered_key(), op | PARTS);
    thread_work.parts = 0;
    if (thread_work.has_late) {
        thread_work.has_late = false;
        gather(thread_work.late_stack, thread_work.late_name, thread_work.late_context);
    }
}

/* ---- Hooks ---------------------------------------------------------------------- */

static void push(void *engine, void *op, uint64_t context, int priority, bool profiling)
{
    uint32_t flags = thread_work.is_imperative ? ML_WORK_IMPERATIVE : 0;
    const char *name;

    thread_work.is_imperative = false;
    memcpy(&name, (const char *)op + operator_name_at, sizeof(name));
    if (!strcmp(name, BULK_NAME))
        hand_parts_over((uintptr_t)op);
    if (thread_work.fills_head_gradients && !strcmp(name, FILL_NAME))
        ml_mxnet_expect_head_gradient((uintptr_t)op | RESULT, thread_work.head_gradients++);
    hand_over((uintptr_t)op, stack_here(), flags);
    real_push(engine, op, context, priority, profiling);
}

/* PushAsync calls Push before anything else that might push, so none is ever inside another while
 * the flag is set: false is also the value from before. */
static void pushed(void)
{
    thread_work.is_imperative = false;
}
ML_UNWOUND(ml_mxnet_push_unwound, pushed)

/* Makes an operator that runs once, and pushes it. */
static ML_NOINLINE void push_async(void *engine, void *function, uint64_t context,
                                   const void *reads, const void *writes, int property,
                                   int priority, const char *name, bool wait)
{
    ML_TELL_UNWOUND(ml_mxnet_push_unwound);
    thread_work.is_imperative = true;
    real_push_async(engine, function, context, reads, writes, property, priority, name, wait);
    pushed();
}

/* Functions of different contexts cannot be gathered together: the engine first pushes those that
 * were gathered before. */
static void push_sync(void *engine, void *function, uint64_t context, const void *reads,
                      const void *writes, int property, int priority, const char *name)
{
    if (property == NORMAL && !priority && bulk_size(engine) && ml_mxnet_watch_part(function)) {
        thread_work.has_late = thread_work.parts && thread_work.context != context;
        thread_work.late_stack = stack_here();
        thread_work.late_name = ml_mxnet_operator_number(name);
        thread_work.late_context = context;
        if (!thread_work.has_late)
            gather(thread_work.late_stack, thread_work.late_name, context);
    }
    real_push_sync(engine, function, context, reads, writes, property, priority, name);
}

/* ---- Feature --------------------------------------------------------------------- */

#define PUSH "_ZN5mxnet6engine14ThreadedEngine4PushEPNS0_3OprENS_7ContextEib"
#define PUSH_SYNC                                                                                  \
    "_ZN5mxnet6engine14ThreadedEngine8PushSyncESt8functionIFvNS_10RunContextEEENS_7ContextERKSt6"  \
    "vectorIPNS0_3VarESaIS9_EESD_NS_10FnPropertyEiPKc"
#define PUSH_ASYNC_1                                                                               \
    "_ZN5mxnet6engine14ThreadedEngine9PushAsyncESt8functionIFvNS_10RunContextENS0_18"              \
    "CallbackOnCompleteEEENS_7ContextERKSt6vectorIPNS0_3VarESaISA_EESE_NS_10FnPropertyEiPKcb"
#define PUSH_ASYNC_2                                                                               \
    "_ZN5mxnet6engine14ThreadedEngine9PushAsyncESt8functionIFvNS_10RunContextENS0_15"              \
    "CallbackOnStartENS0_18CallbackOnCompleteEEENS_7ContextERKSt6vectorIPNS0_3VarESaISB_EESF_NS_"  \
    "10FnPropertyEiPKcb"
#define BULK_SIZE "_ZNK5mxnet6engine14ThreadedEngine9bulk_sizeEv"

const struct ml_mxnet_feature *ml_mxnet_works_feature(const struct ml_mxnet_layout *layout)
{
    const char *push_async_symbol = layout->version < 20000 ? PUSH_ASYNC_1 : PUSH_ASYNC_2;
    static struct ml_mxnet_feature feature;

    feature = (struct ml_mxnet_feature){
        .exchanges = {{ML_MXNET_PER_DEVICE_VTABLE, PUSH, (void *)push, (void **)&real_push},
                      {ML_MXNET_POOLED_VTABLE, PUSH, (void *)push, (void **)&real_push},
                      {ML_MXNET_PER_DEVICE_VTABLE, push_async_symbol, (void *)push_async,
                       (void **)&real_push_async},
                      {ML_MXNET_POOLED_VTABLE, push_async_symbol, (void *)push_async,
                       (void **)&real_push_async},
                      {ML_MXNET_PER_DEVICE_VTABLE, PUSH_SYNC, (void *)push_sync,
                       (void **)&real_push_sync},
                      {ML_MXNET_POOLED_VTABLE, PUSH_SYNC, (void *)push_sync,
                       (void **)&real_push_sync},
                      {NULL, BULK_SIZE, NULL, (void **)&bulk_size}},
        .is_on = &ml_mxnet_works_on,
    };

    operator_name_at = layout->operator_name_at;
    ml_mxnet_parts_begin(layout);
    return &feature;
}
