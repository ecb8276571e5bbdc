/* test_cgroup_memory.c: the memory that control groups leave, and what the kernel killed to keep
 * their limits, from files as it shows them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cgroup_memory.h"

static char folder[] = "/tmp/memledger-cgroup-XXXXXX";
static char groups[64];

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(groups, sizeof(groups), "%s/groups", folder);
    return 0;
}

static int remove_folder(void **state)
{
    char command[96];

    (void)state;
    snprintf(command, sizeof(command), "rm -r %s", folder);
    return system(command);
}

/* Makes the folders of the path too. */
static void write_file(const char *name, const char *text)
{
    char path[256];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    for (char *p = path + strlen(folder) + 1; (p = strchr(p, '/')); p++) {
        *p = '\0';
        mkdir(path, 0700);
        *p = '/';
    }
    file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static uint64_t limit_with(const char *lines)
{
    write_file("groups", lines);
    return ml_cgroup_limit_bytes(groups, folder);
}

static void test_second_version(void **state)
{
    (void)state;
    write_file("job/step/memory.max", "max\n");
    assert_true(limit_with("0::/job/step\n") == UINT64_MAX);
    write_file("job/memory.max", "5000\n");
    assert_int_equal(limit_with("0::/job/step\n"), 5000);
    write_file("job/step/memory.max", "700\n");
    assert_int_equal(limit_with("0::/job/step\n"), 700);
    assert_int_equal(limit_with("0::/job\n"), 5000);
    assert_true(limit_with("0::/\n") == UINT64_MAX);
}

static void test_first_version(void **state)
{
    (void)state;
    write_file("memory/memory.limit_in_bytes", "9223372036854771712\n");
    write_file("memory/task/memory.limit_in_bytes", "4096\n");
    assert_int_equal(limit_with("9:name=systemd:/\n4:hugetlb,memory:/task\n0::/\n"), 4096);
    assert_int_equal(limit_with("4:memory:/task/inner\n"), 4096);
    /* A container that sees its group as the root. */
    write_file("memory/memory.limit_in_bytes", "8192\n");
    assert_int_equal(limit_with("4:memory:/docker/0123\n"), 8192);
}

static void test_none(void **state)
{
    (void)state;
    assert_true(limit_with("") == UINT64_MAX);
    assert_true(limit_with("nonsense\n0:\n::\n1:cpu:/\n") == UINT64_MAX);
    assert_true(ml_cgroup_limit_bytes("/no/such/file", folder) == UINT64_MAX);
}

static void check_kills(const char *lines, uint64_t kills, uint64_t at_limit)
{
    struct ml_cgroup_kills found;

    write_file("groups", lines);
    found = ml_cgroup_kills(groups, folder);
    assert_int_equal(found.kills, kills);
    assert_int_equal(found.at_limit, at_limit);
}

static void test_kills(void **state)
{
    (void)state;
    check_kills("0::/job/step\n", 0, 0);
    write_file("job/step/memory.events", "low 0\nhigh 7\nmax 9\noom 3\noom_kill 2\n");
    check_kills("0::/job/step\n", 2, 3);
    write_file("memory/task/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 4\n");
    write_file("memory/task/memory.failcnt", "55\n");
    check_kills("9:name=systemd:/\n4:hugetlb,memory:/task\n", 4, 55);
    /* A container that sees its group as the root. */
    write_file("memory/memory.oom_control", "oom_kill 1\n");
    check_kills("4:memory:/docker/0123\n", 1, 0);
    write_file("job/step/memory.events", "nonsense");
    check_kills("0::/job/step\n", 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_second_version),
        cmocka_unit_test(test_first_version),
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_kills),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
