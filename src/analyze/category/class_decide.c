/* class_decide.c: see classifier.h. The category of a block, from its allocation and its end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>

#include "classifier.h"
#include "memledger/memledger.h"

/* ---- Frees ------------------------------------------------------------- */

static bool call_goes_on(struct ml_classifier *c, const struct ml_block *block, uint32_t scope)
{
    return ml_calls_goes_on(&c->calls, ml_block_thread(block), scope, ml_block_ordinal(block));
}

/* Whether the thread that frees the block allocated it. */
static bool is_same_thread(const struct ml_block *block, const struct ml_event *death)
{
    return death->thread == ml_block_thread(block);
}

/* Whether the scope of the block's rule is still running when the block is freed, or at the end.
 * @death  NULL only for the rules of an optimizer */
static bool dies_within(struct ml_classifier *c, const struct ml_class_process *process,
                        const struct ml_block *block, const struct ml_class_facts *birth,
                        const struct ml_event *death)
{
    switch ((enum ml_class_rule)birth->rule) {
    case ML_CLASS_RULE_BACKWARD: /* a pushed scope is not a node of the tape */
        return !birth->in_call && is_same_thread(block, death) &&
               ml_node_goes_on(&c->nodes, death->thread, ml_block_ordinal(block));
    case ML_CLASS_RULE_OPTIMIZER:
        return birth->in_call &&
               call_goes_on(c, block, ml_scope_fact_of(&c->facts, block->scope).phase_scope);
    case ML_CLASS_RULE_OPTIMIZER_MARKED:
        return process->phase == ML_PHASE_OPTIMIZER &&
               process->phase_ordinal <= ml_block_ordinal(block);
    case ML_CLASS_RULE_MODULE:
        return birth->in_call &&
               call_goes_on(c, block, ml_scope_fact_of(&c->facts, block->scope).module);
    default: return false;
    }
}

/* Whether an operator of a graph allocated the block for itself. */
static bool is_operators_own(const struct ml_classifier *c, const struct ml_block *block,
                             const struct ml_class_facts *birth)
{
    struct ml_scope_fact fact = ml_scope_fact_of(&c->facts, block->scope);

    return !birth->is_result && ml_named_results_of_graph(&c->results, c->replay.trace, &fact);
}

/* For blocks of an engine's operators: temporary if the operator that allocated the block also
 * freed it, or if it was freed before the next pass. Without a next pass, it may also be one that
 * the operator keeps. */
static uint8_t engine_category(const struct ml_classifier *c,
                               const struct ml_class_process *process, const struct ml_block *block,
                               const struct ml_class_facts *birth, const struct ml_event *death)
{
    const struct ml_engine_passes *passes = &process->engine;

    if (death && is_same_thread(block, death) &&
        ml_turn_goes_on(&c->nodes, death->thread, ml_block_ordinal(block)))
        return MEMLEDGER_TEMPORARY;
    switch ((enum ml_class_rule)birth->rule) {
    case ML_CLASS_RULE_BACKWARD: return MEMLEDGER_INTERMEDIATE_GRADIENT;
    case ML_CLASS_RULE_OPTIMIZER:
        return death && ml_passes_since(&passes->forwards, ml_block_ordinal(block)) == 0
                   ? MEMLEDGER_TEMPORARY
                   : MEMLEDGER_OPTIMIZER_STATE;
    case ML_CLASS_RULE_AFTER_FORWARD:
        return ml_passes_since(&passes->backwards, ml_block_ordinal(block)) == 0 &&
                       (death || is_operators_own(c, block, birth))
                   ? MEMLEDGER_TEMPORARY
                   : MEMLEDGER_ACTIVATION;
    default: return MEMLEDGER_OTHER;
    }
}

/* The key of the place where a kept block was allocated. */
static uint64_t place_of_birth(const struct ml_classifier *c, const struct ml_block *block,
                               const struct ml_class_facts *birth)
{
    return (uint64_t)ml_recreated_scope(&c->alike, block->scope) | (uint64_t)block->space << 32 |
           (uint64_t)birth->rule << 60 | (uint64_t)birth->is_result << 63;
}

static struct ml_kept_block as_kept(const struct ml_classifier *c, const struct ml_block *block,
                                    const struct ml_class_facts *birth, uint32_t pass,
                                    uint8_t category)
{
    return (struct ml_kept_block){
        .place = place_of_birth(c, block, birth),
        .size_bytes = block->size,
        .ordinal =
            c->by_entry ? (uint64_t)(block - c->replay.blocks.items) : ml_block_ordinal(block),
        .freed = ML_KEPT_ON,
        .pass = pass,
        .of_each_pass = category,
    };
}

/* ---- Functions of the program ---------------------------------------------------------- */

/* The passes of backward that a block may outlive: if several threads train, those that the block's
 * own thread began. */
static const struct ml_passes *passes_around(const struct ml_classifier *c,
                                             const struct ml_class_process *process,
                                             const struct ml_block *block)
{
    static const struct ml_passes none;
    uint64_t index;

    if (c->spaces.items[block->space].by_engine)
        return &process->engine.backwards;
    if (!process->in_threads)
        return &process->passes;
    return ml_map_get(&c->thread_index, ml_block_thread(block), &index) ? &c->in_thread.items[index]
                                                                        : &none;
}

static bool is_in_function(const struct ml_classifier *c, const struct ml_block *block)
{
    return ml_scope_fact_of(&c->facts, block->scope).in_function;
}

/* What a function made after forward and kept for later passes: data of the program. */
static uint8_t kept_by_program(struct ml_classifier *c, const struct ml_class_process *process,
                               const struct ml_block *block, const struct ml_class_facts *birth)
{
    uint32_t pass = ml_passes_before(passes_around(c, process, block), ml_block_ordinal(block));
    struct ml_kept_block kept = as_kept(c, block, birth, pass, MEMLEDGER_INPUT);

    if (ml_kept_blocks_add(&c->kept, &kept) < 0)
        c->failed = -ENOMEM;
    return MEMLEDGER_INPUT;
}

/* The block outlives the backward pass, but not the next one. Where the program keeps a block of
 * each pass, this one is the last, or was dropped early. */
static uint8_t after_backward(struct ml_classifier *c, const struct ml_block *block,
                              const struct ml_class_facts *birth)
{
    struct ml_kept_block kept = as_kept(c, block, birth, ML_KEPT_FIRST, MEMLEDGER_INPUT);

    if (ml_kept_blocks_compare(&c->kept, &kept) < 0)
        c->failed = -ENOMEM;
    return MEMLEDGER_ACTIVATION;
}

/* What forward made outside of modules is a part of the graph if the next backward pass needs it.
 * Data that the program keeps outlives more passes. */
static uint8_t after_forward(struct ml_classifier *c, const struct ml_class_process *process,
                             const struct ml_block *block, const struct ml_class_facts *birth,
                             const struct ml_event *death)
{
    bool by_function = is_in_function(c, block);
    const struct ml_passes *passes =
        by_function ? passes_around(c, process, block) : &process->passes;
    uint32_t backwards = ml_passes_since(passes, ml_block_ordinal(block));
    uint32_t forwards = ml_passes_since(&process->forwards, ml_block_ordinal(block));

    if (!by_function)
        return backwards > 0 ? MEMLEDGER_ACTIVATION : MEMLEDGER_TEMPORARY;
    if (backwards >= ML_KEPT_ENOUGH)
        return kept_by_program(c, process, block, birth);
    if (backwards > 0)
        return death && process->phase == ML_PHASE_BACKWARD ? MEMLEDGER_ACTIVATION
                                                            : after_backward(c, block, birth);
    return death && forwards < ML_KEPT_ENOUGH ? MEMLEDGER_TEMPORARY : MEMLEDGER_INPUT;
}

/* What a function made before forward, for itself or for the passes to come. Without modules there
 * is no forward: the graph is what the next backward pass needs. */
static uint8_t of_program(const struct ml_classifier *c, const struct ml_class_process *process,
                          const struct ml_block *block, const struct ml_event *death)
{
    uint64_t ordinal = ml_block_ordinal(block);
    uint32_t backwards = ml_passes_since(passes_around(c, process, block), ordinal);

    if (backwards == 1 && !process->forwards.begun)
        return MEMLEDGER_ACTIVATION;
    return death && backwards == 0 && ml_passes_since(&process->forwards, ordinal) == 0
               ? MEMLEDGER_TEMPORARY
               : MEMLEDGER_INPUT;
}

/* Whether a step of an optimizer allocated the block for itself. It frees most of that memory
 * before it returns. If it fails, the traceback keeps its variables for a while. A recording may
 * also end inside it: there only labels distinguish its state, if it has any. */
static bool is_scratch_of_step(struct ml_classifier *c, const struct ml_class_process *process,
                               const struct ml_block *block, const struct ml_class_facts *birth,
                               const struct ml_event *death)
{
    uint64_t ordinal = ml_block_ordinal(block);

    if (dies_within(c, process, block, birth, death))
        return death || process->names_state;
    return death && process->names_state && ml_passes_since(&process->forwards, ordinal) == 0 &&
           ml_passes_since(&process->passes, ordinal) == 0;
}

/* For blocks of operators that run immediately. */
static uint8_t direct_category(struct ml_classifier *c, const struct ml_class_process *process,
                               const struct ml_block *block, const struct ml_class_facts *birth,
                               const struct ml_event *death)
{
    switch ((enum ml_class_rule)birth->rule) {
    case ML_CLASS_RULE_BACKWARD:
        return death && dies_within(c, process, block, birth, death)
                   ? MEMLEDGER_TEMPORARY
                   : MEMLEDGER_INTERMEDIATE_GRADIENT;
    case ML_CLASS_RULE_OPTIMIZER:
    case ML_CLASS_RULE_OPTIMIZER_MARKED:
        return is_scratch_of_step(c, process, block, birth, death) ? MEMLEDGER_TEMPORARY
                                                                   : MEMLEDGER_OPTIMIZER_STATE;
    case ML_CLASS_RULE_MODULE:
        return death && dies_within(c, process, block, birth, death) ? MEMLEDGER_TEMPORARY
                                                                     : MEMLEDGER_ACTIVATION;
    case ML_CLASS_RULE_AFTER_FORWARD: return after_forward(c, process, block, birth, death);
    case ML_CLASS_RULE_PROGRAM: return of_program(c, process, block, death);
    case ML_CLASS_RULE_COMMUNICATION: return MEMLEDGER_COMMUNICATION;
    case ML_CLASS_RULE_NONE: break;
    }
    return MEMLEDGER_OTHER;
}

/* Whether the block is a result of a forward or backward pass. */
static bool is_of_pass(const struct ml_class_facts *birth, uint8_t category)
{
    return birth->rule != ML_CLASS_RULE_OPTIMIZER &&
           birth->rule != ML_CLASS_RULE_OPTIMIZER_MARKED && !birth->planned &&
           (category == MEMLEDGER_ACTIVATION || category == MEMLEDGER_INTERMEDIATE_GRADIENT);
}

/* Whether the size of a block and its place in a call make it a library's workspace, if it is kept.
 * Only a stack that names the library makes it one for certain. */
static bool may_be_workspace(const struct ml_classifier *c, const struct ml_block *block,
                             const struct ml_class_facts *birth)
{
    return c->inferred && birth->label_category == MEMLEDGER_WORKSPACE && block->label == 0;
}

/* What backward keeps can also be a gradient, if no parameter says how large those are. */
static bool is_kept_workspace(const struct ml_classifier *c, const struct ml_block *block,
                              const struct ml_class_facts *birth)
{
    return may_be_workspace(c, block, birth) &&
           (birth->rule != ML_CLASS_RULE_BACKWARD || ml_map_len(&c->parameter_sizes) > 0);
}

/* For a result of a pass that outlived later passes. A block from the first passes belongs to a
 * library, unless other passes turn out to leave one too. */
static uint8_t outlived(struct ml_classifier *c, const struct ml_block *block,
                        const struct ml_class_facts *birth, const struct ml_event *death,
                        uint32_t pass, uint8_t category)
{
    struct ml_kept_block kept = as_kept(c, block, birth, pass, category);

    if (death && !c->spaces.items[block->space].by_engine)
        kept.freed = c->next_ordinal;
    if (ml_kept_blocks_add(&c->kept, &kept) < 0)
        c->failed = -ENOMEM;
    if (pass >= ML_KEPT_FIRST)
        return category;
    if (is_kept_workspace(c, block, birth))
        return MEMLEDGER_WORKSPACE;
    /* Unnamed memory that an engine's operators keep is their workspace. */
    return c->spaces.items[block->space].by_engine && !birth->is_result ? MEMLEDGER_TEMPORARY
                                                                        : MEMLEDGER_OTHER;
}

/* ---- Scopes that come from stacks ----------------------------------------- */

/* Whether the pass of backward in which the block was allocated is over. */
static bool is_backward_over(const struct ml_class_process *process, const struct ml_block *block)
{
    return process->phase != ML_PHASE_BACKWARD || process->phase_ordinal > ml_block_ordinal(block);
}

/* A gradient outlives its pass and is as large as a parameter. If no parameter is known, it must
 * not outlive later passes, as the workspace of a library does. */
static bool is_inferred_gradient(const struct ml_classifier *c,
                                 const struct ml_class_process *process,
                                 const struct ml_block *block, const struct ml_class_facts *birth)
{
    if (!c->inferred || birth->rule != ML_CLASS_RULE_BACKWARD || !is_backward_over(process, block))
        return false;
    return ml_map_len(&c->parameter_sizes)
               ? ml_map_get(&c->parameter_sizes, block->size, NULL)
               : ml_passes_since(&process->passes, ml_block_ordinal(block)) < ML_KEPT_ENOUGH;
}

/* A gradient gets its label at the end of its pass. If the trace ends before that, a block is taken
 * for one if it is as large as a parameter and outlives the scope that allocated it. */
static bool is_gradient_so_far(const struct ml_classifier *c, const struct ml_block *block,
                               const struct ml_class_facts *birth, const struct ml_event *death)
{
    return !death && birth->rule == ML_CLASS_RULE_BACKWARD &&
           !ml_trace_info(c->replay.trace)->has_index &&
           ml_map_get(&c->parameter_sizes, block->size, NULL) &&
           !ml_turn_goes_on(&c->nodes, ml_block_thread(block), ml_block_ordinal(block));
}

/* A stack can show only that a block may be an input. Inputs are used by one pass. */
static bool is_refuted_input(const struct ml_classifier *c, const struct ml_class_process *process,
                             const struct ml_block *block, const struct ml_class_facts *birth)
{
    return c->inferred && birth->label_category == MEMLEDGER_INPUT &&
           ml_passes_since(&process->forwards, ml_block_ordinal(block)) != 1;
}

uint8_t ml_classifier_category(struct ml_classifier *c, const struct ml_block *block,
                               const struct ml_class_facts *birth, const struct ml_event *death)
{
    const struct ml_class_space *space = &c->spaces.items[block->space];
    const struct ml_class_process *process = &c->processes.items[space->process];
    const struct ml_passes *passes;
    uint8_t category;

    if (birth->label_category != MEMLEDGER_OTHER && !may_be_workspace(c, block, birth) &&
        !is_refuted_input(c, process, block, birth))
        return birth->label_category;
    if (birth->tag_category != MEMLEDGER_OTHER)
        return birth->tag_category;
    category = space->by_engine ? engine_category(c, process, block, birth, death)
                                : direct_category(c, process, block, birth, death);
    if (is_inferred_gradient(c, process, block, birth) ||
        is_gradient_so_far(c, block, birth, death))
        category = MEMLEDGER_GRADIENT;
    if (!is_of_pass(birth, category))
        return category;
    passes = passes_around(c, process, block);
    return ml_passes_since(passes, ml_block_ordinal(block)) >= ML_KEPT_ENOUGH
               ? outlived(c, block, birth, death, ml_passes_before(passes, ml_block_ordinal(block)),
                          category)
               : category;
}
