/* test_profile_oom.c: a profile when memory runs out: fail the Nth allocation,
 * for every N, and what is written must still be JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "fail_nth.h"
#include "memledger/memledger.h"
#include "profile_fixture.h"
#include "ring.h"

struct names {
    uint32_t task, frame, counter, space, scope;
};

static void use(struct fixture *f, struct ml_profile *p, const struct names *n)
{
    struct ml_buf out = {0};
    struct ml_event events[] = {
        {.kind = ML_START, .args = {n->task}},
        {.kind = ML_START, .args = {n->frame}},
        {.kind = ML_PUSH, .scope = n->scope},
        {.kind = ML_ALLOC, .space = n->space, .addr = 4096, .size = 100},
        {.kind = ML_MOVE, .space = n->space, .addr = 4096},
        {.kind = ML_ALLOC, .space = n->space, .addr = 8192, .size = 200},
        {.kind = ML_FREE_RANGE, .space = n->space, .addr = 8192, .size = 50},
        {.kind = ML_COUNTER, .args = {n->counter, 10}},
        {.kind = ML_MARKER, .args = {f->domain + 1, 0, 0}},
        {.kind = ML_POP},
        {.kind = ML_STOP, .args = {n->frame}},
        {.kind = ML_STOP, .args = {n->task}},
    };

    ml_profile_set_config(p, "aggregate_stats", "1");
    fixture_give_to(p, f->path);
    ml_profile_set_state(p, ML_PROFILE_RUN, 0);
    for (size_t i = 0; i < ML_ARRAY_SIZE(events); i++) {
        events[i].time_ns = 1000 * i;
        ml_profile_event(p, &events[i]);
    }
    for (int format = MEMLEDGER_TABLE; format <= MEMLEDGER_JSON; format++) {
        int r = ml_profile_stats(p, false, format, 0, false, &out, NULL);
        assert_true(r == 0 || r == -ENOMEM);
        ml_buf_release(&out);
    }
    ml_profile_dump(p, false, NULL);
    ml_profile_dump(p, true, NULL);
}

static void any_allocation_may_fail(void **state)
{
    struct fixture *f = *state;
    struct ml_dict *d = &f->dict;
    struct names n = {
        .task = fixture_object(f, MEMLEDGER_TASK, "task"),
        .frame = fixture_object(f, MEMLEDGER_FRAME, "frame"),
        .counter = fixture_object(f, MEMLEDGER_COUNTER, "counter"),
        .space = fixture_space(f, "cpu", MEMLEDGER_DRIVER),
        .scope = ml_dict_scope(
            d, &(struct ml_dict_scope){0, MEMLEDGER_SCOPE_OPERATOR, ml_dict_cstr(d, "conv"), 0}),
    };
    long tries = 0;
    bool refused;

    do {
        struct ml_profile *p = NULL;
        fail_nth(tries++);
        if (ml_profile_new(d, WALL_NS, &p) == 0)
            use(f, p, &n);
        ml_profile_free(p);
        refused = fail_end();
        if (access(f->path, F_OK) == 0)
            fixture_read(f);
        unlink(f->path);
    } while (refused);
    assert_true(tries > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(any_allocation_may_fail, fixture_setup, fixture_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
