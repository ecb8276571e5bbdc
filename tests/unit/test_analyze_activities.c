/* test_analyze_activities.c: what operators, tasks, frames, events and counters did.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_analyze_fixture.h"

#include <string.h>

#include "stats.h"
#include "varint.h"

static struct ml_stats measure(struct ml_trace *trace, size_t top)
{
    struct ml_stats stats;
    struct ml_error err = {0};

    if (ml_measure(trace, &(struct ml_stats_opts){.top = top}, &stats, &err) < 0)
        fail_msg("%s", err.text);
    return stats;
}

static uint32_t object(struct fixture *f, uint32_t kind, int64_t domain, const char *name)
{
    return ml_maker_object(f->maker, 0, kind, domain, ml_maker_string(f->maker, name));
}

static void on_object(struct fixture *f, uint8_t kind, uint32_t number, int64_t value)
{
    fixture_event(f,
                  (struct ml_event){.kind = kind,
                                    .args = {number, kind == ML_COUNTER ? ml_zigzag(value) : 0}});
}

static void on_scope(struct fixture *f, uint8_t kind, uint32_t scope)
{
    fixture_event(f, (struct ml_event){.kind = kind, .scope = scope});
}

static const struct ml_activity *find(const struct ml_stats *s, const char *category,
                                      const char *name)
{
    for (size_t i = 0; i < s->activities.list.len; i++) {
        const struct ml_activity *a = &s->activities.list.items[i];
        if (!strcmp(a->category, category) && !strcmp(a->name, name))
            return a;
    }
    return NULL;
}

static void durations_have_the_category_of_their_kind(void **state)
{
    struct fixture f = fixture_begin();
    uint32_t domain = object(&f, MEMLEDGER_DOMAIN, -1, "dom");
    uint32_t made[] = {object(&f, MEMLEDGER_TASK, domain, "task"),
                       object(&f, MEMLEDGER_FRAME, domain, "frame"),
                       object(&f, MEMLEDGER_EVENT, -1, "event")};
    struct ml_trace *trace;
    struct ml_stats s;

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        on_object(&f, ML_START, made[i], 0);
        on_object(&f, ML_STOP, made[i], 0);
    }
    on_object(&f, ML_STOP, made[0], 0);  /* without a start */
    on_object(&f, ML_START, made[0], 0); /* without an end */
    trace = fixture_open(&f);
    s = measure(trace, 10);
    assert_int_equal(s.activities.total, 3);
    assert_int_equal(find(&s, "dom", "task")->count, 1);
    assert_int_equal(find(&s, "dom,frame", "frame")->count, 1);
    assert_int_equal(find(&s, "event", "event")->count, 1);
    assert_true(find(&s, "event", "event")->total > 0);
    ml_stats_release(&s);
    ml_trace_free(trace);
}

static void operators_end_with_their_own_pop(void **state)
{
    struct fixture f = fixture_begin();
    uint32_t module =
        ml_maker_scope(f.maker, 0, MEMLEDGER_SCOPE_MODULE, ml_maker_string(f.maker, "encoder"));
    uint32_t outer =
        ml_maker_scope(f.maker, module, MEMLEDGER_SCOPE_OPERATOR, ml_maker_string(f.maker, "dot"));
    uint32_t inner = ml_maker_scope(f.maker, outer, MEMLEDGER_SCOPE_OPERATOR,
                                    ml_maker_string(f.maker, "aten::add"));
    const struct ml_activity *dot, *add;
    struct ml_trace *trace;
    struct ml_stats s;

    (void)state;
    on_scope(&f, ML_PUSH, module);
    on_scope(&f, ML_PUSH, outer);
    on_scope(&f, ML_PUSH, inner);
    on_scope(&f, ML_POP, outer);
    on_scope(&f, ML_POP, module);
    on_scope(&f, ML_POP, 0);
    trace = fixture_open(&f);
    s = measure(trace, 10);
    dot = find(&s, "operator", "dot");
    add = find(&s, "Custom Operator", "aten::add");
    assert_int_equal(s.activities.total, 2);
    assert_int_equal(dot->count, 1);
    assert_int_equal(add->count, 1);
    assert_int_equal(dot->total, 3 * add->total);
    ml_stats_release(&s);
    ml_trace_free(trace);
}

static void counters_have_their_last_value(void **state)
{
    struct fixture f = fixture_begin();
    uint32_t domain = object(&f, MEMLEDGER_DOMAIN, -1, "dom");
    uint32_t counter = object(&f, MEMLEDGER_COUNTER, domain, "same name");
    uint32_t task = object(&f, MEMLEDGER_TASK, domain, "same name");
    const struct ml_activity *a;
    struct ml_trace *trace;
    struct ml_stats s;

    (void)state;
    on_object(&f, ML_COUNTER, counter, 7);
    on_object(&f, ML_COUNTER, counter, -5);
    on_object(&f, ML_COUNTER, counter, 1);
    on_object(&f, ML_START, task, 0);
    on_object(&f, ML_STOP, task, 0);
    trace = fixture_open(&f);
    s = measure(trace, 10);
    assert_int_equal(s.activities.list.len, 2);
    a = &s.activities.list.items[1]; /* behind the durations */
    assert_true(a->is_counter);
    assert_int_equal(a->count, 3);
    assert_int_equal(a->total, 1);
    assert_int_equal(a->min, -5);
    assert_int_equal(a->max, 7);
    assert_true(a->average == 1);
    ml_stats_release(&s);
    ml_trace_free(trace);
}

static void the_top_is_of_each_category(void **state)
{
    struct fixture f = fixture_begin();
    uint32_t domain = object(&f, MEMLEDGER_DOMAIN, -1, "dom");
    uint32_t longer = object(&f, MEMLEDGER_TASK, domain, "longer");
    uint32_t shorter = object(&f, MEMLEDGER_TASK, domain, "shorter");
    uint32_t event = object(&f, MEMLEDGER_EVENT, -1, "event");
    struct ml_trace *trace;
    struct ml_stats s;

    (void)state;
    on_object(&f, ML_START, longer, 0);
    on_object(&f, ML_START, shorter, 0);
    on_object(&f, ML_STOP, shorter, 0);
    on_object(&f, ML_STOP, longer, 0);
    on_object(&f, ML_START, event, 0);
    on_object(&f, ML_STOP, event, 0);
    trace = fixture_open(&f);
    s = measure(trace, 1);
    assert_int_equal(s.activities.total, 3);
    assert_int_equal(s.activities.list.len, 2);
    assert_string_equal(s.activities.list.items[0].name, "longer");
    assert_string_equal(s.activities.list.items[1].name, "event");
    ml_stats_release(&s);
    ml_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(durations_have_the_category_of_their_kind),
        cmocka_unit_test(operators_end_with_their_own_pop),
        cmocka_unit_test(counters_have_their_last_value),
        cmocka_unit_test(the_top_is_of_each_category),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
