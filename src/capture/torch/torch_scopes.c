/* torch_scopes.c: see torch_scopes.h.
 *
 * Autograd numbers the nodes that a thread creates, one after the other. The nodes that a thread
 * created in a scope are therefore a range of numbers, which is recorded before the thread goes on
 * to another scope (ML_REC_TAPE).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "torch_scopes.h"

#include <stdatomic.h>

#include "memledger/memledger.h"
#include "current_phase.h"
#include "python_function.h"
#include "record.h"
#include "torch_real.h"
#include "torch_stamps.h"

/* at::sequence_number::peek, at::RecordFunction::currentThreadId. */
#define PEEK "_ZN2at15sequence_number4peekEv"
#define THREAD_ID "_ZN2at14RecordFunction15currentThreadIdEv"

/* So many nested nodes are remembered. Few: thread-local room that is reserved from the start is
 * scarce in a process that loads us late. */
#define NODES_MAX 8

#define NO_TAPE 0 /* PyTorch counts threads from 1 */

typedef uint64_t number_function(void);

static _Atomic(number_function *) next_number;
static _Atomic(number_function *) thread_id;
/* From the thread that last began a backward pass. */
static _Atomic uint64_t backward_tape, backward_next;
/* When a backward pass last began. */
static _Atomic uint64_t backward_stamp;

bool ml_torch_operators;

__thread bool ml_torch_scoped;

static __thread struct {
    bool on_tape; /* tape and recorded are known */
    uint64_t tape;
    uint64_t recorded; /* numbers before this one have been recorded */
    uint32_t modules;
    uint32_t optimizers;
    uint32_t backwards;
    uint32_t layers; /* and code of a backward pass that no node runs */
    uint32_t nodes;
    uint32_t recomputes; /* 1 + the number of modules when a node began to run modules again */
    uint32_t outside[NODES_MAX];     /* that, as it was outside the first of the nodes */
    uint64_t last_tape, last_number; /* of the last node that has a number */
} thread_scopes;

void ml_torch_scopes_begin(void)
{
    number_function *peek = (number_function *)ml_torch_function(PEEK);
    number_function *id = (number_function *)ml_torch_function(THREAD_ID);

    if (!peek || !id)
        return;
    atomic_store_explicit(&thread_id, id, memory_order_relaxed);
    /* Pairs with the acquire load in record_tape: both are set together. */
    atomic_store_explicit(&next_number, peek, memory_order_release);
}

/* The nodes that this thread created since the last record belong to the scope that it is still in.
 * An early stamp is right for those who look them up: they run nodes later. */
static void record_tape(void)
{
    number_function *peek = atomic_load_explicit(&next_number, memory_order_acquire);
    uint64_t number;

    if (!peek)
        return;
    number = peek();
    if (ML_UNLIKELY(!thread_scopes.on_tape)) {
        thread_scopes.tape = atomic_load_explicit(&thread_id, memory_order_relaxed)();
        thread_scopes.recorded = number;
        thread_scopes.on_tape = ml_torch_scoped = true;
    }
    if (number != thread_scopes.recorded) {
        uint64_t words[] = {ml_record_word(ML_REC_TAPE, 0, ml_next_stamp()), thread_scopes.tape,
                            thread_scopes.recorded, number};
        ml_record(words, 4);
        thread_scopes.recorded = number;
    }
}

/* ---- Modules and optimizers ------------------------------------------------------- */

bool ml_torch_is_outermost(void)
{
    return !thread_scopes.modules && !thread_scopes.nodes && !thread_scopes.optimizers;
}

/* Activation checkpointing runs modules again while a node runs. */
static bool is_recompute(void)
{
    return thread_scopes.nodes && !thread_scopes.recomputes;
}

void ml_torch_enter_module(uint32_t name, uint32_t class_name)
{
    record_tape();
    if (ml_torch_is_outermost())
        ml_mark_phase(ML_PHASE_FORWARD);
    if (is_recompute()) {
        ml_push_phase(ML_PHASE_RECOMPUTE);
        thread_scopes.recomputes = thread_scopes.modules + 1;
    }
    ml_record_push_at(ml_now_unfenced(), MEMLEDGER_SCOPE_MODULE | class_name << 8, name);
    thread_scopes.modules++;
}

void ml_torch_leave_module(void)
{
    record_tape();
    ml_record_pop_at(ml_now_unfenced());
    if (thread_scopes.recomputes == thread_scopes.modules) {
        thread_scopes.recomputes = 0;
        ml_record_pop();
    }
    thread_scopes.modules--;
}

void ml_torch_enter_layer(uint32_t name, uint32_t class_name, bool is_relative)
{
    uint32_t kind = MEMLEDGER_SCOPE_MODULE | (is_relative ? ML_PUSH_BELOW : 0);

    ml_record_push_at(ml_now_unfenced(), kind | class_name << 8, name);
    thread_scopes.layers++;
}

void ml_torch_leave_layer(void)
{
    thread_scopes.layers--;
    ml_record_pop_at(ml_now_unfenced());
}

void ml_torch_enter_optimizer(uint32_t class_name)
{
    record_tape();
    ml_mark_phase(ML_PHASE_OPTIMIZER);
    ml_push_phase(ML_PHASE_OPTIMIZER);
    ml_record_push(MEMLEDGER_SCOPE_USER, class_name);
    thread_scopes.optimizers++;
}

void ml_torch_leave_optimizer(void)
{
    record_tape();
    thread_scopes.optimizers--;
    ml_record_pop();
    ml_record_pop();
    ml_mark_phase(ML_PHASE_NONE);
}

/* ---- Functions of the program ---------------------------------------------------- */

/* Nodes since the last push or pop belong to the function that the thread enters first: a node is
 * created before the memory of its result. */
static void enter_function(uint32_t name)
{
    uint64_t words[] = {ml_record_word(ML_REC_FUNCTION, 0, ml_now_unfenced()), name};

    if (ml_writer->function)
        record_tape();
    ml_record(words, 2);
    /* A pause drops the record: the thread says it again after it. */
    if (ml_writer->ring && ml_turn_is_current())
        ml_writer->function = name;
}

static bool is_in_function(void)
{
    return ml_torch_is_outermost() && !thread_scopes.layers && !thread_scopes.backwards;
}

void ml_torch_note_function(void)
{
    uint32_t name = is_in_function() ? ml_python_function_here() : 0;

    if (name && name != ml_writer->function)
        enter_function(name);
}

/* ---- Building and loading ---------------------------------------------------------- */

void ml_torch_enter_loading(void)
{
    record_tape();
    ml_push_phase(ML_PHASE_LOADING);
}

void ml_torch_leave_loading(void)
{
    record_tape();
    ml_record_pop();
}

/* In a phase, so that the analysis takes modules from calls first: they keep their order. */
void ml_torch_define_module(uint32_t root, uint32_t root_class, uint32_t name, uint32_t class_name)
{
    if (!ml_torch_is_outermost())
        return;
    ml_torch_enter_loading();
    ml_record_push(MEMLEDGER_SCOPE_MODULE | root_class << 8, root);
    if (name != root) {
        ml_record_push(MEMLEDGER_SCOPE_MODULE | class_name << 8, name);
        ml_record_pop();
    }
    ml_record_pop();
    ml_torch_leave_loading();
}

/* ---- Backward ---------------------------------------------------------------------- */

/* Threads may begin passes at the same time: the latest time stays. */
static void note_begin(void)
{
    uint64_t now = ml_now();
    uint64_t last = atomic_load_explicit(&backward_stamp, memory_order_relaxed);

    while (ml_torch_stamp_ahead(last, now) > ML_TORCH_STAMP_AHEAD_MAX &&
           !atomic_compare_exchange_weak_explicit(&backward_stamp, &last, now, memory_order_relaxed,
                                                  memory_order_relaxed))
        continue;
}

void ml_torch_enter_backward(void)
{
    record_tape();
    note_begin();
    atomic_store_explicit(&backward_tape, thread_scopes.tape, memory_order_relaxed);
    atomic_store_explicit(&backward_next, thread_scopes.recorded, memory_order_relaxed);
    if (!thread_scopes.backwards++)
        ml_mark_phase(ML_PHASE_BACKWARD);
}

void ml_torch_leave_backward(void)
{
    if (!--thread_scopes.backwards)
        ml_mark_phase(ML_PHASE_NONE);
}

/* After the records that say which scope the node belongs to, whichever thread made them: they
 * came before the pass. */
static void push_node(uint64_t tape, uint64_t number, uint32_t flags, uint32_t operator_name)
{
    uint64_t now = ml_torch_now_after(atomic_load_explicit(&backward_stamp, memory_order_relaxed));
    uint64_t words[] = {ml_record_word(ML_REC_PUSH_TAPE, 0, now), tape, number,
                        ml_pair(flags, operator_name)};

    ml_writer_end_function();
    ml_record(words, 4);
}

void ml_torch_enter_backward_code(void)
{
    record_tape();
    if (thread_scopes.nodes)
        push_node(NO_TAPE, 0, 0, 0); /* outside the scopes of the node */
    else
        ml_push_phase(ML_PHASE_BACKWARD);
    thread_scopes.layers++;
}

void ml_torch_leave_backward_code(void)
{
    record_tape();
    thread_scopes.layers--;
    ml_record_pop();
}

bool ml_torch_counters(struct ml_torch_counter *ret_here, struct ml_torch_counter *ret_backward)
{
    number_function *peek = atomic_load_explicit(&next_number, memory_order_acquire);

    if (!peek)
        return false;
    ret_here->tape = atomic_load_explicit(&thread_id, memory_order_relaxed)();
    ret_here->next = peek();
    ret_backward->tape = atomic_load_explicit(&backward_tape, memory_order_relaxed);
    ret_backward->next = atomic_load_explicit(&backward_next, memory_order_relaxed);
    return true;
}

/* Nodes that no thread created, those that add up a parameter's gradient, run right after the node
 * whose result they take. Nodes that a node creates, for the second derivative, belong to its
 * scope. */
void ml_torch_enter_node(uint64_t tape, uint64_t number, uint32_t operator_name)
{
    uint32_t flags = ml_torch_operators ? ML_TAPE_OPERATOR : 0;

    if (number == ML_TORCH_NO_NUMBER) {
        tape = thread_scopes.last_tape;
        number = thread_scopes.last_number;
    } else {
        thread_scopes.last_tape = tape;
        thread_scopes.last_number = number;
    }
    record_tape();
    ml_torch_scoped = true;
    push_node(tape, number, flags, operator_name);
    if (thread_scopes.nodes < NODES_MAX)
        thread_scopes.outside[thread_scopes.nodes] = thread_scopes.recomputes;
    thread_scopes.nodes++;
    thread_scopes.recomputes = 0; /* a node inside may begin again */
}

void ml_torch_leave_node(void)
{
    record_tape();
    thread_scopes.nodes--;
    if (thread_scopes.nodes < NODES_MAX)
        thread_scopes.recomputes = thread_scopes.outside[thread_scopes.nodes];
    ml_record_pop_at(ml_next_stamp()); /* no event of the trace */
}
