/* activities.c: see activities.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "activities.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "memledger/memledger.h"
#include "varint.h"

/* ---- Which one ------------------------------------------------------------------ */

/* The index of that category and name. @return -ENOMEM */
static int64_t find(struct ml_activities *a, bool is_counter, const char *category,
                    const char *suffix, const char *name)
{
    struct ml_buf key = {0};
    bool is_new = false;
    int64_t at = -ENOMEM;

    if (!ml_buf_printf(&key, "%c%s%s", is_counter ? 'c' : 'd', category, suffix) &&
        !ml_buf_append(&key, "", 1) && !ml_buf_puts(&key, name))
        at = ml_intern_put(&a->keys, key.data, key.len, &is_new);
    ml_buf_release(&key);
    if (at >= 0 && is_new &&
        ml_vec_push(&a->list, (struct ml_activity){.is_counter = is_counter}) < 0)
        return -ENOMEM;
    return at < 0 ? -ENOMEM : at;
}

static int64_t find_object(struct ml_activities *a, const struct ml_trace *trace, uint32_t number)
{
    const struct ml_object *object = ml_trace_object(trace, number);
    const struct ml_object *in =
        object->domain >= 0 ? ml_trace_object(trace, (uint32_t)object->domain) : NULL;
    const char *domain = in ? ml_trace_string(trace, in->name, NULL) : "";
    const char *name = ml_trace_string(trace, object->name, NULL);

    switch (object->kind) {
    case MEMLEDGER_TASK: return find(a, false, domain, "", name);
    case MEMLEDGER_FRAME: return find(a, false, domain, ",frame", name);
    case MEMLEDGER_EVENT: return find(a, false, "event", "", name);
    case MEMLEDGER_COUNTER: return find(a, true, domain, "", name);
    default: return -ENOENT;
    }
}

static int64_t find_operator(struct ml_activities *a, const struct ml_trace *trace, uint32_t scope)
{
    const struct ml_scope *s = ml_trace_scope(trace, scope);
    const char *name = ml_trace_string(trace, s->name, NULL);

    if (s->kind != MEMLEDGER_SCOPE_OPERATOR)
        return -ENOENT;
    return find(a, false, strstr(name, "::") ? "Custom Operator" : "operator", "", name);
}

typedef int64_t find_function(struct ml_activities *a, const struct ml_trace *trace,
                              uint32_t number);

/* The same, remembered by number. NULL where there is none. */
static int look_up(struct ml_activities *a, const struct ml_trace *trace, struct ml_map *known,
                   find_function *find_new, uint64_t number, struct ml_activity **ret)
{
    uint64_t plus_one;
    int64_t at;

    if (!ml_map_get(known, number, &plus_one)) {
        at = find_new(a, trace, (uint32_t)number);
        if (at == -ENOMEM)
            return -ENOMEM;
        plus_one = at < 0 ? 0 : (uint64_t)at + 1;
        if (ml_map_put(known, number, plus_one) < 0)
            return -ENOMEM;
    }
    *ret = plus_one ? &a->list.items[plus_one - 1] : NULL;
    return 0;
}

/* ---- What happened to it -------------------------------------------------------- */

static void add(struct ml_activity *activity, int64_t value)
{
    activity->min = activity->count && activity->min < value ? activity->min : value;
    activity->max = activity->count && activity->max > value ? activity->max : value;
    activity->total = activity->is_counter ? value : activity->total + value;
    activity->sum += (double)value;
    activity->count++;
}

static int object_event(struct ml_activities *a, const struct ml_trace *trace,
                        const struct ml_event *event)
{
    struct ml_activity *activity;
    uint64_t start_ns;
    int r;

    if (event->kind == ML_START)
        return ml_map_put(&a->started, event->args[0], event->time_ns) < 0 ? -ENOMEM : 0;
    r = look_up(a, trace, &a->by_object, find_object, event->args[0], &activity);
    if (r < 0 || !activity)
        return r;
    if (event->kind == ML_COUNTER && activity->is_counter)
        add(activity, ml_unzigzag(event->args[1]));
    else if (event->kind == ML_STOP && !activity->is_counter &&
             ml_map_take(&a->started, event->args[0], &start_ns))
        add(activity, (int64_t)(event->time_ns - start_ns));
    return 0;
}

static int push(struct ml_activities *a, const struct ml_trace *trace, const struct ml_event *event)
{
    struct ml_open_activity open = {event->thread, event->scope, event->time_ns};

    if (ml_trace_scope(trace, event->scope)->kind != MEMLEDGER_SCOPE_OPERATOR)
        return 0;
    return ml_vec_push(&a->operators, open) < 0 ? -ENOMEM : 0;
}

/* A pop leads to what is around the thread's innermost operator, or ends a scope of
 * another kind. */
static int pop(struct ml_activities *a, const struct ml_trace *trace, const struct ml_event *event)
{
    size_t i = a->operators.len;
    struct ml_activity *activity;
    struct ml_open_activity open;
    int r;

    while (i > 0 && a->operators.items[i - 1].thread != event->thread)
        i--;
    if (i == 0)
        return 0;
    open = a->operators.items[i - 1];
    if (ml_trace_scope(trace, open.scope)->parent != event->scope)
        return 0;
    memmove(&a->operators.items[i - 1], &a->operators.items[i],
            (a->operators.len - i) * sizeof(open));
    a->operators.len--;
    r = look_up(a, trace, &a->by_scope, find_operator, open.scope, &activity);
    if (r == 0 && activity)
        add(activity, (int64_t)(event->time_ns - open.start_ns));
    return r;
}

int ml_activities_feed(struct ml_activities *a, const struct ml_trace *trace,
                       const struct ml_event *event)
{
    switch (event->kind) {
    case ML_START:
    case ML_STOP:
    case ML_COUNTER: return object_event(a, trace, event);
    case ML_PUSH: return push(a, trace, event);
    case ML_POP: return pop(a, trace, event);
    default: return 0;
    }
}

/* ---- The end -------------------------------------------------------------------- */

static int in_order(const void *left, const void *right)
{
    const struct ml_activity *x = left, *y = right;
    int by_category = strcmp(x->category, y->category);

    if (by_category)
        return by_category;
    if (x->is_counter != y->is_counter)
        return x->is_counter ? 1 : -1;
    if (x->total != y->total)
        return x->total < y->total ? 1 : -1;
    return strcmp(x->name, y->name);
}

/* Leaves at most `top` of each category and sort. */
static void keep_top(struct ml_activities *a, size_t top)
{
    size_t kept = 0, of_group = 0;

    for (size_t i = 0; i < a->list.len; i++) {
        struct ml_activity activity = a->list.items[i];

        if (kept && (strcmp(activity.category, a->list.items[kept - 1].category) ||
                     activity.is_counter != a->list.items[kept - 1].is_counter))
            of_group = 0;
        if (of_group++ < top)
            a->list.items[kept++] = activity;
    }
    a->list.len = kept;
}

void ml_activities_finish(struct ml_activities *a, size_t top)
{
    size_t kept = 0;

    for (size_t i = 0; i < a->list.len; i++) {
        struct ml_activity *activity = &a->list.items[i];
        const char *key = ml_intern_get(&a->keys, (uint32_t)i, NULL);

        if (activity->count == 0) /* never ended */
            continue;
        activity->category = key + 1;
        activity->name = key + strlen(key) + 1;
        activity->average = activity->sum / (double)activity->count;
        a->list.items[kept++] = *activity;
    }
    a->list.len = a->total = kept;
    if (kept > 1)
        qsort(a->list.items, kept, sizeof(*a->list.items), in_order);
    keep_top(a, top);
}

void ml_activities_release(struct ml_activities *a)
{
    ml_intern_release(&a->keys);
    ml_vec_release(&a->list);
    ml_map_release(&a->by_object);
    ml_map_release(&a->by_scope);
    ml_map_release(&a->started);
    ml_vec_release(&a->operators);
    *a = (struct ml_activities){0};
}
