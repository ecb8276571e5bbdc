/* call_tree.c: see call_tree.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "call_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "asking_frame.h"
#include "intern.h"

#define SEVERAL UINT32_MAX

struct node {
    uint32_t function;                  /* see asking_frame.h */
    uint32_t frame;                     /* the first one of it */
    uint32_t line;                      /* SEVERAL: its frames have different ones */
    uint32_t first_child, next_sibling; /* node, 0: none; node 0 is the whole */
    uint64_t figure, own;
};

struct builder {
    const struct ml_trace *trace;
    const struct ml_call_tree_opts *opts;
    struct ml_call_tree *ret;
    ML_VEC(struct node) nodes;
    struct ml_intern index;     /* parent and function -> node - 1 */
    struct ml_intern names;     /* of functions: a trace may have a name twice */
    ML_VEC(uint32_t) functions; /* first one of a name, by number in `names` */
    ML_VEC(uint32_t) path;      /* frames of a stack, innermost first */
};

/* ---- The nodes --------------------------------------------------------------- */

/* @return see ml_frame_function; or -ENOMEM */
static int64_t function_of(struct builder *b, const struct ml_frame *frame)
{
    uint32_t function = ml_frame_function(b->trace, frame), len;
    const char *name;
    bool is_new = false;
    int64_t number;

    if (function != frame->function)
        return function;
    name = ml_trace_string(b->trace, function, &len);
    number = ml_intern_put(&b->names, name, len, &is_new);
    if (number < 0 || (is_new && ml_vec_push(&b->functions, function) < 0))
        return -ENOMEM;
    return b->functions.items[number];
}

/* @return the node, or -ENOMEM */
static int64_t child_of(struct builder *b, uint32_t parent, uint32_t frame_number)
{
    const struct ml_frame *frame = ml_trace_frame(b->trace, frame_number);
    int64_t number, function = function_of(b, frame);
    uint32_t key[2] = {parent, (uint32_t)function};
    bool is_new = false;

    number = function < 0 ? function : ml_intern_put(&b->index, key, sizeof(key), &is_new);
    if (number < 0)
        return -ENOMEM;
    number++;
    if (is_new) {
        struct node node = {.function = key[1],
                            .frame = frame_number,
                            .line = frame->line,
                            .next_sibling = b->nodes.items[parent].first_child};

        if (ml_vec_push(&b->nodes, node) < 0)
            return -ENOMEM;
        b->nodes.items[parent].first_child = (uint32_t)number;
    } else if (b->nodes.items[number].line != frame->line) {
        b->nodes.items[number].line = SEVERAL;
    }
    return number;
}

static int read_path(struct builder *b, uint32_t stack)
{
    ml_vec_clear(&b->path);
    for (stack = ml_asking_stack(b->trace, stack); stack;
         stack = ml_trace_stack(b->trace, stack)->caller)
        if (ml_vec_push(&b->path, ml_trace_stack(b->trace, stack)->frame) < 0)
            return -ENOMEM;
    return 0;
}

static int add_stack(struct builder *b, uint32_t stack, uint64_t figure)
{
    int64_t node = 0;
    int r = read_path(b, stack);

    b->nodes.items[0].figure += figure;
    for (size_t i = 0; r == 0 && i < b->path.len; i++) {
        size_t at = b->opts->callers ? i : b->path.len - 1 - i;

        node = child_of(b, (uint32_t)node, b->path.items[at]);
        if (node < 0)
            return -ENOMEM;
        b->nodes.items[node].figure += figure;
    }
    if (r == 0)
        b->nodes.items[node].own += figure;
    return r;
}

static int add_stacks(struct builder *b)
{
    const struct ml_cost_report *costs = &b->ret->costs;
    int r = ml_vec_push(&b->nodes, (struct node){0});

    for (size_t i = 0; r == 0 && i < costs->groups.len; i++)
        r = add_stack(b, costs->groups.items[i].stack, costs->groups.items[i].figures[b->opts->of]);
    return r;
}

/* ---- The rows ---------------------------------------------------------------- */

struct child {
    uint64_t figure;
    uint32_t node;
};

typedef ML_VEC(struct child) children;

static int largest_first(const void *a, const void *b)
{
    const struct child *x = a, *y = b;

    if (x->figure != y->figure)
        return x->figure < y->figure ? 1 : -1;
    return x->node < y->node ? -1 : 1;
}

static int list_children(const struct builder *b, uint32_t parent, children *ret)
{
    for (uint32_t i = b->nodes.items[parent].first_child; i; i = b->nodes.items[i].next_sibling)
        if (ml_vec_push(ret, (struct child){b->nodes.items[i].figure, i}) < 0)
            return -ENOMEM;
    ml_vec_sort(ret, largest_first);
    return 0;
}

static double percent_of(const struct builder *b, uint64_t figure)
{
    uint64_t total = b->nodes.items[0].figure;

    return total ? 100.0 * (double)figure / (double)total : 0;
}

static const char *string_or_null(const struct ml_trace *trace, uint32_t string)
{
    return string ? ml_trace_string(trace, string, NULL) : NULL;
}

static int add_row(struct builder *b, uint32_t number, size_t depth)
{
    const struct node *node = &b->nodes.items[number];
    const struct ml_frame *frame = ml_trace_frame(b->trace, node->frame);
    struct ml_call_row row = {
        .function = ml_function_text(b->trace, node->function, &b->ret->costs.at.arena),
        .file = string_or_null(b->trace, frame->file),
        .line = node->line == SEVERAL ? 0 : node->line,
        .depth = depth,
        .figure = node->figure,
        .own = node->own,
        .percent = percent_of(b, node->figure),
    };

    if (frame->library >= 0)
        row.library =
            string_or_null(b->trace, ml_trace_library(b->trace, (uint32_t)frame->library)->path);
    return row.function ? ml_vec_push(&b->ret->rows, row) : -ENOMEM;
}

static int add_folded(struct builder *b, const struct child *list, size_t count, size_t depth)
{
    struct ml_call_row row = {.function = "", .depth = depth, .folded = count};

    for (size_t i = 0; i < count; i++)
        row.figure += list[i].figure;
    row.percent = percent_of(b, row.figure);
    return count > 0 ? ml_vec_push(&b->ret->rows, row) : 0;
}

static size_t count_below(const struct builder *b, uint32_t parent)
{
    size_t count = 0;

    for (uint32_t i = b->nodes.items[parent].first_child; i; i = b->nodes.items[i].next_sibling)
        count += 1 + count_below(b, i);
    return count;
}

static int add_rows(struct builder *b, uint32_t parent, size_t depth)
{
    children list = {0};
    int r = list_children(b, parent, &list);
    size_t shown = 0;

    while (shown < list.len && percent_of(b, list.items[shown].figure) >= b->opts->min_percent)
        shown++;
    for (size_t i = 0; r == 0 && i < shown; i++) {
        r = add_row(b, list.items[i].node, depth);
        if (r == 0 && b->opts->depth && depth >= b->opts->depth)
            b->ret->rows.items[b->ret->rows.len - 1].hidden = count_below(b, list.items[i].node);
        else if (r == 0)
            r = add_rows(b, list.items[i].node, depth + 1);
    }
    if (r == 0)
        r = add_folded(b, list.items + shown, list.len - shown, depth);
    ml_vec_release(&list);
    return r;
}

static int add_stackless(struct builder *b)
{
    uint64_t own = b->nodes.items[0].own;
    struct ml_call_row row = {.function = "",
                              .depth = 1,
                              .no_stack = true,
                              .figure = own,
                              .own = own,
                              .percent = percent_of(b, own)};

    return own > 0 ? ml_vec_push(&b->ret->rows, row) : 0;
}

/* ---- The analysis ------------------------------------------------------------ */

static int refuse(struct ml_error *err)
{
    return ml_error_set(err, -ENODATA,
                        "no block has a stack; record with --stacks native (with --heap: malloc "
                        "too), or python");
}

/* Checkpoints tell at once whether a block is live at the instant. If the trace has no stacks, that
 * decides between a refusal and an empty tree, and only the tree needs figures of the whole run. */
static int check_stacks(const struct ml_trace *trace, const struct ml_call_tree_opts *opts,
                        struct ml_error *err)
{
    struct ml_replay replay = {0};
    struct ml_snapshot at;
    int r;

    if (opts->of != ML_COST_LIVE || ml_trace_stacks(trace) > 1 || !ml_trace_checkpoints(trace))
        return 0;
    r = ml_snapshot_sums(trace, &opts->snapshot, &at, &replay, err);
    if (r == 0 && at.bytes > 0 && !ml_health_no_frees(&at.instant.health))
        r = refuse(err);
    ml_snapshot_release(&at);
    ml_replay_release(&replay);
    return r;
}

static int build(struct builder *b, struct ml_error *err)
{
    int r = add_stacks(b);

    if (r == 0 && b->nodes.items[0].figure > 0 && !b->nodes.items[0].first_child)
        return refuse(err);
    if (r == 0)
        r = add_rows(b, 0, 1);
    if (r == 0)
        r = add_stackless(b);
    return r < 0 ? ml_error_set(err, r, "out of memory") : 0;
}

int ml_call_tree(const struct ml_trace *trace, const struct ml_call_tree_opts *opts,
                 struct ml_call_tree *ret, struct ml_error *err)
{
    const struct ml_costs_opts costs = {
        .snapshot = opts->snapshot,
        .by = {ML_KEY_STACK},
        .by_count = 1,
        .limit = opts->limit,
        .of = opts->of,
        .top = SIZE_MAX,
        .without_names = true,
    };
    struct builder b = {.trace = trace, .opts = opts, .ret = ret};
    int r;

    *ret = (struct ml_call_tree){.callers = opts->callers};
    r = check_stacks(trace, opts, err);
    if (r == 0)
        r = ml_costs(trace, &costs, &ret->costs, err);
    if (r == 0)
        r = build(&b, err);
    ml_vec_release(&b.nodes);
    ml_vec_release(&b.path);
    ml_intern_release(&b.index);
    ml_intern_release(&b.names);
    ml_vec_release(&b.functions);
    return r;
}

void ml_call_tree_release(struct ml_call_tree *tree)
{
    ml_vec_release(&tree->rows);
    ml_cost_report_release(&tree->costs);
}
