/* test_object_rows.c: objects and operators added up: one inside another of the same name,
 * threads side by side, objects that never stopped or never started.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_analyze_fixture.h"

#include "stats.h"
#include "varint.h"

static void put(struct fixture *f, uint8_t kind, uint64_t time_ns, uint32_t thread, uint32_t scope,
                uint64_t arg, int64_t value)
{
    ml_maker_event(f->maker, &(struct ml_event){.kind = kind,
                                                .time_ns = time_ns,
                                                .thread = thread,
                                                .scope = scope,
                                                .args = {arg, ml_zigzag(value)}});
}

static struct ml_stats measure_trace(struct ml_trace *trace, struct ml_object_order order)
{
    struct ml_stats stats;
    struct ml_error err = {0};

    if (ml_measure(trace, &(struct ml_stats_opts){.top = 10, .order = order}, &stats, &err) < 0)
        fail_msg("%s", err.text);
    return stats;
}

static struct ml_stats measure(struct fixture *f, struct ml_trace **ret_trace)
{
    *ret_trace = fixture_open(f);
    return measure_trace(*ret_trace, (struct ml_object_order){0});
}

static void check_row(const struct ml_stats *s, size_t i, const char *category, const char *name,
                      uint64_t count, double sum, int64_t min, int64_t max)
{
    const struct ml_object_row *row = &s->objects.items[i];

    assert_true(i < s->objects.len);
    assert_string_equal(row->category, category);
    assert_string_equal(row->name, name);
    assert_int_equal(row->count, count);
    assert_true(row->sum == sum);
    assert_int_equal(row->min, min);
    assert_int_equal(row->max, max);
    assert_true(row->average == sum / (double)count);
}

static void objects_meet_their_stops(void **state)
{
    struct fixture f = fixture_begin();
    uint32_t domain, task, twin, frame, event;
    struct ml_trace *trace;
    struct ml_stats s;

    (void)state;
    domain = ml_maker_object(f.maker, 0, MEMLEDGER_DOMAIN, -1, ml_maker_string(f.maker, "d"));
    task = ml_maker_object(f.maker, 0, MEMLEDGER_TASK, domain, ml_maker_string(f.maker, "t"));
    twin = ml_maker_object(f.maker, 0, MEMLEDGER_TASK, domain, ml_maker_string(f.maker, "t"));
    frame = ml_maker_object(f.maker, 0, MEMLEDGER_FRAME, domain, ml_maker_string(f.maker, "t"));
    event = ml_maker_object(f.maker, 0, MEMLEDGER_EVENT, -1, ml_maker_string(f.maker, "e"));
    put(&f, ML_START, 0, 0, 0, task, 0);
    put(&f, ML_START, 10, 0, 0, task, 0); /* inside itself */
    put(&f, ML_START, 11, 0, 0, twin, 0);
    put(&f, ML_STOP, 12, 0, 0, task, 0);
    put(&f, ML_STOP, 40, 0, 0, twin, 0);
    put(&f, ML_STOP, 100, 0, 0, task, 0);
    put(&f, ML_STOP, 101, 0, 0, task, 0); /* was not started */
    put(&f, ML_START, 102, 0, 0, frame, 0);
    put(&f, ML_STOP, 105, 0, 0, frame, 0);
    put(&f, ML_START, 106, 0, 0, event, 0); /* never stops */
    s = measure(&f, &trace);
    assert_int_equal(s.objects.len, 2);
    check_row(&s, 0, "d", "t", 3, 2 + 29 + 100, 2, 100);
    check_row(&s, 1, "d,frame", "t", 1, 3, 3, 3);
    ml_stats_release(&s);
    ml_trace_free(trace);
}

static void check_order(struct ml_trace *trace, int sort_by, bool ascending, const char *names)
{
    struct ml_stats s = measure_trace(trace, (struct ml_object_order){sort_by, ascending});

    assert_int_equal(s.objects.len, strlen(names));
    for (size_t i = 0; i < s.objects.len; i++)
        assert_int_equal(s.objects.items[i].name[0], names[i]);
    ml_stats_release(&s);
}

/* Counters a: 1, 9; b: 4; c: 2, 2, 2. */
static void rows_are_sorted_by_any_key(void **state)
{
    static const struct {
        char name;
        int64_t value;
    } values[] = {{'a', 1}, {'b', 4}, {'a', 9}, {'c', 2}, {'c', 2}, {'c', 2}};
    struct fixture f = fixture_begin();
    uint32_t domain, counters[3];
    struct ml_trace *trace;

    (void)state;
    domain = ml_maker_object(f.maker, 0, MEMLEDGER_DOMAIN, -1, ml_maker_string(f.maker, "d"));
    for (int i = 0; i < 3; i++)
        counters[i] = ml_maker_object(f.maker, 0, MEMLEDGER_COUNTER, domain,
                                      ml_maker_string(f.maker, (char[]){(char)('a' + i), 0}));
    for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
        put(&f, ML_COUNTER, i, 0, 0, counters[values[i].name - 'a'], values[i].value);
    trace = fixture_open(&f);
    check_order(trace, MEMLEDGER_BY_TOTAL, false, "abc");
    check_order(trace, MEMLEDGER_BY_TOTAL, true, "cba");
    check_order(trace, MEMLEDGER_BY_AVG, true, "cba");
    check_order(trace, MEMLEDGER_BY_MIN, false, "bca");
    check_order(trace, MEMLEDGER_BY_MAX, true, "cba");
    check_order(trace, MEMLEDGER_BY_COUNT, false, "cab");
    check_order(trace, MEMLEDGER_BY_COUNT, true, "bac");
    ml_trace_free(trace);
}

static void counters_have_their_units(void **state)
{
    struct fixture f = fixture_begin();
    uint32_t domain, storage, plain, bytes;
    struct ml_trace *trace;
    struct ml_stats s;

    (void)state;
    domain = ml_maker_object(f.maker, 0, MEMLEDGER_DOMAIN, -1, ml_maker_string(f.maker, "d"));
    storage = ml_maker_object(f.maker, 0, MEMLEDGER_DOMAIN, -1,
                              ml_maker_string(f.maker, "Device Storage"));
    plain = ml_maker_object(f.maker, 0, MEMLEDGER_COUNTER, domain, ml_maker_string(f.maker, "n"));
    bytes = ml_maker_object(f.maker, 0, MEMLEDGER_COUNTER, storage, ml_maker_string(f.maker, "m"));
    put(&f, ML_COUNTER, 1, 0, 0, plain, -5);
    put(&f, ML_COUNTER, 2, 0, 0, plain, 3);
    put(&f, ML_COUNTER, 3, 0, 0, bytes, INT64_C(1) << 40);
    s = measure(&f, &trace);
    assert_int_equal(s.objects.len, 2);
    check_row(&s, 0, "Device Storage", "m", 1, 0x1p40, INT64_C(1) << 40, INT64_C(1) << 40);
    check_row(&s, 1, "d", "n", 2, -2, -5, 3);
    assert_int_equal(s.objects.items[0].unit, ML_OBJECT_MEMORY);
    assert_int_equal(s.objects.items[1].unit, ML_OBJECT_VALUE);
    assert_int_equal(s.objects.items[1].last, 3);
    ml_stats_release(&s);
    ml_trace_free(trace);
}

static void operators_are_scopes(void **state)
{
    struct fixture f = fixture_begin();
    uint32_t module, outer, inner;
    struct ml_trace *trace;
    struct ml_stats s;

    (void)state;
    ml_maker_thread(f.maker, 0, 101, 0);
    module = ml_maker_scope(f.maker, 0, MEMLEDGER_SCOPE_MODULE, ml_maker_string(f.maker, "net"));
    outer =
        ml_maker_scope(f.maker, module, MEMLEDGER_SCOPE_OPERATOR, ml_maker_string(f.maker, "a"));
    inner = ml_maker_scope(f.maker, outer, MEMLEDGER_SCOPE_OPERATOR, ml_maker_string(f.maker, "b"));
    put(&f, ML_PUSH, 0, 0, module, 0, 0);
    put(&f, ML_PUSH, 10, 0, outer, 0, 0);
    put(&f, ML_PUSH, 15, 1, outer, 0, 0); /* on another thread */
    put(&f, ML_PUSH, 20, 0, inner, 0, 0);
    put(&f, ML_POP, 27, 0, outer, 0, 0);
    put(&f, ML_POP, 50, 0, module, 0, 0);
    put(&f, ML_POP, 100, 1, module, 0, 0);
    put(&f, ML_POP, 101, 1, 0, 0, 0);
    s = measure(&f, &trace);
    assert_int_equal(s.objects.len, 2);
    check_row(&s, 0, "operator", "a", 2, 40 + 85, 40, 85);
    check_row(&s, 1, "operator", "b", 1, 7, 7, 7);
    ml_stats_release(&s);
    ml_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_meet_their_stops),
        cmocka_unit_test(rows_are_sorted_by_any_key),
        cmocka_unit_test(counters_have_their_units),
        cmocka_unit_test(operators_are_scopes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
