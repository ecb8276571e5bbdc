/* module_tree.c: see module_tree.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "module_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "module_sums.h"

/* A module with those below it. The children of a module are a range of `order`. */
struct node {
    uint32_t module, parent; /* the node of blocks without a module is its own parent */
    struct ml_holding all;
    size_t below;                  /* modules with memory */
    size_t children, children_end; /* in order */
};

/* A part of `order` that remains to be listed. */
struct siblings {
    size_t next, end;
    size_t depth;
};

struct builder {
    const struct ml_tree_opts *opts;
    const struct ml_module_sums *sums;
    struct ml_module_tree *ret;
    ML_VEC(struct node) nodes;    /* by module */
    ML_VEC(struct node *) order;  /* siblings together, most bytes first */
    ML_VEC(struct siblings) open; /* being listed, innermost last */
};

/* ---- Sums -------------------------------------------------------------- */

struct placed {
    size_t rank; /* higher than the parent's */
    uint32_t module;
};

/* A parent that was called later than its child has a higher number, but its path is shorter.
 * Scopes have higher numbers than those around them. */
static size_t rank_of(const struct ml_modules *modules, uint32_t module)
{
    const struct ml_module *m = &modules->list.items[module];

    if (modules->nested)
        return module;
    return m->root == module ? 0 : 1 + m->path_len;
}

static int highest_first(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;

    if (x->rank != y->rank)
        return x->rank < y->rank ? 1 : -1;
    return x->module < y->module ? -1 : x->module > y->module;
}

static void add_to_parents(struct builder *b, const struct placed *placed, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct node *node = &b->nodes.items[placed[i].module], *parent;

        ml_holding_add(&node->all, &b->sums->own.items[node->module]);
        if (node->module == ML_NO_MODULE || node->parent == ML_NO_MODULE)
            continue;
        parent = &b->nodes.items[node->parent];
        ml_holding_add(&parent->all, &node->all);
        parent->below += node->below + (node->all.blocks > 0);
    }
}

static int sum_up(struct builder *b)
{
    const struct ml_modules *modules = &b->sums->modules;
    ML_VEC(struct placed) placed = {0};
    int r = 0;

    for (uint32_t i = 0; i < modules->list.len && r == 0; i++) {
        struct node node = {.module = i, .parent = modules->list.items[i].parent};

        r = ml_vec_push(&b->nodes, node);
        if (r == 0)
            r = ml_vec_push(&placed, (struct placed){rank_of(modules, i), i});
    }
    if (r == 0) {
        ml_vec_sort(&placed, highest_first);
        add_to_parents(b, placed.items, placed.len);
    }
    ml_vec_release(&placed);
    return r;
}

/* ---- Order ------------------------------------------------------------- */

/* Blocks without a module are a sibling of the outermost modules, and come last. */
static int siblings_by_bytes(const void *a, const void *b)
{
    const struct node *x = *(struct node *const *)a, *y = *(struct node *const *)b;

    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    if ((x->module == ML_NO_MODULE) != (y->module == ML_NO_MODULE))
        return x->module == ML_NO_MODULE ? 1 : -1;
    if (x->all.bytes != y->all.bytes)
        return x->all.bytes < y->all.bytes ? 1 : -1;
    return x->module < y->module ? -1 : x->module > y->module;
}

static int put_in_order(struct builder *b)
{
    size_t first = 0;
    int r = 0;

    for (size_t i = 0; i < b->nodes.len && r == 0; i++)
        if (b->nodes.items[i].all.blocks > 0)
            r = ml_vec_push(&b->order, &b->nodes.items[i]);
    if (r < 0 || b->order.len == 0)
        return r;
    ml_vec_sort(&b->order, siblings_by_bytes);
    for (size_t i = 1; i <= b->order.len; i++) {
        uint32_t parent = b->order.items[first]->parent;

        if (i < b->order.len && b->order.items[i]->parent == parent)
            continue;
        b->nodes.items[parent].children = first;
        b->nodes.items[parent].children_end = i;
        first = i;
    }
    return 0;
}

/* ---- Rows -------------------------------------------------------------- */

static bool is_small(const struct builder *b, const struct node *node)
{
    return node->module != ML_NO_MODULE &&
           ml_snapshot_percent(&b->ret->at, node->all.bytes) < b->opts->min_percent;
}

static int add_row(struct builder *b, const struct node *node, size_t depth, bool open)
{
    const struct ml_module *module = &b->sums->modules.list.items[node->module];
    struct ml_arena *arena = &b->ret->at.arena;
    struct ml_tree_row row = {
        .name = ml_arena_dup(arena, module->name, strlen(module->name)),
        .title = ml_module_title(&b->sums->modules, node->module, arena),
        .class_name = ml_module_class(&b->sums->modules, node->module, arena),
        .depth = depth,
        .hidden = open ? 0 : node->below,
        .no_module = node->module == ML_NO_MODULE,
        .own = b->sums->own.items[node->module],
        .all = node->all,
        .percent = ml_snapshot_percent(&b->ret->at, node->all.bytes),
    };

    return row.name && row.title && row.class_name ? ml_vec_push(&b->ret->rows, row) : -ENOMEM;
}

/* The number of small ones from `next` on, which are adjacent. */
static size_t count_small(const struct builder *b, const struct siblings *s)
{
    size_t n = 0;

    while (s->next + n < s->end && is_small(b, b->order.items[s->next + n]))
        n++;
    return n;
}

static int fold(struct builder *b, struct siblings *s, size_t count)
{
    struct ml_tree_row row = {
        .name = "", .title = "", .class_name = "", .depth = s->depth, .folded = count};

    for (size_t i = 0; i < count; i++)
        ml_holding_add(&row.all, &b->order.items[s->next++]->all);
    row.percent = ml_snapshot_percent(&b->ret->at, row.all.bytes);
    return ml_vec_push(&b->ret->rows, row);
}

static int list_one(struct builder *b, struct siblings *s)
{
    const struct node *node = b->order.items[s->next++];
    size_t depth = s->depth;
    bool open = node->module != ML_NO_MODULE && node->children < node->children_end &&
                (b->opts->depth == 0 || depth < b->opts->depth);
    int r = add_row(b, node, depth, open);

    if (r == 0 && open)
        r = ml_vec_push(&b->open, (struct siblings){node->children, node->children_end, depth + 1});
    return r;
}

static int list_rows(struct builder *b)
{
    const struct node *top = &b->nodes.items[ML_NO_MODULE];
    int r;

    if (b->order.len == 0)
        return 0;
    r = ml_vec_push(&b->open, (struct siblings){top->children, top->children_end, 1});
    while (r == 0 && b->open.len > 0) {
        struct siblings *s = &b->open.items[b->open.len - 1];
        size_t small = count_small(b, s);

        if (s->next == s->end)
            b->open.len--;
        else
            r = small > 1 ? fold(b, s, small) : list_one(b, s);
    }
    return r;
}

static int build(struct builder *b)
{
    int r = sum_up(b);

    if (r == 0)
        r = put_in_order(b);
    if (r == 0)
        r = list_rows(b);
    ml_vec_release(&b->nodes);
    ml_vec_release(&b->order);
    ml_vec_release(&b->open);
    return r;
}

int ml_module_tree(const struct ml_trace *trace, const struct ml_tree_opts *opts,
                   struct ml_module_tree *ret, struct ml_error *err)
{
    struct ml_module_sums sums;
    int r;

    *ret = (struct ml_module_tree){0};
    r = ml_module_sums(trace, &opts->snapshot, &ret->at, &sums, err);
    if (r == 0) {
        ret->from_scopes = sums.modules.nested && sums.modules.list.len > 1;
        ret->has_stacks = ml_trace_stacks(trace) > 1;
        ret->all = sums.all;
        r = build(&(struct builder){.opts = opts, .sums = &sums, .ret = ret});
        if (r < 0)
            ml_error_set(err, r, "out of memory");
    }
    ml_module_sums_release(&sums);
    return r;
}

void ml_module_tree_release(struct ml_module_tree *tree)
{
    ml_vec_release(&tree->rows);
    ml_snapshot_release(&tree->at);
    *tree = (struct ml_module_tree){0};
}
