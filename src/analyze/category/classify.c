/* classify.c: see classify.h. Feeds the classifier the events of a whole trace.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "classify.h"

#include <errno.h>
#include <stdlib.h>

#include "classifier.h"
#include "each_event.h"
#include "label_tags.h"
#include "memledger/memledger.h"
#include "unknowns.h"

#define TELL_EVENTS 1048576 /* from one report of progress to the next */

static uint64_t next_ordinal(const struct ml_classifier *c)
{
    return c->next_ordinal;
}

/* @return 0 or -ENOMEM */
static int feed_alloc(struct ml_classifier *c, const struct ml_event *event)
{
    struct ml_event numbered = *event;

    numbered.time_ns = next_ordinal(c);
    numbered.stack = 0;
    return ml_replay_feed(&c->replay, &numbered);
}

/* ---- Nodes --------------------------------------------------------------- */

/* The scope that identifies a node. If operators are recorded, those that a node runs are below
 * its own scope. */
static uint32_t place_of_node(const struct ml_classifier *c, uint32_t scope)
{
    uint32_t operation = ml_scope_fact_of(&c->facts, scope).operation;

    return operation ? operation : scope;
}

int ml_classifier_visit(struct ml_classifier *c, uint32_t thread, uint32_t scope, bool marked)
{
    return ml_nodes_follow(&c->nodes, thread, place_of_node(c, scope), marked, next_ordinal(c));
}

/* @return 0 or -ENOMEM */
static int follow_node(struct ml_classifier *c, const struct ml_event *event, bool marked)
{
    return ml_classifier_visit(c, event->thread, event->scope, marked);
}

/* ---- Blocks --------------------------------------------------------------- */

static void on_open(void *ctx, const struct ml_block *block)
{
    struct ml_classifier *c = ctx;

    if (ml_classifier_open(c, block) < 0)
        c->failed = -ENOMEM;
}

static void on_split(void *ctx, const struct ml_block *from, const struct ml_block *rest)
{
    struct ml_classifier *c = ctx;
    /* First, because this call may move the others. */
    struct ml_class_facts *birth = ml_classifier_facts(c, rest);

    if (birth)
        *birth = *ml_classifier_facts(c, from);
    else
        c->failed = -ENOMEM;
}

static void decide(struct ml_classifier *c, const struct ml_block *block,
                   const struct ml_event *death)
{
    const struct ml_class_facts *birth = &c->births.items[block - c->replay.blocks.items];
    struct ml_class_label label = {.ordinal = ml_block_ordinal(block),
                                   .label = ml_block_counted_label(block)};
    uint8_t category = ml_classifier_category(c, block, birth, death);

    if (!c->ret)
        return;
    c->ret->categories.items[ml_block_ordinal(block)] = category;
    if (label.label && ml_vec_push(&c->ret->labels, label) < 0)
        c->failed = -ENOMEM;
}

static void on_close(void *ctx, const struct ml_block *block, const struct ml_event *event)
{
    struct ml_classifier *c = ctx;

    if (c->failed == 0)
        decide(c, block, event);
}

static void decide_the_living(struct ml_classifier *c)
{
    for (size_t i = 0; i < c->replay.blocks.len; i++)
        if (c->replay.blocks.items[i].live)
            decide(c, &c->replay.blocks.items[i], NULL);
}

/* ---- The pass ---------------------------------------------------------- */

/* @return 0 or -ENOMEM */
static int begin_backward(struct ml_classifier *c, struct ml_class_process *process,
                          uint32_t thread)
{
    uint64_t index;

    if (process->passes.begun == 0)
        process->pass_thread = thread;
    process->in_threads |= process->pass_thread != thread;
    ml_passes_begin(&process->passes, next_ordinal(c));
    c->last_pass = next_ordinal(c);
    if (!ml_map_get(&c->thread_index, thread, &index)) {
        index = c->in_thread.len;
        if (ml_vec_push(&c->in_thread, (struct ml_passes){0}) < 0 ||
            ml_map_put(&c->thread_index, thread, index) < 0)
            return -ENOMEM;
    }
    ml_passes_begin(&c->in_thread.items[index], next_ordinal(c));
    return 0;
}

static int on_phase(struct ml_classifier *c, const struct ml_event *event)
{
    uint32_t number = ml_trace_thread(c->replay.trace, event->thread)->process, len;
    int64_t index = ml_classifier_process(c, number);
    struct ml_class_process *process;
    const char *name;

    if (index < 0)
        return -ENOMEM;
    process = &c->processes.items[index];
    name = ml_trace_string(c->replay.trace, (uint32_t)event->args[2], &len);
    process->phase = (uint8_t)ml_phase_of_name(name, len);
    process->phase_ordinal = next_ordinal(c);
    if (process->phase == ML_PHASE_FORWARD)
        ml_passes_begin(&process->forwards, next_ordinal(c));
    c->marked |= process->phase != ML_PHASE_NONE;
    return process->phase == ML_PHASE_BACKWARD ? begin_backward(c, process, event->thread) : 0;
}

static void on_label(struct ml_classifier *c, const struct ml_event *event)
{
    const struct ml_block *block = ml_replay_find(&c->replay, event->space, event->addr);
    uint8_t category = event->args[1] < ML_CATEGORIES ? (uint8_t)event->args[1] : 0;

    if (block)
        ml_classifier_take_label(c, block, &c->births.items[block - c->replay.blocks.items],
                                 (uint32_t)event->args[0], category);
}

static int on_mark(struct ml_classifier *c, const struct ml_event *event)
{
    switch (event->args[0]) {
    case MEMLEDGER_MARK_PHASE: return on_phase(c, event);
    case ML_MARK_NODE: return follow_node(c, event, true);
    default: return 0;
    }
}

/* An operator starts, in the phase of its scope. */
static int on_operator(struct ml_classifier *c, const struct ml_event *event)
{
    struct ml_scope_fact fact = ml_scope_fact_of(&c->facts, event->scope);
    uint32_t number = ml_trace_thread(c->replay.trace, event->thread)->process;
    int64_t index = ml_classifier_process(c, number);

    if (index < 0)
        return -ENOMEM;
    ml_engine_passes_run(&c->processes.items[index].engine,
                         ml_scope_is_in_module(&fact) && fact.phase == ML_PHASE_NONE
                             ? ML_PHASE_FORWARD
                             : (enum ml_phase)fact.phase,
                         next_ordinal(c));
    return 0;
}

static int on_push(struct ml_classifier *c, const struct ml_event *event)
{
    bool is_operator =
        ml_trace_scope(c->replay.trace, event->scope)->kind == MEMLEDGER_SCOPE_OPERATOR;
    int r = ml_nodes_turn(&c->nodes, event->thread, next_ordinal(c));

    if (r == 0 && is_operator)
        r = on_operator(c, event);
    return r < 0 ? r : ml_calls_push(&c->calls, event, next_ordinal(c));
}

static int on_pop(struct ml_classifier *c, const struct ml_event *event)
{
    int r = ml_nodes_turn(&c->nodes, event->thread, next_ordinal(c));

    return r < 0 ? r : ml_calls_pop(&c->calls, event);
}

int ml_classifier_feed(void *ctx, const struct ml_event *event)
{
    struct ml_classifier *c = ctx;
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

static bool has_scopes(const struct ml_classifier *c)
{
    return c->facts.has_modules || c->facts.has_functions || c->facts.has_phases;
}

static void finish(struct ml_classifier *c)
{
    struct ml_classes *ret = c->ret;

    if (!has_scopes(c) && !c->marked) {
        ml_classes_release(ret);
        return;
    }
    decide_the_living(c);
    ml_kept_blocks_decide(&c->kept, c->last_pass, ret->categories.items);
    ml_replay_release_blocks(&c->replay); /* sorting may need memory too */
    sort_labels(ret);
    ret->backward_bytes = c->backward_bytes;
    ret->backward_named_bytes = c->backward_named_bytes;
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

bool ml_classifier_is_needless(const struct ml_classifier *c, const struct ml_trace *trace)
{
    return !has_scopes(c) && !has_telling_names(trace);
}

int ml_classifier_learn(struct ml_classifier *c, const struct ml_trace *trace)
{
    int r;

    ml_scope_facts_release(&c->facts);
    ml_recreated_scopes_release(&c->alike);
    r = ml_scope_facts_init(trace, &c->facts);
    return r == 0 && !ml_classifier_is_needless(c, trace)
               ? ml_recreated_scopes_find(trace, &c->alike)
               : r;
}

int ml_classifier_begin(struct ml_classifier *c, const struct ml_trace *trace)
{
    int r = ml_replay_init(&c->replay, trace);

    c->calls.trace = trace;
    c->inferred = ml_trace_setting(trace, ML_SETTING_IMPORT_INFERRED) != NULL;
    c->replay.on_open = on_open;
    c->replay.on_split = on_split;
    c->replay.on_close = on_close;
    c->replay.ctx = c;
    return r;
}

static int classify(struct ml_classifier *c, const struct ml_trace *trace, struct ml_error *err)
{
    int r = ml_classifier_learn(c, trace);

    if (r == 0 && ml_classifier_is_needless(c, trace))
        return 0;
    if (r == 0)
        r = ml_classifier_begin(c, trace);
    if (r < 0)
        return ml_error_set(err, r, "out of memory");
    r = ml_each_event(trace, ml_classifier_feed, c, err);
    if (r == 0)
        finish(c);
    return c->failed < 0 ? ml_error_set(err, c->failed, "out of memory") : r;
}

void ml_classifier_release(struct ml_classifier *c)
{
    ml_scope_facts_release(&c->facts);
    ml_calls_release(&c->calls);
    ml_replay_release(&c->replay);
    ml_vec_release(&c->births);
    ml_nodes_release(&c->nodes);
    ml_kept_blocks_release(&c->kept);
    ml_named_results_release(&c->results);
    ml_recreated_scopes_release(&c->alike);
    ml_vec_release(&c->processes);
    ml_vec_release(&c->spaces);
    ml_map_release(&c->process_index);
    ml_vec_release(&c->in_thread);
    ml_map_release(&c->thread_index);
    ml_map_release(&c->parameter_sizes);
}

int ml_classify(const struct ml_trace *trace, struct ml_classes *ret, struct ml_error *err)
{
    return ml_classify_telling(trace, NULL, ret, err);
}

int ml_classify_telling(const struct ml_trace *trace, struct ml_progress *progress,
                        struct ml_classes *ret, struct ml_error *err)
{
    struct ml_classifier c = {.ret = ret, .progress = progress};
    int r;

    *ret = (struct ml_classes){0};
    r = classify(&c, trace, err);
    ml_classifier_release(&c);
    return r;
}

void ml_classes_release(struct ml_classes *classes)
{
    ml_vec_release(&classes->categories);
    ml_vec_release(&classes->labels);
    *classes = (struct ml_classes){0};
}
