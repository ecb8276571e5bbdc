/* torch_scopes.c: see torch_scopes.h.
 *
 * Autograd numbers the nodes that a thread makes, one after the other. What a
 * thread made in a scope is therefore a range of numbers, which is told when the
 * thread goes on to another scope, before it does (ML_REC_TAPE).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "torch_scopes.h"

#include <stdatomic.h>

#include "memledger/memledger.h"
#include "phase_marks.h"
#include "record.h"
#include "torch_real.h"

/* at::sequence_number::peek, at::RecordFunction::currentThreadId. */
#define PEEK "_ZN2at15sequence_number4peekEv"
#define THREAD_ID "_ZN2at14RecordFunction15currentThreadIdEv"

/* The number of nodes that no thread made: those that add up a parameter's
 * gradient. They run right after the node whose result they take. */
#define NO_NUMBER UINT64_MAX

/* Of nodes that run nodes so many are remembered. Few: room that all threads have from
 * the start is short in a process that loads us late. */
#define NODES_MAX 8

#define FRAME __builtin_frame_address(0)

typedef uint64_t number_function(void);

static _Atomic(number_function *) next_number;
static _Atomic(number_function *) thread_id;

bool ml_torch_operators;

static __thread struct {
    bool on_tape; /* tape and told are known */
    uint64_t tape;
    uint64_t told; /* numbers before this one have been told */
    uint32_t modules;
    uint32_t optimizers;
    uint32_t backwards;
    const void *backward_frame; /* of the outermost */
    uint32_t nodes;
    struct {
        const void *frame;
        uint32_t recomputes; /* as it was outside */
    } open_nodes[NODES_MAX]; /* the first of the nodes */
    uint32_t recomputes;     /* the modules when a node began to run modules again, and one */
    uint64_t last_tape, last_number; /* of the last node that has a number */
} here;

void ml_torch_scopes_begin(void)
{
    number_function *peek = (number_function *)ml_torch_function(PEEK);
    number_function *id = (number_function *)ml_torch_function(THREAD_ID);

    if (!peek || !id)
        return;
    atomic_store_explicit(&thread_id, id, memory_order_relaxed);
    /* Pairs with the acquire load in tell_tape: with one comes the other. */
    atomic_store_explicit(&next_number, peek, memory_order_release);
}

/* What this thread made since it last told belongs to the scope it is still in. */
static void tell_tape(void)
{
    number_function *peek = atomic_load_explicit(&next_number, memory_order_acquire);
    uint64_t number;

    if (!peek)
        return;
    number = peek();
    if (ML_UNLIKELY(!here.on_tape)) {
        here.tape = atomic_load_explicit(&thread_id, memory_order_relaxed)();
        here.told = number;
        here.on_tape = true;
    }
    if (number != here.told) {
        uint64_t words[] = {ml_record_word(ML_REC_TAPE, 0, ml_now()), here.tape, here.told, number};
        ml_record(words, 4);
        here.told = number;
    }
}

/* ---- Ends without a leave -------------------------------------------------------- */

static void close_node(void)
{
    here.nodes--;
    if (here.nodes < NODES_MAX)
        here.recomputes = here.open_nodes[here.nodes].recomputes;
    ml_record_pop();
}

/* What is deeper on the stack than a function that runs has ended. */
static void settle(const void *frame)
{
    while (ML_UNLIKELY(here.nodes && here.nodes <= NODES_MAX &&
                       here.open_nodes[here.nodes - 1].frame < frame))
        close_node();
    if (ML_UNLIKELY(here.backwards && here.backward_frame < frame)) {
        here.backwards = 0;
        ml_mark_phase("");
    }
}

/* Where a call begins, one of the same frame has ended too. */
static void settle_before(const void *frame)
{
    settle((const char *)frame + 1);
}

void ml_torch_settle(void)
{
    settle(FRAME);
}

/* ---- Modules and optimizers ------------------------------------------------------- */

static bool is_outermost(void)
{
    return !here.modules && !here.nodes && !here.optimizers;
}

bool ml_torch_is_outermost(void)
{
    settle(FRAME);
    return is_outermost();
}

/* Activation checkpointing runs modules again while a node runs. */
static bool is_recompute(void)
{
    return here.nodes && !here.recomputes;
}

void ml_torch_enter_module(uint32_t name, uint32_t class_name)
{
    settle(FRAME);
    tell_tape();
    if (is_outermost())
        ml_mark_phase("forward");
    if (is_recompute()) {
        ml_push_phase("recompute");
        here.recomputes = here.modules + 1;
    }
    ml_record_push(MEMLEDGER_SCOPE_MODULE | class_name << 8, name);
    here.modules++;
}

void ml_torch_leave_module(void)
{
    settle(FRAME);
    tell_tape();
    ml_record_pop();
    if (here.recomputes == here.modules) {
        here.recomputes = 0;
        ml_record_pop();
    }
    here.modules--;
}

void ml_torch_enter_optimizer(uint32_t class_name)
{
    settle(FRAME);
    tell_tape();
    ml_mark_phase("optimizer");
    ml_push_phase("optimizer");
    ml_record_push(MEMLEDGER_SCOPE_USER, class_name);
    here.optimizers++;
}

void ml_torch_leave_optimizer(void)
{
    settle(FRAME);
    tell_tape();
    here.optimizers--;
    ml_record_pop();
    ml_record_pop();
    ml_mark_phase("");
}

/* ---- Backward ---------------------------------------------------------------------- */

void ml_torch_enter_backward(const void *frame)
{
    settle_before(frame);
    tell_tape();
    if (here.backwards++)
        return;
    here.backward_frame = frame;
    ml_mark_phase("backward");
}

void ml_torch_leave_backward(void)
{
    settle(FRAME);
    if (here.backwards && !--here.backwards)
        ml_mark_phase("");
}

static void open_node(const void *frame)
{
    if (here.nodes < NODES_MAX) {
        here.open_nodes[here.nodes].frame = frame;
        here.open_nodes[here.nodes].recomputes = here.recomputes;
    }
    here.nodes++;
    here.recomputes = 0; /* a node inside may begin again */
}

/* Nodes that a node makes, for the second derivative, belong where it belongs. */
void ml_torch_enter_node(const void *frame, uint64_t tape, uint64_t number, uint32_t operator_name)
{
    uint32_t flags = ml_torch_operators ? ML_TAPE_OPERATOR : 0;

    if (number == NO_NUMBER) {
        tape = here.last_tape;
        number = here.last_number;
    } else {
        here.last_tape = tape;
        here.last_number = number;
    }
    uint64_t words[] = {ml_record_word(ML_REC_PUSH_TAPE, 0, ml_now()), tape, number,
                        ml_pair(flags, operator_name)};
    settle_before(frame);
    tell_tape();
    ml_record(words, 4);
    open_node(frame);
}

void ml_torch_leave_node(void)
{
    settle(FRAME);
    tell_tape();
    if (here.nodes)
        close_node();
}
