/* classify.c: see classify.h.
 *
 * There may be tens of millions of live blocks, and the classifier knows the most about each. It
 * does not need times and stacks, so in its live table these fields of a block contain the
 * ordinal and the label that counts. The ordinal, the thread and the scope of a block are enough
 * to find the call, node or step that allocated it, and whether that is still running.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "classify.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "recreated_scopes.h"
#include "calls.h"
#include "each_event.h"
#include "engine_passes.h"
#include "kept_blocks.h"
#include "label_tags.h"
#include "memledger/memledger.h"
#include "named_results.h"
#include "nodes.h"
#include "replay.h"
#include "scope_facts.h"
#include "unknowns.h"

#define TELL_EVENTS 1048576 /* from one report of progress to the next */

enum rule {
    RULE_NONE,
    RULE_BACKWARD,
    RULE_OPTIMIZER,        /* in a scope of the optimizer, or of an engine */
    RULE_OPTIMIZER_MARKED, /* by a mark alone */
    RULE_MODULE,
    RULE_AFTER_FORWARD,
    RULE_COMMUNICATION,
};

/* The threads on which gloo, as PyTorch calls it, runs the collectives of the host. */
#define COLLECTIVES_THREAD "pt_gloo"

/* The facts about a live block, by its entry in the live table. */
struct birth {
    uint16_t label_category : 4; /* OTHER: none */
    uint16_t tag_category : 4;   /* from the tag of a label of category OTHER; or OTHER */
    uint16_t rule : 3;
    uint16_t in_call : 1; /* in a call of the module or phase that the rule is about */
    uint16_t outside : 1; /* outside modules, backward and optimizer */
    uint16_t named : 1;
    uint16_t is_result : 1; /* of an operator: it has a label, even one without a name */
    uint16_t planned : 1;   /* allocated by no operator, for a graph that runs repeatedly */
};
_Static_assert(sizeof(struct birth) == 2, "one for each live block");

struct process {
    uint8_t phase;           /* enum ml_phase, of the last mark */
    uint64_t phase_ordinal;  /* of the first allocation after that mark */
    struct ml_passes passes; /* of backward */
    struct ml_passes forwards;
    struct ml_engine_passes engine;
};

struct space {
    bool looked_at;  /* the next two are known */
    bool classified; /* else only labels matter */
    bool by_engine;  /* operators that run later allocate its blocks */
    uint32_t process;
};

struct classifier {
    struct ml_classes *ret;
    struct ml_progress *progress;
    uint64_t events; /* read so far */
    struct ml_scope_facts facts;
    struct ml_calls calls;
    struct ml_replay replay;
    ML_VEC(struct birth) births; /* by entry of the live table */
    ML_VEC(struct process) processes;
    ML_VEC(struct space) spaces; /* by index in the replay */
    struct ml_map process_index; /* number -> index */
    struct ml_nodes nodes;
    struct ml_kept_blocks kept;
    struct ml_named_results results;
    struct ml_recreated_scopes alike;
    bool inferred;                 /* scopes come from stacks: see classify.h */
    struct ml_map parameter_sizes; /* of an inferred trace: bytes -> 1 */
    bool marked;                   /* a known phase was marked, or a label has a tag */
    int failed;                    /* in a callback: -ENOMEM */
};

/* ---- Ordinals and labels of blocks --------------------------------------- */

static uint64_t next_ordinal(const struct classifier *c)
{
    return c->ret->categories.len;
}

static uint64_t ordinal_of(const struct ml_block *block)
{
    return block->time_ns;
}

/* The string, 0: none. The block's own label field has the last label, which need not be the one
 * that counts. */
static uint32_t label_of(const struct ml_block *block)
{
    return block->stack;
}

static void set_label(struct classifier *c, const struct ml_block *block, uint32_t label)
{
    c->replay.blocks.items[block - c->replay.blocks.items].stack = ml_block_number(label);
}

/* @return 0 or -ENOMEM */
static int feed_alloc(struct classifier *c, const struct ml_event *event)
{
    struct ml_event numbered = *event;

    numbered.time_ns = next_ordinal(c);
    numbered.stack = 0;
    return ml_replay_feed(&c->replay, &numbered);
}

/* ---- Processes and spaces ---------------------------------------------- */

static int64_t find_process(struct classifier *c, uint32_t number)
{
    uint64_t index;

    if (ml_map_get(&c->process_index, number, &index))
        return (int64_t)index;
    index = c->processes.len;
    if (ml_vec_push(&c->processes, (struct process){0}) < 0 ||
        ml_map_put(&c->process_index, number, index) < 0)
        return -ENOMEM;
    return (int64_t)index;
}

static bool is_named(const struct ml_trace *trace, uint32_t string, const char *name)
{
    return strcmp(ml_trace_string(trace, string, NULL), name) == 0;
}

static const struct space *space_of(struct classifier *c, uint32_t index)
{
    const struct ml_replay_space *known = &c->replay.spaces.items[index];
    const struct ml_space *defined;
    struct space *space;
    int64_t process;

    while (c->spaces.len <= index)
        if (ml_vec_push(&c->spaces, (struct space){0}) < 0)
            return NULL;
    space = &c->spaces.items[index];
    if (space->looked_at)
        return space;
    defined = ml_trace_space(c->replay.trace, known->number);
    process = find_process(c, defined->process);
    if (process < 0)
        return NULL;
    *space = (struct space){
        .looked_at = true,
        .classified = known->level == MEMLEDGER_BLOCK &&
                      !is_named(c->replay.trace, defined->name, ML_HEAP_SPACE_NAME) &&
                      !is_named(c->replay.trace, defined->name, ML_MAP_SPACE_NAME),
        .by_engine = is_named(c->replay.trace, defined->name, ML_MXNET_SPACE_NAME),
        .process = (uint32_t)process,
    };
    return space;
}

/* ---- Nodes --------------------------------------------------------------- */

/* The scope that identifies a node. If operators are recorded, those that a node runs are below
 * its own scope. */
static uint32_t place_of_node(const struct classifier *c, uint32_t scope)
{
    uint32_t operation = ml_scope_fact_of(&c->facts, scope).operation;

    return operation ? operation : scope;
}

/* @return 0 or -ENOMEM */
static int follow_node(struct classifier *c, const struct ml_event *event, bool marked)
{
    return ml_nodes_follow(&c->nodes, event->thread, place_of_node(c, event->scope), marked,
                           next_ordinal(c));
}

/* ---- Allocations ------------------------------------------------------- */

static enum ml_phase phase_at(const struct ml_scope_fact *fact, const struct process *process)
{
    if (ml_scope_is_in_module(fact))
        return fact->phase == ML_PHASE_OPTIMIZER || fact->phase == ML_PHASE_NONE ? ML_PHASE_FORWARD
                                                                                 : fact->phase;
    return fact->phase == ML_PHASE_NONE ? process->phase : fact->phase;
}

static bool is_in_call(struct classifier *c, const struct ml_block *block, uint32_t scope)
{
    return ml_calls_within(&c->calls, ml_block_thread(block), block->scope, scope);
}

static void choose_optimizer_rule(struct classifier *c, const struct ml_block *block,
                                  const struct ml_scope_fact *fact, const struct process *process,
                                  struct birth *birth)
{
    birth->rule = RULE_OPTIMIZER;
    birth->in_call = fact->phase == ML_PHASE_OPTIMIZER && is_in_call(c, block, fact->phase_scope);
    if (!birth->in_call && process->phase == ML_PHASE_OPTIMIZER)
        birth->rule = RULE_OPTIMIZER_MARKED;
}

/* For blocks of the engine's operators: by the phase in which the program requested the operator,
 * and by the progress of the engine. */
static void choose_engine_rule(struct classifier *c, const struct ml_block *block,
                               struct birth *birth)
{
    struct ml_scope_fact fact = ml_scope_fact_of(&c->facts, block->scope);
    enum ml_phase phase = ml_scope_is_in_module(&fact) && fact.phase != ML_PHASE_BACKWARD
                              ? ML_PHASE_FORWARD
                              : (enum ml_phase)fact.phase;

    birth->named = fact.module != 0;
    birth->planned = !fact.operation;
    birth->outside =
        phase == ML_PHASE_NONE || (phase == ML_PHASE_FORWARD && (!fact.module || birth->planned));
    switch (phase) {
    case ML_PHASE_BACKWARD:
        birth->rule = RULE_BACKWARD;
        c->ret->backward_bytes += block->size;
        c->ret->backward_named_bytes += birth->named ? block->size : 0;
        break;
    case ML_PHASE_OPTIMIZER: birth->rule = RULE_OPTIMIZER; break;
    case ML_PHASE_FORWARD: birth->rule = RULE_AFTER_FORWARD; break;
    default: birth->rule = RULE_NONE;
    }
}

static bool is_for_collectives(const struct classifier *c, const struct ml_block *block)
{
    const struct ml_trace *trace = c->replay.trace;
    const struct ml_thread *thread;

    if (block->scope != 0)
        return false;
    thread = ml_trace_thread(trace, ml_block_thread(block));
    return strncmp(ml_trace_string(trace, thread->name, NULL), COLLECTIVES_THREAD,
                   strlen(COLLECTIVES_THREAD)) == 0;
}

static void choose_rule(struct classifier *c, const struct ml_block *block,
                        const struct process *process, struct birth *birth)
{
    struct ml_scope_fact fact = ml_scope_fact_of(&c->facts, block->scope);
    enum ml_phase phase = phase_at(&fact, process);

    birth->named = fact.module != 0;
    if (is_for_collectives(c, block)) {
        birth->rule = RULE_COMMUNICATION;
    } else if (phase == ML_PHASE_BACKWARD) {
        birth->rule = RULE_BACKWARD;
        birth->in_call = is_in_call(c, block, fact.phase_scope);
        c->ret->backward_bytes += block->size;
        c->ret->backward_named_bytes += birth->named ? block->size : 0;
    } else if (phase == ML_PHASE_OPTIMIZER) {
        choose_optimizer_rule(c, block, &fact, process, birth);
    } else if (fact.module != 0 && !fact.in_function) {
        birth->rule = RULE_MODULE;
        birth->in_call = is_in_call(c, block, fact.module);
    } else {
        birth->rule = phase == ML_PHASE_FORWARD ? RULE_AFTER_FORWARD : RULE_NONE;
        birth->outside = phase != ML_PHASE_RECOMPUTE;
    }
}

/* A label of category OTHER is only a name. It counts if no other label gave the block a
 * category. */
static bool counts(const struct birth *birth, uint8_t category)
{
    bool weak = category == MEMLEDGER_INPUT;

    if (category == MEMLEDGER_OTHER)
        return birth->label_category == MEMLEDGER_OTHER;
    return !weak || (birth->outside && (birth->label_category == MEMLEDGER_OTHER ||
                                        birth->label_category == MEMLEDGER_INPUT));
}

/* Whether a label from MXNet gives only the purpose of the block and no name. Memory that forward
 * and backward share has the name of the first operator that could have used it. */
static bool is_weak(const struct classifier *c, const struct ml_block *block,
                    const struct birth *birth, const char *text, uint8_t *category)
{
    if (*category == MEMLEDGER_ACTIVATION && birth->rule == RULE_BACKWARD) {
        *category = MEMLEDGER_INTERMEDIATE_GRADIENT;
        return true;
    }
    return ml_engine_name_is_empty(c->replay.trace, block->scope, text, *category);
}

/* An engine's operator has a result with a name. */
static void add_result(struct classifier *c, const struct ml_block *block)
{
    struct ml_scope_fact fact = ml_scope_fact_of(&c->facts, block->scope);

    if (ml_named_results_add(&c->results, c->replay.trace, &fact) < 0)
        c->failed = -ENOMEM;
}

/* A label that does not count changes nothing. */
static void take_label(struct classifier *c, const struct ml_block *block, struct birth *birth,
                       uint32_t label, uint8_t category)
{
    uint32_t len;
    const char *text = ml_trace_string(c->replay.trace, label, &len);
    bool weak;

    if (!counts(birth, category))
        return;
    weak = c->spaces.items[block->space].by_engine && is_weak(c, block, birth, text, &category);
    birth->is_result = true;
    if (c->inferred && category == MEMLEDGER_PARAMETER &&
        ml_map_put(&c->parameter_sizes, block->size, 1) < 0)
        c->failed = -ENOMEM;
    if (category == MEMLEDGER_ACTIVATION && c->spaces.items[block->space].by_engine)
        add_result(c, block);
    if (category != MEMLEDGER_OTHER)
        birth->label_category = category & 0xf;
    if (weak)
        return;
    if (category == MEMLEDGER_OTHER)
        birth->tag_category = ml_label_tag(text, len) & 0xf;
    c->marked |= birth->tag_category != MEMLEDGER_OTHER;
    if (birth->rule == RULE_BACKWARD && !birth->named)
        c->ret->backward_named_bytes += block->size;
    birth->named = true;
    set_label(c, block, label);
}

static struct birth *birth_of(struct classifier *c, const struct ml_block *block)
{
    size_t index = (size_t)(block - c->replay.blocks.items);

    while (c->births.len <= index)
        if (ml_vec_push(&c->births, (struct birth){0}) < 0)
            return NULL;
    return &c->births.items[index];
}

static int open_block(struct classifier *c, const struct ml_block *block)
{
    const struct space *space = space_of(c, block->space);
    struct birth *birth = birth_of(c, block);

    if (!space || !birth || ml_vec_push(&c->ret->categories, MEMLEDGER_OTHER) < 0)
        return -ENOMEM;
    *birth = (struct birth){.outside = !space->classified};
    if (space->classified && space->by_engine)
        choose_engine_rule(c, block, birth);
    else if (space->classified)
        choose_rule(c, block, &c->processes.items[space->process], birth);
    if (block->label)
        take_label(c, block, birth, block->label, block->category);
    return 0;
}

static void on_open(void *ctx, const struct ml_block *block)
{
    struct classifier *c = ctx;

    if (open_block(c, block) < 0)
        c->failed = -ENOMEM;
}

static void on_split(void *ctx, const struct ml_block *from, const struct ml_block *rest)
{
    struct classifier *c = ctx;
    struct birth *birth = birth_of(c, rest); /* first: this call may move the others */

    if (birth)
        *birth = *birth_of(c, from);
    else
        c->failed = -ENOMEM;
}

/* ---- Frees ------------------------------------------------------------- */

static bool call_goes_on(struct classifier *c, const struct ml_block *block, uint32_t scope)
{
    return ml_calls_goes_on(&c->calls, ml_block_thread(block), scope, ordinal_of(block));
}

/* Whether the thread that frees the block allocated it. */
static bool is_same_thread(const struct ml_block *block, const struct ml_event *death)
{
    return death->thread == ml_block_thread(block);
}

/* Whether the scope of the block's rule is still running when the block is freed. */
static bool dies_within(struct classifier *c, const struct process *process,
                        const struct ml_block *block, const struct birth *birth,
                        const struct ml_event *death)
{
    switch ((enum rule)birth->rule) {
    case RULE_BACKWARD: /* a pushed scope is not a node of the tape */
        return !birth->in_call && is_same_thread(block, death) &&
               ml_node_goes_on(&c->nodes, death->thread, ordinal_of(block));
    case RULE_OPTIMIZER:
        return birth->in_call &&
               call_goes_on(c, block, ml_scope_fact_of(&c->facts, block->scope).phase_scope);
    case RULE_OPTIMIZER_MARKED:
        return process->phase == ML_PHASE_OPTIMIZER && process->phase_ordinal <= ordinal_of(block);
    case RULE_MODULE:
        return birth->in_call &&
               call_goes_on(c, block, ml_scope_fact_of(&c->facts, block->scope).module);
    default: return false;
    }
}

/* Whether an operator of a graph allocated the block for itself. */
static bool is_operators_own(const struct classifier *c, const struct ml_block *block,
                             const struct birth *birth)
{
    struct ml_scope_fact fact = ml_scope_fact_of(&c->facts, block->scope);

    return !birth->is_result && ml_named_results_of_graph(&c->results, c->replay.trace, &fact);
}

/* For blocks of an engine's operators: temporary if the operator that allocated the block also
 * freed it, or if it was freed before the next pass. Without a next pass, it may also be one that
 * the operator keeps. */
static uint8_t engine_category(const struct classifier *c, const struct process *process,
                               const struct ml_block *block, const struct birth *birth,
                               const struct ml_event *death)
{
    const struct ml_engine_passes *passes = &process->engine;

    if (death && is_same_thread(block, death) &&
        ml_turn_goes_on(&c->nodes, death->thread, ordinal_of(block)))
        return MEMLEDGER_TEMPORARY;
    switch ((enum rule)birth->rule) {
    case RULE_BACKWARD: return MEMLEDGER_INTERMEDIATE_GRADIENT;
    case RULE_OPTIMIZER:
        return death && ml_passes_since(&passes->forwards, ordinal_of(block)) == 0
                   ? MEMLEDGER_TEMPORARY
                   : MEMLEDGER_OPTIMIZER_STATE;
    case RULE_AFTER_FORWARD:
        return ml_passes_since(&passes->backwards, ordinal_of(block)) == 0 &&
                       (death || is_operators_own(c, block, birth))
                   ? MEMLEDGER_TEMPORARY
                   : MEMLEDGER_ACTIVATION;
    default: return MEMLEDGER_OTHER;
    }
}

/* For blocks of operators that run immediately. */
static uint8_t direct_category(struct classifier *c, const struct process *process,
                               const struct ml_block *block, const struct birth *birth,
                               const struct ml_event *death)
{
    bool within = death && dies_within(c, process, block, birth, death);

    switch ((enum rule)birth->rule) {
    case RULE_BACKWARD: return within ? MEMLEDGER_TEMPORARY : MEMLEDGER_INTERMEDIATE_GRADIENT;
    case RULE_OPTIMIZER:
    case RULE_OPTIMIZER_MARKED: return within ? MEMLEDGER_TEMPORARY : MEMLEDGER_OPTIMIZER_STATE;
    case RULE_MODULE: return within ? MEMLEDGER_TEMPORARY : MEMLEDGER_ACTIVATION;
    case RULE_AFTER_FORWARD:
        return ml_passes_since(&process->passes, ordinal_of(block)) > 0 ? MEMLEDGER_ACTIVATION
                                                                        : MEMLEDGER_TEMPORARY;
    case RULE_COMMUNICATION: return MEMLEDGER_COMMUNICATION;
    case RULE_NONE: break;
    }
    return MEMLEDGER_OTHER;
}

/* Whether the block is a result of a forward or backward pass. */
static bool is_of_pass(const struct birth *birth, uint8_t category)
{
    return birth->rule != RULE_OPTIMIZER && birth->rule != RULE_OPTIMIZER_MARKED &&
           !birth->planned &&
           (category == MEMLEDGER_ACTIVATION || category == MEMLEDGER_INTERMEDIATE_GRADIENT);
}

/* The key of the place where a kept block was allocated. */
static uint64_t place_of_birth(const struct classifier *c, const struct ml_block *block,
                               const struct birth *birth)
{
    return (uint64_t)ml_recreated_scope(&c->alike, block->scope) | (uint64_t)block->space << 32 |
           (uint64_t)birth->rule << 60 | (uint64_t)birth->is_result << 63;
}

/* For a result of a pass that outlived later passes. A block from the first passes belongs to a
 * library, unless other passes turn out to leave one too. */
static uint8_t outlived(struct classifier *c, const struct ml_block *block,
                        const struct birth *birth, uint32_t pass, uint8_t category)
{
    struct ml_kept_block kept = {
        .place = place_of_birth(c, block, birth),
        .size_bytes = block->size,
        .ordinal = ordinal_of(block),
        .pass = pass,
        .of_each_pass = category,
    };

    if (ml_kept_blocks_add(&c->kept, &kept) < 0)
        c->failed = -ENOMEM;
    if (pass >= ML_KEPT_FIRST)
        return category;
    /* Unnamed memory that an engine's operators keep is their workspace. */
    return c->spaces.items[block->space].by_engine && !birth->is_result ? MEMLEDGER_TEMPORARY
                                                                        : MEMLEDGER_OTHER;
}

/* ---- Scopes that come from stacks ----------------------------------------- */

/* Whether the pass of backward in which the block was allocated is over. */
static bool is_backward_over(const struct process *process, const struct ml_block *block)
{
    return process->phase != ML_PHASE_BACKWARD || process->phase_ordinal > ordinal_of(block);
}

/* A gradient outlives its pass and is as large as a parameter. If no parameter is known, it must
 * not outlive later passes, as the workspace of a library does. */
static bool is_inferred_gradient(const struct classifier *c, const struct process *process,
                                 const struct ml_block *block, const struct birth *birth)
{
    if (!c->inferred || birth->rule != RULE_BACKWARD || !is_backward_over(process, block))
        return false;
    return ml_map_len(&c->parameter_sizes)
               ? ml_map_get(&c->parameter_sizes, block->size, NULL)
               : ml_passes_since(&process->passes, ordinal_of(block)) < ML_KEPT_ENOUGH;
}

/* A stack can show only that a block may be an input. Inputs are used by one pass. */
static bool is_refuted_input(const struct classifier *c, const struct process *process,
                             const struct ml_block *block, const struct birth *birth)
{
    return c->inferred && birth->label_category == MEMLEDGER_INPUT &&
           ml_passes_since(&process->forwards, ordinal_of(block)) != 1;
}

static uint8_t category_of(struct classifier *c, const struct ml_block *block,
                           const struct birth *birth, const struct ml_event *death)
{
    const struct space *space = &c->spaces.items[block->space];
    const struct process *process = &c->processes.items[space->process];
    const struct ml_passes *passes =
        space->by_engine ? &process->engine.backwards : &process->passes;
    uint8_t category;

    if (birth->label_category != MEMLEDGER_OTHER && !is_refuted_input(c, process, block, birth))
        return birth->label_category;
    if (birth->tag_category != MEMLEDGER_OTHER)
        return birth->tag_category;
    category = space->by_engine ? engine_category(c, process, block, birth, death)
                                : direct_category(c, process, block, birth, death);
    if (is_inferred_gradient(c, process, block, birth))
        category = MEMLEDGER_GRADIENT;
    return is_of_pass(birth, category) &&
                   ml_passes_since(passes, ordinal_of(block)) >= ML_KEPT_ENOUGH
               ? outlived(c, block, birth, ml_passes_before(passes, ordinal_of(block)), category)
               : category;
}

static void decide(struct classifier *c, const struct ml_block *block, const struct ml_event *death)
{
    const struct birth *birth = &c->births.items[block - c->replay.blocks.items];
    struct ml_class_label label = {.ordinal = ordinal_of(block), .label = label_of(block)};

    c->ret->categories.items[ordinal_of(block)] = category_of(c, block, birth, death);
    if (label.label && ml_vec_push(&c->ret->labels, label) < 0)
        c->failed = -ENOMEM;
}

static void on_close(void *ctx, const struct ml_block *block, const struct ml_event *event)
{
    struct classifier *c = ctx;

    if (c->failed == 0)
        decide(c, block, event);
}

static void decide_the_living(struct classifier *c)
{
    for (size_t i = 0; i < c->replay.blocks.len; i++)
        if (c->replay.blocks.items[i].live)
            decide(c, &c->replay.blocks.items[i], NULL);
}

/* ---- The pass ---------------------------------------------------------- */

static int on_phase(struct classifier *c, const struct ml_event *event)
{
    uint32_t number = ml_trace_thread(c->replay.trace, event->thread)->process, len;
    int64_t index = find_process(c, number);
    struct process *process;
    const char *name;

    if (index < 0)
        return -ENOMEM;
    process = &c->processes.items[index];
    name = ml_trace_string(c->replay.trace, (uint32_t)event->args[2], &len);
    process->phase = (uint8_t)ml_phase_of_name(name, len);
    process->phase_ordinal = next_ordinal(c);
    if (process->phase == ML_PHASE_BACKWARD)
        ml_passes_begin(&process->passes, next_ordinal(c));
    if (process->phase == ML_PHASE_FORWARD)
        ml_passes_begin(&process->forwards, next_ordinal(c));
    c->marked |= process->phase != ML_PHASE_NONE;
    return 0;
}

static void on_label(struct classifier *c, const struct ml_event *event)
{
    const struct ml_block *block = ml_replay_find(&c->replay, event->space, event->addr);
    uint8_t category = event->args[1] < ML_CATEGORIES ? (uint8_t)event->args[1] : 0;

    if (block)
        take_label(c, block, &c->births.items[block - c->replay.blocks.items],
                   (uint32_t)event->args[0], category);
}

static int on_mark(struct classifier *c, const struct ml_event *event)
{
    switch (event->args[0]) {
    case MEMLEDGER_MARK_PHASE: return on_phase(c, event);
    case ML_MARK_NODE: return follow_node(c, event, true);
    default: return 0;
    }
}

/* An operator starts, in the phase of its scope. */
static int on_operator(struct classifier *c, const struct ml_event *event)
{
    struct ml_scope_fact fact = ml_scope_fact_of(&c->facts, event->scope);
    uint32_t number = ml_trace_thread(c->replay.trace, event->thread)->process;
    int64_t index = find_process(c, number);

    if (index < 0)
        return -ENOMEM;
    ml_engine_passes_run(&c->processes.items[index].engine,
                         ml_scope_is_in_module(&fact) && fact.phase == ML_PHASE_NONE
                             ? ML_PHASE_FORWARD
                             : (enum ml_phase)fact.phase,
                         next_ordinal(c));
    return 0;
}

static int on_push(struct classifier *c, const struct ml_event *event)
{
    bool is_operator =
        ml_trace_scope(c->replay.trace, event->scope)->kind == MEMLEDGER_SCOPE_OPERATOR;
    int r = ml_nodes_turn(&c->nodes, event->thread, next_ordinal(c));

    if (r == 0 && is_operator)
        r = on_operator(c, event);
    return r < 0 ? r : ml_calls_push(&c->calls, event, next_ordinal(c));
}

static int on_pop(struct classifier *c, const struct ml_event *event)
{
    int r = ml_nodes_turn(&c->nodes, event->thread, next_ordinal(c));

    return r < 0 ? r : ml_calls_pop(&c->calls, event);
}

static int on_event(void *ctx, const struct ml_event *event)
{
    struct classifier *c = ctx;
    bool is_alloc = event->kind == ML_ALLOC || event->kind == ML_ALLOC_EX;
    int r = 0;

    if (ML_UNLIKELY(c->events++ % TELL_EVENTS == 0))
        ml_progress_tell(c->progress, c->events, ml_trace_info(c->replay.trace)->events);
    switch (event->kind) {
    case ML_PUSH: return on_push(c, event);
    case ML_POP: return on_pop(c, event);
    case ML_THREAD_END: return ml_calls_end(&c->calls, event);
    case ML_MARK: return on_mark(c, event);
    case ML_LABEL: on_label(c, event); break;
    default: r = follow_node(c, event, false);
    }
    if (r == 0)
        r = is_alloc ? feed_alloc(c, event) : ml_replay_feed(&c->replay, event);
    return r < 0 ? r : c->failed;
}

static int by_ordinal(const void *a, const void *b)
{
    const struct ml_class_label *x = a, *y = b;

    if (x->ordinal != y->ordinal)
        return x->ordinal < y->ordinal ? -1 : 1;
    return x->label < y->label ? -1 : x->label > y->label;
}

/* Parts of one block may have separate labels; its allocation has one. */
static void sort_labels(struct ml_classes *classes)
{
    struct ml_class_label *labels = classes->labels.items;
    size_t kept = 0;

    ml_vec_sort(&classes->labels, by_ordinal);
    for (size_t i = 0; i < classes->labels.len; i++)
        if (i == 0 || labels[i].ordinal != labels[kept - 1].ordinal)
            labels[kept++] = labels[i];
    classes->labels.len = kept;
}

static bool has_scopes(const struct classifier *c)
{
    return c->facts.has_modules || c->facts.has_phases;
}

static void finish(struct classifier *c)
{
    struct ml_classes *ret = c->ret;

    if (!has_scopes(c) && !c->marked) {
        ml_classes_release(ret);
        return;
    }
    decide_the_living(c);
    ml_kept_blocks_decide(&c->kept, ret->categories.items);
    ml_replay_release_blocks(&c->replay); /* sorting may need memory too */
    sort_labels(ret);
    ret->known = true;
}

/* Marks and labels are events, but their names are known before any event is read. */
static bool has_telling_names(const struct ml_trace *trace)
{
    uint32_t count = ml_trace_strings(trace);

    for (uint32_t i = 1; i < count; i++) {
        uint32_t len;
        const char *text = ml_trace_string(trace, i, &len);

        if (ml_phase_of_name(text, len) != ML_PHASE_NONE ||
            ml_label_tag(text, len) != MEMLEDGER_OTHER)
            return true;
    }
    return false;
}

static int classify(struct classifier *c, const struct ml_trace *trace, struct ml_error *err)
{
    int r = ml_scope_facts_init(trace, &c->facts);

    if (r == 0 && !has_scopes(c) && !has_telling_names(trace))
        return 0;
    c->calls.trace = trace;
    c->inferred = ml_trace_setting(trace, ML_SETTING_IMPORT_INFERRED) != NULL;
    if (r == 0)
        r = ml_recreated_scopes_find(trace, &c->alike);
    if (r == 0)
        r = ml_replay_init(&c->replay, trace);
    if (r < 0)
        return ml_error_set(err, r, "out of memory");
    c->replay.on_open = on_open;
    c->replay.on_split = on_split;
    c->replay.on_close = on_close;
    c->replay.ctx = c;
    r = ml_each_event(trace, on_event, c, err);
    if (r == 0)
        finish(c);
    return c->failed < 0 ? ml_error_set(err, c->failed, "out of memory") : r;
}

int ml_classify(const struct ml_trace *trace, struct ml_classes *ret, struct ml_error *err)
{
    return ml_classify_telling(trace, NULL, ret, err);
}

int ml_classify_telling(const struct ml_trace *trace, struct ml_progress *progress,
                        struct ml_classes *ret, struct ml_error *err)
{
    struct classifier c = {.ret = ret, .progress = progress};
    int r;

    *ret = (struct ml_classes){0};
    r = classify(&c, trace, err);
    ml_scope_facts_release(&c.facts);
    ml_calls_release(&c.calls);
    ml_replay_release(&c.replay);
    ml_vec_release(&c.births);
    ml_nodes_release(&c.nodes);
    ml_kept_blocks_release(&c.kept);
    ml_named_results_release(&c.results);
    ml_recreated_scopes_release(&c.alike);
    ml_vec_release(&c.processes);
    ml_vec_release(&c.spaces);
    ml_map_release(&c.process_index);
    ml_map_release(&c.parameter_sizes);
    return r;
}

void ml_classes_release(struct ml_classes *classes)
{
    ml_vec_release(&classes->categories);
    ml_vec_release(&classes->labels);
    *classes = (struct ml_classes){0};
}
