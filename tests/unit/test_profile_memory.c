/* test_profile_memory.c: memory by device as counters of the profile.
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

#include "memledger/memledger.h"
#include "profile_fixture.h"
#include "profile_memory.h"
#include "ring.h"

static void event(struct fixture *f, uint8_t kind, uint32_t space, uint64_t addr, uint64_t size)
{
    fixture_event(f, (struct ml_event){.kind = kind, .space = space, .addr = addr, .size = size});
}

/* The last value of the counter in the file's text. */
static void assert_last(const char *text, const char *counter, const char *value)
{
    const char *end = text + strlen(text);
    const char *last = NULL;
    char args[128];

    snprintf(args, sizeof(args), "\"args\": { \"%s\": ", counter);
    while ((text = find_in(text, end, args)))
        last = text += strlen(args);
    if (!last || strncmp(last, value, strlen(value)) != 0 || last[strlen(value)] != ' ')
        fail_msg("%s is %.20s, not %s", counter, last ? last : "missing", value);
}

static void each_change_is_a_record(void **state)
{
    struct fixture *f = *state;
    uint32_t cpu = fixture_space(f, "cpu", MEMLEDGER_BLOCK);
    const char *text;

    fixture_run(f);
    event(f, ML_ALLOC, cpu, 4096, 1000);
    event(f, ML_ALLOC_EX, cpu, 8192, 5000000000);
    event(f, ML_FREE, cpu, 4096, 0);
    event(f, ML_FREE, cpu, 8192, 0);
    text = fixture_dump(f, true);
    assert_int_equal(count_of(text, "\"cat\": \"Device Storage\""), 4);
    assert_has(text, "\"args\": { \"Memory: cpu/0\": 1000 },\n");
    assert_has(text, "\"args\": { \"Memory: cpu/0\": 5000001000 },\n");
    assert_has(text, "\"args\": { \"Memory: cpu/0\": 5000000000 },\n");
    assert_last(text, "Memory: cpu/0", "0");
}

static void devices_and_levels_are_apart(void **state)
{
    struct fixture *f = *state;
    uint32_t first = fixture_space(f, "cuda:0", MEMLEDGER_BLOCK);
    uint32_t again = fixture_space(f, "cuda:0", MEMLEDGER_BLOCK);
    uint32_t second = fixture_space(f, "cuda:1", MEMLEDGER_BLOCK);
    uint32_t pool = fixture_space(f, "cuda:1", MEMLEDGER_POOL);
    uint32_t driver = fixture_space(f, "xpu:2", MEMLEDGER_DRIVER);
    const char *text;

    fixture_run(f);
    event(f, ML_ALLOC, first, 4096, 10);
    event(f, ML_ALLOC, again, 4096, 5); /* another allocator on the same device */
    event(f, ML_ALLOC, second, 4096, 20);
    event(f, ML_ALLOC, pool, 4096, 40);
    event(f, ML_ALLOC, driver, 4096, 80);
    text = fixture_dump(f, true);
    assert_last(text, "Memory: gpu/0", "15");
    assert_has(text, "{ \"Memory: gpu/1\": 20 }");
    assert_has(text, "{ \"Memory: gpu/1\": 40 }");
    assert_last(text, "Memory: xpu/2", "80");
    assert_int_equal(count_of(text, "\"cat\": \"Pool Memory\""), 1);
    assert_int_equal(count_of(text, "\"cat\": \"Driver Memory\""), 1);
}

/* What was allocated before the run is not known, and neither is its free. */
static void a_book_never_goes_below_zero(void **state)
{
    struct fixture *f = *state;
    uint32_t cpu = fixture_space(f, "cpu", MEMLEDGER_BLOCK);

    event(f, ML_ALLOC, cpu, 4096, 1000);
    fixture_run(f);
    event(f, ML_FREE, cpu, 4096, 0);
    event(f, ML_ALLOC, cpu, 4096, 7);
    event(f, ML_FREE, cpu, 4096, 0);
    event(f, ML_FREE, cpu, 4096, 0);
    assert_last(fixture_dump(f, true), "Memory: cpu/0", "0");
    assert_int_equal(count_of(f->text, "\"ph\": \"C\""), 2);
}

static void memory_is_counted_through_a_pause(void **state)
{
    struct fixture *f = *state;
    uint32_t cpu = fixture_space(f, "cpu", MEMLEDGER_BLOCK);

    fixture_run(f);
    event(f, ML_ALLOC, cpu, 4096, 1000);
    ml_profile_set_state(f->profile, ML_PROFILE_PAUSE, f->now_ns);
    event(f, ML_FREE, cpu, 4096, 0);
    event(f, ML_ALLOC, cpu, 8192, 30);
    ml_profile_set_state(f->profile, ML_PROFILE_RESUME, f->now_ns);
    event(f, ML_ALLOC, cpu, 4096, 4);
    assert_last(fixture_dump(f, true), "Memory: cpu/0", "34");
    assert_int_equal(count_of(f->text, "\"ph\": \"C\""), 2);
}

static void a_new_run_counts_from_zero(void **state)
{
    struct fixture *f = *state;
    uint32_t cpu = fixture_space(f, "cpu", MEMLEDGER_BLOCK);

    fixture_run(f);
    event(f, ML_ALLOC, cpu, 4096, 1000);
    ml_profile_set_state(f->profile, ML_PROFILE_STOP, f->now_ns);
    event(f, ML_FREE, cpu, 4096, 0);
    fixture_run(f);
    event(f, ML_ALLOC, cpu, 4096, 9);
    assert_last(fixture_dump(f, true), "Memory: cpu/0", "9");
}

static void it_can_be_switched_off(void **state)
{
    struct fixture *f = *state;
    uint32_t cpu = fixture_space(f, "cpu", MEMLEDGER_BLOCK);

    ml_profile_set_config(f->profile, "profile_memory", "false");
    fixture_run(f);
    event(f, ML_ALLOC, cpu, 4096, 1000);
    assert_int_equal(count_of(fixture_dump(f, true), "Memory"), 0);
}

static void moves_and_ranges(void **state)
{
    struct fixture *f = *state;
    uint32_t s = fixture_space(f, "cpu", MEMLEDGER_DRIVER);
    struct ml_profile_memory m;
    const struct ml_memory_book *book;

    ml_profile_memory_init(&m, &f->dict);
#define DO(k, a, n)                                                                                \
    ml_profile_memory_event(                                                                       \
        &m, &(struct ml_event){.kind = (k), .space = s, .thread = 3, .addr = (a), .size = (n)})
    assert_int_equal(DO(ML_ALLOC, 0x1000, 0x3000), 0);
    book = &m.books.items[0];
    assert_int_equal(DO(ML_MOVE, 0x1000, 0), 0);
    assert_int_equal(book->bytes, 0);
    assert_int_equal(DO(ML_MOVE_FAILED, 0x1000, 0), 0);
    assert_int_equal(book->bytes, 0x3000);
    assert_int_equal(DO(ML_MOVE_FAILED, 0x1000, 0), -1); /* once only */
    DO(ML_MOVE, 0x1000, 0);
    DO(ML_ALLOC, 0x2000, 0x4000);
    assert_int_equal(book->bytes, 0x4000);
    assert_int_equal(DO(ML_FREE_RANGE, 0x3000, 0x1000), 0); /* a hole in the middle */
    assert_int_equal(book->bytes, 0x3000);
    DO(ML_ALLOC, 0x8000, 0x1000);
    assert_int_equal(DO(ML_FREE_RANGE, 0, 0x10000), 0); /* all three pieces */
    assert_int_equal(book->bytes, 0);
    assert_int_equal(DO(ML_FREE_RANGE, 0, 0x10000), -1);
    DO(ML_ALLOC, 0x1000, 10);
    DO(ML_ALLOC, 0x1000, 20); /* its free was not seen */
    assert_int_equal(book->bytes, 20);
#undef DO
    ml_profile_memory_release(&m);
}

/* Half a million changes in a second: the file stays small, and still has the
 * peak and the last value; the statistics have them all. */
static void a_storm_keeps_its_peaks(void **state)
{
    struct fixture *f = *state;
    uint32_t cpu = fixture_space(f, "cpu", MEMLEDGER_BLOCK);
    const char *text;

    ml_profile_set_config(f->profile, "aggregate_stats", "1");
    fixture_run(f);
    for (int i = 0; i < 250000; i++) {
        event(f, ML_ALLOC, cpu, 4096, i == 200001 ? 999999 : 64);
        event(f, ML_FREE, cpu, 4096, 0);
    }
    event(f, ML_ALLOC, cpu, 4096, 77);
    text = fixture_dump(f, false);
    assert_in_range(count_of(text, "\"ph\": \"C\""), 100000, 125000);
    assert_has(text, "{ \"Memory: cpu/0\": 999999 }");
    assert_last(text, "Memory: cpu/0", "77");
    assert_has(fixture_stats(f, false, MEMLEDGER_TABLE, 0, false), " 500001 ");
}

#define test(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(each_change_is_a_record),
        test(devices_and_levels_are_apart),
        test(a_book_never_goes_below_zero),
        test(memory_is_counted_through_a_pause),
        test(a_new_run_counts_from_zero),
        test(it_can_be_switched_off),
        test(moves_and_ranges),
        test(a_storm_keeps_its_peaks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
