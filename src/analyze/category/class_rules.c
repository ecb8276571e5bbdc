/* class_rules.c: see classifier.h. What is known about a block when it is allocated.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>

#include "classifier.h"
#include "label_tags.h"
#include "memledger/memledger.h"
#include "unknowns.h"

/* The threads on which gloo, as PyTorch calls it, runs the collectives of the host. */
#define COLLECTIVES_THREAD "pt_gloo"

/* ---- Processes and spaces ---------------------------------------------- */

int64_t ml_classifier_process(struct ml_classifier *c, uint32_t number)
{
    uint64_t index;

    if (ml_map_get(&c->process_index, number, &index))
        return (int64_t)index;
    index = c->processes.len;
    if (ml_vec_push(&c->processes, (struct ml_class_process){0}) < 0 ||
        ml_map_put(&c->process_index, number, index) < 0)
        return -ENOMEM;
    return (int64_t)index;
}

static bool is_named(const struct ml_trace *trace, uint32_t string, const char *name)
{
    return strcmp(ml_trace_string(trace, string, NULL), name) == 0;
}

static const struct ml_class_space *space_of(struct ml_classifier *c, uint32_t index)
{
    const struct ml_replay_space *known = &c->replay.spaces.items[index];
    const struct ml_space *defined;
    struct ml_class_space *space;
    int64_t process;

    while (c->spaces.len <= index)
        if (ml_vec_push(&c->spaces, (struct ml_class_space){0}) < 0)
            return NULL;
    space = &c->spaces.items[index];
    if (space->looked_at)
        return space;
    defined = ml_trace_space(c->replay.trace, known->number);
    process = ml_classifier_process(c, defined->process);
    if (process < 0)
        return NULL;
    *space = (struct ml_class_space){
        .looked_at = true,
        .classified = known->level == MEMLEDGER_BLOCK &&
                      !is_named(c->replay.trace, defined->name, ML_HEAP_SPACE_NAME) &&
                      !is_named(c->replay.trace, defined->name, ML_MAP_SPACE_NAME),
        .by_engine = is_named(c->replay.trace, defined->name, ML_MXNET_SPACE_NAME),
        .process = (uint32_t)process,
    };
    return space;
}

/* ---- Allocations ------------------------------------------------------- */

static enum ml_phase phase_at(const struct ml_scope_fact *fact,
                              const struct ml_class_process *process)
{
    if (ml_scope_is_in_module(fact))
        return fact->phase == ML_PHASE_OPTIMIZER || fact->phase == ML_PHASE_NONE ? ML_PHASE_FORWARD
                                                                                 : fact->phase;
    return fact->phase == ML_PHASE_NONE ? process->phase : fact->phase;
}

static bool is_in_call(struct ml_classifier *c, const struct ml_block *block, uint32_t scope)
{
    return ml_calls_within(&c->calls, ml_block_thread(block), block->scope, scope);
}

static void choose_optimizer_rule(struct ml_classifier *c, const struct ml_block *block,
                                  const struct ml_scope_fact *fact,
                                  const struct ml_class_process *process,
                                  struct ml_class_facts *birth)
{
    birth->rule = ML_CLASS_RULE_OPTIMIZER;
    birth->in_call = fact->phase == ML_PHASE_OPTIMIZER && is_in_call(c, block, fact->phase_scope);
    if (!birth->in_call && process->phase == ML_PHASE_OPTIMIZER)
        birth->rule = ML_CLASS_RULE_OPTIMIZER_MARKED;
}

/* For blocks of the engine's operators: by the phase in which the program requested the operator,
 * and by the progress of the engine. */
static void choose_engine_rule(struct ml_classifier *c, const struct ml_block *block,
                               struct ml_class_facts *birth)
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
        birth->rule = ML_CLASS_RULE_BACKWARD;
        c->backward_bytes += block->size;
        c->backward_named_bytes += birth->named ? block->size : 0;
        break;
    case ML_PHASE_OPTIMIZER: birth->rule = ML_CLASS_RULE_OPTIMIZER; break;
    case ML_PHASE_FORWARD: birth->rule = ML_CLASS_RULE_AFTER_FORWARD; break;
    default: birth->rule = ML_CLASS_RULE_NONE;
    }
}

static bool is_for_collectives(const struct ml_classifier *c, const struct ml_block *block)
{
    const struct ml_trace *trace = c->replay.trace;
    const struct ml_thread *thread;

    if (block->scope != 0)
        return false;
    thread = ml_trace_thread(trace, ml_block_thread(block));
    return strncmp(ml_trace_string(trace, thread->name, NULL), COLLECTIVES_THREAD,
                   strlen(COLLECTIVES_THREAD)) == 0;
}

/* For blocks that a function of the program allocated outside of modules: another thread may be in
 * backward. */
static enum ml_class_rule rule_in_function(const struct ml_class_process *process)
{
    return process->phase == ML_PHASE_FORWARD || process->phase == ML_PHASE_BACKWARD
               ? ML_CLASS_RULE_AFTER_FORWARD
               : ML_CLASS_RULE_PROGRAM;
}

static void choose_rule(struct ml_classifier *c, const struct ml_block *block,
                        const struct ml_class_process *process, struct ml_class_facts *birth)
{
    struct ml_scope_fact fact = ml_scope_fact_of(&c->facts, block->scope);
    enum ml_phase phase = phase_at(&fact, process);

    birth->named = fact.module != 0;
    if (is_for_collectives(c, block)) {
        birth->rule = ML_CLASS_RULE_COMMUNICATION;
    } else if (phase == ML_PHASE_BACKWARD) {
        birth->rule = ML_CLASS_RULE_BACKWARD;
        birth->in_call = is_in_call(c, block, fact.phase_scope);
        c->backward_bytes += block->size;
        c->backward_named_bytes += birth->named ? block->size : 0;
    } else if (phase == ML_PHASE_OPTIMIZER) {
        choose_optimizer_rule(c, block, &fact, process, birth);
    } else if (fact.module != 0 && !fact.in_function) {
        birth->rule = ML_CLASS_RULE_MODULE;
        birth->in_call = is_in_call(c, block, fact.module);
    } else if (fact.in_function) {
        birth->rule = rule_in_function(process);
        birth->outside = phase != ML_PHASE_RECOMPUTE;
    } else {
        birth->rule = phase == ML_PHASE_FORWARD ? ML_CLASS_RULE_AFTER_FORWARD : ML_CLASS_RULE_NONE;
        birth->outside = phase != ML_PHASE_RECOMPUTE;
    }
}

/* A label of category OTHER is only a name. It counts if no other label gave the block a
 * category. */
static bool counts(const struct ml_class_facts *birth, uint8_t category)
{
    bool weak = category == MEMLEDGER_INPUT;

    if (category == MEMLEDGER_OTHER)
        return birth->label_category == MEMLEDGER_OTHER;
    return !weak || (birth->outside && (birth->label_category == MEMLEDGER_OTHER ||
                                        birth->label_category == MEMLEDGER_INPUT));
}

/* Whether a label from MXNet gives only the purpose of the block and no name. Memory that forward
 * and backward share has the name of the first operator that could have used it. */
static bool is_weak(const struct ml_classifier *c, const struct ml_block *block,
                    const struct ml_class_facts *birth, const char *text, uint8_t *category)
{
    if (*category == MEMLEDGER_ACTIVATION && birth->rule == ML_CLASS_RULE_BACKWARD) {
        *category = MEMLEDGER_INTERMEDIATE_GRADIENT;
        return true;
    }
    return ml_engine_name_is_empty(c->replay.trace, block->scope, text, *category);
}

/* An engine's operator has a result with a name. */
static void add_result(struct ml_classifier *c, const struct ml_block *block)
{
    struct ml_scope_fact fact = ml_scope_fact_of(&c->facts, block->scope);

    if (ml_named_results_add(&c->results, c->replay.trace, &fact) < 0)
        c->failed = -ENOMEM;
}

static void set_label(struct ml_classifier *c, const struct ml_block *block, uint32_t label)
{
    c->replay.blocks.items[block - c->replay.blocks.items].stack = ml_block_number(label);
}

void ml_classifier_take_label(struct ml_classifier *c, const struct ml_block *block,
                              struct ml_class_facts *birth, uint32_t label, uint8_t category)
{
    uint32_t len;
    const char *text = ml_trace_string(c->replay.trace, label, &len);
    bool weak;

    if (!counts(birth, category))
        return;
    weak = c->spaces.items[block->space].by_engine && is_weak(c, block, birth, text, &category);
    birth->is_result = true;
    if (category == MEMLEDGER_PARAMETER && ml_map_put(&c->parameter_sizes, block->size, 1) < 0)
        c->failed = -ENOMEM;
    if (category == MEMLEDGER_ACTIVATION && c->spaces.items[block->space].by_engine)
        add_result(c, block);
    if (category == MEMLEDGER_OPTIMIZER_STATE)
        c->processes.items[c->spaces.items[block->space].process].names_state = true;
    if (category != MEMLEDGER_OTHER)
        birth->label_category = category & 0xf;
    if (weak)
        return;
    if (category == MEMLEDGER_OTHER)
        birth->tag_category = ml_label_tag(text, len) & 0xf;
    c->marked |= birth->tag_category != MEMLEDGER_OTHER;
    if (birth->rule == ML_CLASS_RULE_BACKWARD && !birth->named)
        c->backward_named_bytes += block->size;
    birth->named = true;
    set_label(c, block, label);
}

struct ml_class_facts *ml_classifier_facts(struct ml_classifier *c, const struct ml_block *block)
{
    size_t index = (size_t)(block - c->replay.blocks.items);

    while (c->births.len <= index)
        if (ml_vec_push(&c->births, (struct ml_class_facts){0}) < 0)
            return NULL;
    return &c->births.items[index];
}

int ml_classifier_open(struct ml_classifier *c, const struct ml_block *block)
{
    const struct ml_class_space *space = space_of(c, block->space);
    struct ml_class_facts *birth = ml_classifier_facts(c, block);

    if (!space || !birth || (c->ret && ml_vec_push(&c->ret->categories, MEMLEDGER_OTHER) < 0))
        return -ENOMEM;
    c->next_ordinal++;
    *birth = (struct ml_class_facts){.outside = !space->classified};
    if (space->classified && space->by_engine)
        choose_engine_rule(c, block, birth);
    else if (space->classified)
        choose_rule(c, block, &c->processes.items[space->process], birth);
    if (block->label)
        ml_classifier_take_label(c, block, birth, block->label, block->category);
    return 0;
}

int ml_classifier_adopt(struct ml_classifier *c, const struct ml_block *block)
{
    struct ml_class_facts *birth = ml_classifier_facts(c, block);

    if (!birth || !space_of(c, block->space))
        return -ENOMEM;
    *birth = (struct ml_class_facts){.outside = true};
    return 0;
}
