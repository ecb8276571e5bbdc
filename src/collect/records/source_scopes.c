/* source_scopes.c: see source_scopes.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "source_scopes.h"

#include "block.h"
#include "event.h"
#include "inner_path.h"
#include "memledger/memledger.h"
#include "record_words.h"
#include "target_stacks.h"

#define KIND_BITS 8 /* of a push's kind word; the rest is the class */
#define KIND_FLAGS (ML_PUSH_IMPERATIVE | ML_PUSH_BELOW)

/* Its pop is ignored as well. */
static void ignore_push(struct ml_source *s)
{
    s->place.too_deep++;
    s->target->scopes_dropped++;
}

static void leave_function(struct ml_dict *dict, struct ml_source *s)
{
    if (s->place.in_function)
        s->place.scope = ml_dict_scope_parent(dict, s->place.scope);
    s->place.in_function = false;
}

void ml_source_enter_function(struct ml_dict *dict, struct ml_source *s)
{
    struct ml_dict_scope scope = {.kind = MEMLEDGER_SCOPE_MODULE,
                                  .name = ml_target_string(s->target, (uint32_t)ml_word(s, 1)),
                                  .class_name = ml_dict_cstr(dict, ML_FUNCTION_CLASS)};

    leave_function(dict, s);
    if (!ml_word(s, 1) || s->place.too_deep || s->place.depth == ML_SCOPE_MAX_DEPTH)
        return;
    scope.parent = s->place.scope;
    s->place.scope = ml_dict_scope(dict, &scope);
    s->place.in_function = s->place.scope != scope.parent;
}

/* The innermost module at a scope or around it, 0: none. */
static uint32_t module_around(const struct ml_dict *dict, uint32_t scope)
{
    while (scope && ml_dict_scope_at(dict, scope).kind != MEMLEDGER_SCOPE_MODULE)
        scope = ml_dict_scope_parent(dict, scope);
    return scope;
}

/* The full name of a module by its path below the one that the thread is in. Paths leave out the
 * outermost module. */
static uint32_t name_below(struct ml_dict *dict, uint32_t scope, uint32_t path)
{
    uint32_t around = module_around(dict, scope), name = path;
    struct ml_buf text;

    if (!around || !module_around(dict, ml_dict_scope_parent(dict, around)))
        return path;
    ml_buf_init(&text);
    if (ml_buf_printf(&text, "%s.%s", ml_dict_text(dict, ml_dict_scope_at(dict, around).name),
                      ml_dict_text(dict, path)) == 0)
        name = ml_dict_string(dict, (const char *)text.data, text.len);
    ml_buf_release(&text);
    return name;
}

/* A push below an ignored one is ignored as well: pops come in order. */
static bool push(struct ml_dict *dict, struct ml_source *s)
{
    uint64_t pair = ml_word(s, 1);
    uint32_t number;
    struct ml_dict_scope scope = {
        .parent = s->place.scope,
        .kind = ml_high(pair) & ((1u << KIND_BITS) - 1) & ~KIND_FLAGS,
        .name = ml_target_string(s->target, ml_low(pair)),
        .class_name = ml_target_string(s->target, ml_high(pair) >> KIND_BITS),
    };

    if (s->place.too_deep || s->place.depth == ML_SCOPE_MAX_DEPTH) {
        ignore_push(s);
        return false;
    }
    if (ml_high(pair) & ML_PUSH_BELOW)
        scope.name = name_below(dict, scope.parent, scope.name);
    number = ml_dict_scope(dict, &scope);
    if (number == scope.parent) { /* it could not be kept: its pop must not leave the parent */
        s->place.too_deep++;
        return false;
    }
    s->place.scope = number;
    s->place.depth++;
    return true;
}

bool ml_source_push(struct ml_dict *dict, struct ml_source *s)
{
    leave_function(dict, s);
    return push(dict, s);
}

static void go_back(struct ml_source *s)
{
    if (s->left.len)
        s->place = s->left.items[--s->left.len];
}

bool ml_source_pop(struct ml_dict *dict, struct ml_source *s, uint32_t *ret_scope)
{
    s->outputs.count = 0;
    leave_function(dict, s);
    if (s->place.too_deep) {
        s->place.too_deep--;
        return false;
    }
    if (s->place.depth > s->place.floor) {
        s->place.depth--;
        s->place.scope = ml_dict_scope_parent(dict, s->place.scope);
        *ret_scope = s->place.scope;
        if (s->place.in_work && s->place.depth == s->place.floor)
            go_back(s);
        return true;
    }
    go_back(s);
    return false;
}

void ml_source_take_tape(struct ml_source *s)
{
    ml_tapes_add(&s->target->tapes, ml_word(s, 1), ml_word(s, 2), ml_word(s, 3), s->place.scope);
}

/* The operator names blocks outside modules. */
static void add_operator(struct ml_dict *dict, uint32_t name, struct ml_backward_scope *at)
{
    struct ml_dict_scope scope = {
        .parent = at->scope, .kind = MEMLEDGER_SCOPE_OPERATOR, .name = name};

    if (!name || at->depth == ML_SCOPE_MAX_DEPTH)
        return;
    at->scope = ml_dict_scope(dict, &scope);
    at->depth++;
}

static void go_inside(struct ml_dict *dict, struct ml_source *s, uint32_t made)
{
    struct ml_inner_path to =
        ml_inner_path(dict, (struct ml_inner_path){s->place.scope, s->place.depth}, made);

    s->place = (struct ml_source_place){.scope = to.scope,
                                        .depth = to.depth,
                                        .floor = to.depth,
                                        .stack = s->place.stack,
                                        .operators = s->place.operators};
}

void ml_source_push_tape(struct ml_dict *dict, struct ml_source *s)
{
    struct ml_target *t = s->target;
    uint64_t pair = ml_word(s, 3);
    uint32_t made;
    struct ml_backward_scope to;

    leave_function(dict, s);
    if (s->left.len == ML_SCOPE_MAX_DEPTH || ml_vec_push(&s->left, s->place)) {
        ignore_push(s);
        return;
    }
    made = ml_tapes_find(&t->tapes, ml_word(s, 1), ml_word(s, 2));
    if (ml_high(pair) & ML_TAPE_INNER) {
        go_inside(dict, s, made);
        return;
    }
    to = ml_backward_scope(&t->backward, dict, made);
    if (!to.has_module || ml_high(pair) & ML_TAPE_OPERATOR)
        add_operator(dict, ml_target_string(t, ml_low(pair)), &to);
    s->place = (struct ml_source_place){.scope = to.scope, .depth = to.depth, .floor = to.depth};
    s->node_begun = true;
    s->node = to.scope;
}

static uint32_t operator_flags(const struct ml_target *t, uint32_t name)
{
    bool is_early = !t->profile || !ml_profile_active(t->profile);

    return (name & ML_WORK_IMPERATIVE ? ML_OPERATOR_IMPERATIVE : 0) |
           (is_early ? ML_OPERATOR_EARLY : 0);
}

void ml_source_hand_work(struct ml_source *s)
{
    struct ml_target *t = s->target;
    uint64_t pair = ml_word(s, 2);
    uint32_t name = ml_low(pair);

    ml_works_put(&t->works, ml_word(s, 1),
                 (struct ml_work){.scope = s->place.scope,
                                  .depth = s->place.depth,
                                  .stack = ml_high(pair) ? ml_target_stack(t, ml_high(pair))
                                                         : s->place.stack,
                                  .name = ml_target_string(t, name & ~ML_WORK_IMPERATIVE),
                                  .operators = operator_flags(t, name),
                                  .outputs = ml_outputs_wait(&t->waiting, &s->outputs)});
}

void ml_source_move_work(struct ml_source *s)
{
    ml_works_move(&s->target->works, ml_word(s, 1), ml_word(s, 2));
}

bool ml_source_push_work(struct ml_dict *dict, struct ml_source *s)
{
    struct ml_target *t = s->target;
    uint32_t name = ml_target_string(t, ml_low(ml_word(s, 2)));
    struct ml_work work = {0};
    struct ml_dict_scope scope;

    leave_function(dict, s);
    ml_works_take(&t->works, ml_word(s, 1), &work);
    if (work.depth == ML_SCOPE_MAX_DEPTH || s->left.len == ML_SCOPE_MAX_DEPTH ||
        ml_vec_push(&s->left, s->place)) {
        ignore_push(s);
        return false;
    }
    s->place = (struct ml_source_place){.scope = work.scope,
                                        .depth = work.depth,
                                        .floor = work.depth,
                                        .stack = work.stack,
                                        .operators = work.operators,
                                        .outputs = work.outputs};
    if (!name && !work.name)
        return false;
    scope = (struct ml_dict_scope){
        .parent = work.scope, .kind = MEMLEDGER_SCOPE_OPERATOR, .name = name ? name : work.name};
    s->place.scope = ml_dict_scope(dict, &scope);
    if (s->place.scope == work.scope)
        return false;
    s->place.depth++;
    s->place.in_work = true;
    return true;
}

void ml_source_leave_scopes(struct ml_source *s)
{
    s->place = (struct ml_source_place){0};
    s->node_begun = false;
    s->last_node = 0;
    s->helps = false;
    s->helped = 0;
    ml_vec_clear(&s->left);
}
