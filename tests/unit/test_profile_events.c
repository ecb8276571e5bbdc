/* test_profile_events.c: what each kind of object becomes in the profile file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "compiler.h"
#include "memledger/memledger.h"
#include "profile_fixture.h"
#include "ring.h"

/* One record's line pairs, as far as they do not depend on a hash. */
static void assert_record(const char *text, const char *name, const char *category, char phase,
                          uint64_t time_us)
{
    char expected[512];

    snprintf(expected, sizeof(expected),
             "        \"name\": \"%s\",\n        \"cat\": \"%s\",\n        \"ph\": \"%c\",\n"
             "        \"ts\": %llu,\n",
             name, category, phase, (unsigned long long)(WALL_NS / 1000 + time_us));
    assert_has(text, expected);
}

static void a_task_is_a_pair_with_an_id(void **state)
{
    struct fixture *f = *state;
    uint32_t task = fixture_object(f, MEMLEDGER_TASK, "load");
    const char *text;
    char id[64];

    fixture_run(f);
    f->now_ns = 5000;
    fixture_start(f, task);
    assert_int_equal(count_of(fixture_dump(f, false), "load"), 0);
    f->now_ns = 12000;
    fixture_stop(f, task);
    text = fixture_dump(f, true);
    assert_record(text, "load", "dom", 'b', 5);
    assert_record(text, "load", "dom", 'e', 12);
    snprintf(id, sizeof(id), "        \"id\": %u,\n", task);
    assert_int_equal(count_of(text, id), 2);
    assert_int_equal(count_of(text, "        \"tid\": 456\n"), 2);
}

static void a_frame_is_in_brackets(void **state)
{
    struct fixture *f = *state;
    const char *text;

    fixture_run(f);
    fixture_duration(f, fixture_object(f, MEMLEDGER_FRAME, "batch"), 3000);
    text = fixture_dump(f, true);
    assert_record(text, "batch", "dom,frame", '(', 0);
    assert_record(text, "batch", "dom,frame", ')', 3);
    assert_has(text, "\"name\": \"dom,frame\"\n");
}

static void an_event_has_no_domain(void **state)
{
    struct fixture *f = *state;
    const char *text;

    fixture_run(f);
    fixture_duration(f, fixture_object(f, MEMLEDGER_EVENT, "wait"), 3000);
    text = fixture_dump(f, true);
    assert_record(text, "wait", "event", 'B', 0);
    assert_record(text, "wait", "event", 'E', 3);
}

static void a_counter_shows_its_value(void **state)
{
    struct fixture *f = *state;
    uint32_t counter = fixture_object(f, MEMLEDGER_COUNTER, "samples");
    const char *text;

    fixture_run(f);
    fixture_count(f, counter, 5000000000);
    fixture_count(f, counter, INT64_MAX);
    fixture_count(f, counter, -3);
    text = fixture_dump(f, true);
    assert_record(text, "samples", "dom", 'C', 0);
    assert_has(text, "\"args\": { \"samples\": 5000000000 },\n");
    assert_has(text, "\"args\": { \"samples\": 9223372036854775807 },\n");
    assert_has(text, "\"args\": { \"samples\": -3 },\n");
}

static void a_marker_has_a_scope(void **state)
{
    static const char *const scopes[] = {"global", "process", "thread", "task", "marker"};
    static const char *const letters[] = {"g", "p", "t", "p", "p"};
    struct fixture *f = *state;

    fixture_run(f);
    for (size_t i = 0; i < ML_ARRAY_SIZE(scopes); i++)
        fixture_mark(f, scopes[i], scopes[i]);
    fixture_dump(f, true);
    for (size_t i = 0; i < ML_ARRAY_SIZE(scopes); i++) {
        char expected[256];
        snprintf(expected, sizeof(expected),
                 "\"name\": \"%s\",\n        \"cat\": \"dom,instant_marker\",\n"
                 "        \"ph\": \"n\",\n        \"ts\": %llu,\n        \"s\": \"%s\",\n",
                 scopes[i], (unsigned long long)WALL_NS / 1000 + i, letters[i]);
        assert_has(f->text, expected);
    }
}

static void operators_are_scopes(void **state)
{
    struct fixture *f = *state;
    struct ml_dict *d = &f->dict;
    uint32_t conv = ml_dict_scope(
        d, &(struct ml_dict_scope){0, MEMLEDGER_SCOPE_OPERATOR, ml_dict_cstr(d, "conv"), 0});
    uint32_t user = ml_dict_scope(
        d, &(struct ml_dict_scope){conv, MEMLEDGER_SCOPE_USER, ml_dict_cstr(d, "mine"), 0});
    uint32_t custom = ml_dict_scope(
        d, &(struct ml_dict_scope){user, MEMLEDGER_SCOPE_OPERATOR, ml_dict_cstr(d, "a::b"), 0});
    const char *text;

    fixture_run(f);
    fixture_event(f, (struct ml_event){.kind = ML_PUSH, .scope = conv});
    fixture_event(f, (struct ml_event){.kind = ML_PUSH, .scope = user});
    fixture_event(f, (struct ml_event){.kind = ML_PUSH, .scope = custom});
    fixture_event(f, (struct ml_event){.kind = ML_POP, .scope = user});
    fixture_event(f, (struct ml_event){.kind = ML_POP, .scope = conv});
    fixture_event(f, (struct ml_event){.kind = ML_POP, .scope = 0});
    fixture_event(f, (struct ml_event){.kind = ML_POP, .scope = 0});
    text = fixture_dump(f, true);
    assert_record(text, "conv", "operator", 'B', 0);
    assert_record(text, "conv", "operator", 'E', 5);
    assert_record(text, "conv", "operator", 'b', 0);
    assert_record(text, "conv", "operator", 'e', 5);
    assert_record(text, "a::b", "Custom Operator", 'B', 2);
    assert_record(text, "a::b", "Custom Operator", 'E', 3);
    assert_int_equal(count_of(text, "mine"), 0);
}

static void operators_can_be_switched_off(void **state)
{
    struct fixture *f = *state;
    struct ml_dict *d = &f->dict;
    uint32_t conv = ml_dict_scope(
        d, &(struct ml_dict_scope){0, MEMLEDGER_SCOPE_OPERATOR, ml_dict_cstr(d, "conv"), 0});

    ml_profile_set_config(f->profile, "profile_symbolic", "0");
    ml_profile_set_config(f->profile, "profile_imperative", "0");
    fixture_run(f);
    fixture_event(f, (struct ml_event){.kind = ML_PUSH, .scope = conv});
    fixture_event(f, (struct ml_event){.kind = ML_POP, .scope = 0});
    assert_int_equal(count_of(fixture_dump(f, false), "conv"), 0);
    ml_profile_set_config(f->profile, "profile_all", "1");
    fixture_event(f, (struct ml_event){.kind = ML_PUSH, .scope = conv});
    fixture_event(f, (struct ml_event){.kind = ML_POP, .scope = 0});
    assert_int_equal(count_of(fixture_dump(f, true), "conv"), 4);
}

static void names_are_escaped(void **state)
{
    struct fixture *f = *state;
    uint32_t domain = fixture_domain(f, "a \"domain\"\\");
    uint32_t counter = fixture_object_in(f, MEMLEDGER_COUNTER, domain, "tab\tquote\"\n\x01");
    uint32_t task = fixture_object_in(f, MEMLEDGER_TASK, domain, "\xff\xc3(gr\xc3\xbc\xc3\x9f");
    const char *text;

    fixture_run(f);
    fixture_count(f, counter, 1);
    fixture_duration(f, task, 2000);
    fixture_mark(f, "\"", "global");
    text = fixture_dump(f, true); /* which checks that it is JSON */
    assert_has(text, "\"cat\": \"a \\\"domain\\\"\\\\\",\n");
    assert_has(text, "{ \"tab\\tquote\\\"\\n\\u0001\": 1 }");
    assert_has(text, "gr\xc3\xbc\xc3\x9f\",\n");
}

static void long_names_are_whole(void **state)
{
    struct fixture *f = *state;
    char name[1001];

    memset(name, 'n', sizeof(name) - 1);
    name[1000] = '\0';
    fixture_run(f);
    fixture_count(f, fixture_object(f, MEMLEDGER_COUNTER, name), 1);
    assert_int_equal(count_of(fixture_dump(f, true), name), 2);
}

/* ---- States ------------------------------------------------------------- */

static void a_pause_drops(void **state)
{
    struct fixture *f = *state;
    uint32_t counter = fixture_object(f, MEMLEDGER_COUNTER, "ctr");
    uint32_t across = fixture_object(f, MEMLEDGER_TASK, "across");
    uint32_t inside = fixture_object(f, MEMLEDGER_TASK, "inside");
    const char *text;

    fixture_run(f);
    fixture_start(f, across);
    ml_profile_set_state(f->profile, ML_PROFILE_PAUSE, f->now_ns);
    ml_profile_set_state(f->profile, ML_PROFILE_PAUSE, f->now_ns); /* not nested */
    fixture_count(f, counter, 1);
    fixture_stop(f, across);
    fixture_start(f, inside);
    fixture_mark(f, "paused", "global");
    ml_profile_set_state(f->profile, ML_PROFILE_RESUME, f->now_ns);
    fixture_stop(f, inside);
    fixture_count(f, counter, 2);
    text = fixture_dump(f, true);
    assert_int_equal(count_of(text, "\"ph\": \"C\""), 1);
    assert_has(text, "{ \"ctr\": 2 }");
    assert_int_equal(count_of(text, "across") + count_of(text, "inside"), 0);
    assert_int_equal(count_of(text, "paused"), 0);
}

static void a_stop_also_pauses(void **state)
{
    struct fixture *f = *state;
    uint32_t counter = fixture_object(f, MEMLEDGER_COUNTER, "ctr");

    fixture_count(f, counter, 1); /* not running yet */
    fixture_run(f);
    fixture_count(f, counter, 2);
    ml_profile_set_state(f->profile, ML_PROFILE_STOP, f->now_ns);
    fixture_count(f, counter, 3);
    ml_profile_set_state(f->profile, ML_PROFILE_RESUME, f->now_ns); /* still stopped */
    fixture_count(f, counter, 4);
    fixture_run(f);
    fixture_count(f, counter, 5);
    assert_int_equal(count_of(fixture_dump(f, true), "\"ph\": \"C\""), 2);
    assert_has(f->text, "{ \"ctr\": 2 }");
    assert_has(f->text, "{ \"ctr\": 5 }");
}

static void damaged_numbers_are_ignored(void **state)
{
    struct fixture *f = *state;
    uint32_t counter = fixture_object(f, MEMLEDGER_COUNTER, "ctr");
    uint32_t task = fixture_object(f, MEMLEDGER_TASK, "task");

    fixture_run(f);
    fixture_count(f, 4000, 1);
    fixture_count(f, task, 1);
    fixture_count(f, f->domain, 1);
    fixture_duration(f, counter, 2000);
    fixture_duration(f, 4000, 2000);
    fixture_stop(f, task);
    fixture_event(f, (struct ml_event){.kind = ML_MARKER, .args = {4001, 99999, 99999}});
    fixture_event(f, (struct ml_event){.kind = ML_ALLOC, .space = 4000, .size = 8});
    fixture_event(f, (struct ml_event){.kind = ML_PUSH, .scope = 4000});
    fixture_event(f, (struct ml_event){.kind = ML_POP, .scope = 4000});
    fixture_event(f, (struct ml_event){.kind = ML_LOST, .args = {1, 2, 3}});
    assert_int_equal(count_of(fixture_dump(f, true), "\"ph\": \"n\""), 1);
    assert_int_equal(count_of(f->text, "\"ts\""), 1);
}

#define test(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(a_task_is_a_pair_with_an_id),
        test(a_frame_is_in_brackets),
        test(an_event_has_no_domain),
        test(a_counter_shows_its_value),
        test(a_marker_has_a_scope),
        test(operators_are_scopes),
        test(operators_can_be_switched_off),
        test(names_are_escaped),
        test(long_names_are_whole),
        test(a_pause_drops),
        test(a_stop_also_pauses),
        test(damaged_numbers_are_ignored),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
