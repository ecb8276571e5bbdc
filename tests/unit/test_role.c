/* test_role.c: the role of a process among several, and its number.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "defs.h"
#include "role.h"

/* A process says hello; it is defined as the collector does it. */
static struct ml_role meet(struct ml_dict *dict, const char *kind, uint32_t count, int64_t parent,
                           uint32_t how)
{
    struct ml_hello hello = {.role_count = count};
    uint64_t fields[ML_DEF_FIELDS] = {0};
    struct ml_role role;

    memcpy(hello.role, kind, strlen(kind));
    ml_role_find(&hello, parent, how, dict, &role);
    if (role.text[0])
        fields[ML_PROCESS_ROLE] = ml_dict_string(dict, role.text, strlen(role.text));
    ml_dict_add(dict, ML_DEF_PROCESS, fields);
    return role;
}

static void those_that_are_several_are_numbered(void **state)
{
    struct ml_dict dict;

    (void)state;
    assert_int_equal(ml_dict_init(&dict), 0);
    assert_string_equal(meet(&dict, "", 0, -1, ML_STARTED).text, "");
    assert_string_equal(meet(&dict, "scheduler", 1, 0, ML_STARTED).text, "scheduler");
    assert_string_equal(meet(&dict, "server", 1, 0, ML_STARTED).text, "server");
    assert_string_equal(meet(&dict, "worker", 2, 0, ML_STARTED).text, "worker 0");
    assert_string_equal(meet(&dict, "worker", 2, 0, ML_STARTED).text, "worker 1");
    assert_string_equal(meet(&dict, "work", 0, 0, ML_STARTED).text, "work 0");
    assert_string_equal(meet(&dict, "0123456789abcdef", 0, 0, ML_STARTED).text,
                        "0123456789abcde 0");
    ml_dict_release(&dict);
}

static const char *role_of(const char *command, uint32_t rank, struct ml_role *ret)
{
    struct ml_hello hello = {.rank = rank};

    memcpy(hello.command, command, strlen(command));
    ml_role_find(&hello, -1, ML_STARTED, NULL, ret);
    return ret->text;
}

static void ranks_and_compilers_are_told(void **state)
{
    struct ml_role role;

    (void)state;
    assert_string_equal(role_of("python train.py", 0, &role), "");
    assert_string_equal(role_of("python train.py", 1, &role), "rank 0");
    assert_string_equal(role_of("/usr/bin/x86_64-linux-gnu-gcc-12 -c x.c", 0, &role), "compiler");
    assert_string_equal(role_of("/usr/lib/gcc/cc1plus -quiet", 4, &role), "rank 3 compiler");
    assert_string_equal(role_of("ptxas", 0, &role), "compiler");
    assert_string_equal(role_of("x86_64-conda-linux-gnu-c++ x.cc", 0, &role), "compiler");
    assert_string_equal(role_of("aarch64-linux-ld", 0, &role), "compiler");
    assert_string_equal(role_of("clang-15", 0, &role), "compiler");
    assert_string_equal(role_of("ld-pretends", 0, &role), "");
    assert_string_equal(role_of("run-as root", 0, &role), "");
    assert_string_equal(role_of("/opt/my-own-ld", 0, &role), "");
    assert_string_equal(role_of("arm-ld", 0, &role), "");
    assert_string_equal(role_of("", 0, &role), "");
    assert_string_equal(role_of("---- -1", UINT32_MAX, &role), "rank 4294967294");
}

static void children_have_the_role_of_their_parent(void **state)
{
    struct ml_role first, forked, second;
    struct ml_dict dict;

    (void)state;
    assert_int_equal(ml_dict_init(&dict), 0);
    first = meet(&dict, "server", 2, -1, ML_STARTED);
    forked = meet(&dict, "server", 2, 0, ML_FORKED);
    second = meet(&dict, "server", 2, -1, ML_STARTED);
    assert_true(first.is_server && second.is_server);
    assert_false(forked.is_server); /* it is the parent's */
    assert_string_equal(forked.text, "server 0");
    assert_int_equal(second.number, 1);
    /* A shell that becomes the server by exec. */
    assert_true(meet(&dict, "server", 2, 2, ML_EXECED).is_server);
    assert_false(meet(&dict, "worker", 2, 0, ML_STARTED).is_server);
    ml_dict_release(&dict);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(those_that_are_several_are_numbered),
        cmocka_unit_test(ranks_and_compilers_are_told),
        cmocka_unit_test(children_have_the_role_of_their_parent),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
