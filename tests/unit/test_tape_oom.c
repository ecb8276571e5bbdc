/* test_tape_oom.c: tapes where memory runs out: numbers may be forgotten, but every
 * pop leads back to where its push was.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "fail_nth.h"
#include "memledger/memledger.h"
#include "source_scopes.h"

#define TAPES 40

struct thread {
    struct ml_dict dict;
    struct ml_target target;
    struct ml_source source;
    uint64_t words[4];
};

static void release(struct thread *t)
{
    ml_vec_release(&t->source.left);
    ml_tapes_release(&t->target.tapes);
    ml_backward_release(&t->target.backward);
    ml_dict_release(&t->dict);
}

static void use(struct thread *t)
{
    uint32_t scope;
    uint32_t start = t->source.place.scope;

    for (uint64_t tape = 0; tape < TAPES; tape++) {
        t->words[1] = ml_pair(MEMLEDGER_SCOPE_MODULE, 0);
        ml_source_push(&t->dict, &t->source);
        memcpy(&t->words[1], (uint64_t[]){tape, 1, 2}, 24);
        ml_source_take_tape(&t->source);
    }
    ml_source_leave_scopes(&t->source);
    for (uint64_t tape = 0; tape < TAPES; tape++) {
        memcpy(&t->words[1], (uint64_t[]){tape, 1, 0}, 24);
        ml_source_push_tape(&t->dict, &t->source);
    }
    for (uint64_t tape = 0; tape < TAPES; tape++)
        assert_false(ml_source_pop(&t->dict, &t->source, &scope));
    assert_int_equal(t->source.place.scope, start);
    assert_true(!t->source.place.too_deep && !t->source.left.len);
}

static void any_allocation_may_fail(void **state)
{
    long tries = 0;
    bool refused;

    (void)state;
    do {
        struct thread t = {0};

        t.source = (struct ml_source){.target = &t.target, .record = t.words, .words = 4};
        fail_nth(tries++);
        if (ml_dict_init(&t.dict) == 0)
            use(&t);
        refused = fail_end();
        release(&t);
    } while (refused);
    assert_true(tries > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_allocation_may_fail)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
