/* object_rows.c: see object_rows.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "object_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "memledger/memledger.h"
#include "varint.h"

#define NO_ROW UINT64_MAX
#define SCOPE_KEY (UINT64_C(1) << 63)

void ml_object_book_release(struct ml_object_book *b)
{
    ml_arena_release(&b->arena);
    ml_intern_release(&b->keys);
    ml_vec_release(&b->rows);
    ml_map_release(&b->object_rows);
    ml_map_release(&b->scope_rows);
    ml_map_release(&b->opened);
    ml_vec_release(&b->opens);
    ml_map_release(&b->scope_of);
}

/* ---- Rows --------------------------------------------------------------- */

static bool counts_bytes(const char *category)
{
    return strcmp(category, "Device Storage") == 0 || strcmp(category, "Pool Memory") == 0 ||
           strcmp(category, "Driver Memory") == 0;
}

/* The index of the row, added if it is new. @return -ENOMEM on failure */
static int64_t row_of(struct ml_object_book *b, enum ml_object_unit unit, const char *category,
                      const char *suffix, const char *name)
{
    struct ml_object_row row = {.unit = unit};
    struct ml_buf key = {0};
    size_t category_len;
    int64_t at = -ENOMEM;
    bool is_new = false;

    if (ml_buf_printf(&key, "%s%s", category, suffix) < 0)
        return -ENOMEM;
    category_len = key.len;
    if (ml_buf_append(&key, "", 1) == 0 && ml_buf_append(&key, &unit, sizeof(unit)) == 0 &&
        ml_buf_puts(&key, name) == 0 && ml_vec_reserve(&b->rows, 1) == 0)
        at = ml_intern_find(&b->keys, key.data, key.len);
    if (at == -ENOENT) {
        row.category = ml_arena_dup(&b->arena, key.data, category_len);
        row.name = ml_arena_dup(&b->arena, name, strlen(name));
        at = row.category && row.name ? ml_intern_put(&b->keys, key.data, key.len, &is_new)
                                      : -ENOMEM;
        if (at >= 0)
            (void)ml_vec_push(&b->rows, row);
    }
    ml_buf_release(&key);
    return at;
}

static int64_t new_object_row(struct ml_object_book *b, const struct ml_object *o)
{
    const char *name = ml_trace_string(b->trace, o->name, NULL);
    const char *domain = "";

    if (o->domain >= 0)
        domain =
            ml_trace_string(b->trace, ml_trace_object(b->trace, (uint32_t)o->domain)->name, NULL);
    switch (o->kind) {
    case MEMLEDGER_TASK: return row_of(b, ML_OBJECT_TIME, domain, "", name);
    case MEMLEDGER_FRAME: return row_of(b, ML_OBJECT_TIME, domain, ",frame", name);
    case MEMLEDGER_EVENT: return row_of(b, ML_OBJECT_TIME, "event", "", name);
    case MEMLEDGER_COUNTER:
        return row_of(b, counts_bytes(domain) ? ML_OBJECT_MEMORY : ML_OBJECT_VALUE, domain, "",
                      name);
    default: return -ENOENT;
    }
}

static int64_t new_scope_row(struct ml_object_book *b, uint32_t number)
{
    const struct ml_scope *scope = ml_trace_scope(b->trace, number);
    const char *name = ml_trace_string(b->trace, scope->name, NULL);

    if (scope->kind != MEMLEDGER_SCOPE_OPERATOR)
        return -ENOENT;
    return row_of(b, ML_OBJECT_TIME, "operator", "", name);
}

/* The row of a number, looked up once. -ENOENT: it has none */
static int64_t known_row(struct ml_object_book *b, struct ml_map *known, uint32_t number,
                         bool is_scope)
{
    uint64_t at;
    int64_t row;

    if (ml_map_get(known, number, &at))
        return at == NO_ROW ? -ENOENT : (int64_t)at;
    row =
        is_scope ? new_scope_row(b, number) : new_object_row(b, ml_trace_object(b->trace, number));
    if (row == -ENOMEM || ml_map_put(known, number, row < 0 ? NO_ROW : (uint64_t)row) < 0)
        return -ENOMEM;
    return row;
}

static void add_value(struct ml_object_row *row, int64_t value)
{
    if (row->count == 0 || value < row->min)
        row->min = value;
    if (row->count == 0 || value > row->max)
        row->max = value;
    row->count++;
    row->sum += (double)value;
    row->last = value;
}

static int finish(struct ml_object_book *b, int64_t row, uint64_t start_ns, uint64_t end_ns)
{
    if (row >= 0 && b->rows.items[row].unit == ML_OBJECT_TIME && end_ns >= start_ns)
        add_value(&b->rows.items[row], (int64_t)(end_ns - start_ns));
    return row == -ENOMEM ? -ENOMEM : 0;
}

/* ---- Open objects ------------------------------------------------------- */

static int open_key(struct ml_object_book *b, uint64_t key, uint64_t start_ns)
{
    struct ml_object_open open = {.start_ns = start_ns};
    uint64_t outer = 0;
    uint32_t at = b->free_open;

    (void)ml_map_get(&b->opened, key, &outer);
    open.outer = (uint32_t)outer;
    if (at) {
        b->free_open = b->opens.items[at - 1].outer;
        b->opens.items[at - 1] = open;
    } else {
        if (b->opens.len == UINT32_MAX - 1 || ml_vec_push(&b->opens, open) < 0)
            return -ENOMEM;
        at = (uint32_t)b->opens.len;
    }
    return ml_map_put(&b->opened, key, at);
}

/* Closes the innermost one with the key. @return false when none is open */
static bool close_key(struct ml_object_book *b, uint64_t key, uint64_t *ret_start_ns)
{
    struct ml_object_open *open;
    uint64_t at;
    uint32_t outer;

    if (!ml_map_take(&b->opened, key, &at))
        return false;
    open = &b->opens.items[at - 1];
    *ret_start_ns = open->start_ns;
    outer = open->outer;
    open->outer = b->free_open;
    b->free_open = (uint32_t)at;
    if (outer)
        (void)ml_map_put(&b->opened, key, outer); /* cannot fail: an entry was just removed */
    return true;
}

/* ---- Events ------------------------------------------------------------- */

static uint64_t scope_key(uint32_t thread, uint32_t scope)
{
    return SCOPE_KEY | (uint64_t)(thread & 0x7fffffff) << 32 | scope;
}

static int push(struct ml_object_book *b, const struct ml_event *event)
{
    int r = ml_map_put(&b->scope_of, event->thread, event->scope);

    if (r < 0 || ml_trace_scope(b->trace, event->scope)->kind != MEMLEDGER_SCOPE_OPERATOR)
        return r;
    return open_key(b, scope_key(event->thread, event->scope), event->time_ns);
}

/* A pop of another scope than the last one says nothing about the last one. */
static int pop(struct ml_object_book *b, const struct ml_event *event)
{
    uint64_t left = 0, start_ns;
    bool known = ml_map_get(&b->scope_of, event->thread, &left);

    if (ml_map_put(&b->scope_of, event->thread, event->scope) < 0)
        return -ENOMEM;
    if (!known || ml_trace_scope(b->trace, (uint32_t)left)->parent != event->scope ||
        !close_key(b, scope_key(event->thread, (uint32_t)left), &start_ns))
        return 0;
    return finish(b, known_row(b, &b->scope_rows, (uint32_t)left, true), start_ns, event->time_ns);
}

static int stop(struct ml_object_book *b, const struct ml_event *event)
{
    uint64_t start_ns;

    if (!close_key(b, event->args[0] & ~SCOPE_KEY, &start_ns))
        return 0;
    return finish(b, known_row(b, &b->object_rows, (uint32_t)event->args[0], false), start_ns,
                  event->time_ns);
}

static int counter(struct ml_object_book *b, const struct ml_event *event)
{
    int64_t row = known_row(b, &b->object_rows, (uint32_t)event->args[0], false);

    if (row >= 0 && b->rows.items[row].unit != ML_OBJECT_TIME)
        add_value(&b->rows.items[row], ml_unzigzag(event->args[1]));
    return row == -ENOMEM ? -ENOMEM : 0;
}

int ml_object_book_add(struct ml_object_book *b, const struct ml_event *event)
{
    switch (event->kind) {
    case ML_START: return open_key(b, event->args[0] & ~SCOPE_KEY, event->time_ns);
    case ML_STOP: return stop(b, event);
    case ML_COUNTER: return counter(b, event);
    case ML_PUSH: return push(b, event);
    case ML_POP: return pop(b, event);
    default: return 0;
    }
}

/* ---- The result --------------------------------------------------------- */

static double average(const struct ml_object_row *row)
{
    return row->sum / (double)row->count;
}

static double weight(const struct ml_object_row *row, int sort_by)
{
    switch (sort_by) {
    case MEMLEDGER_BY_AVG: return average(row);
    case MEMLEDGER_BY_MIN: return (double)row->min;
    case MEMLEDGER_BY_MAX: return (double)row->max;
    case MEMLEDGER_BY_COUNT: return (double)row->count;
    default: return row->unit == ML_OBJECT_TIME ? row->sum : (double)row->last;
    }
}

static int in_order(const void *a, const void *b, void *context)
{
    const struct ml_object_row *x = a, *y = b;
    const struct ml_object_order *order = context;
    int by_category = strcmp(x->category, y->category);
    double wx = weight(x, order->sort_by), wy = weight(y, order->sort_by);

    if (x->unit != y->unit)
        return x->unit < y->unit ? -1 : 1;
    if (by_category)
        return by_category;
    if (wx != wy)
        return (wx < wy) == order->ascending ? -1 : 1;
    return strcmp(x->name, y->name);
}

static int take(const struct ml_object_row *from, struct ml_arena *arena, ml_object_row_list *ret)
{
    struct ml_object_row row = *from;

    row.category = ml_arena_dup(arena, from->category, strlen(from->category));
    row.name = ml_arena_dup(arena, from->name, strlen(from->name));
    row.average = average(from);
    return row.category && row.name ? ml_vec_push(ret, row) : -ENOMEM;
}

/* Rows without a value have no average to sort by. */
static void drop_empty(struct ml_object_book *b)
{
    size_t kept = 0;

    for (size_t i = 0; i < b->rows.len; i++)
        if (b->rows.items[i].count)
            b->rows.items[kept++] = b->rows.items[i];
    b->rows.len = kept;
}

int ml_object_book_rows(struct ml_object_book *b, struct ml_object_order order, size_t top,
                        struct ml_arena *arena, ml_object_row_list *ret)
{
    const struct ml_object_row *before = NULL;
    size_t taken = 0;

    drop_empty(b);
    if (b->rows.len)
        qsort_r(b->rows.items, b->rows.len, sizeof(*b->rows.items), in_order, &order);
    for (size_t i = 0; i < b->rows.len; i++) {
        const struct ml_object_row *row = &b->rows.items[i];

        if (!before || before->unit != row->unit || strcmp(before->category, row->category) != 0)
            taken = 0;
        before = row;
        if (taken++ < top && take(row, arena, ret) < 0)
            return -ENOMEM;
    }
    return 0;
}
