/* test_filter_verdict.c: filters as programs write them, and what they mean for the recorder.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "compiler.h"
#include "filter_verdict.h"

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define JUMP(how, value, yes, no) BPF_JUMP(BPF_JMP | (how) | BPF_K, value, yes, no)
#define ANSWER(action) BPF_STMT(BPF_RET | BPF_K, action)
#define ALLOW ANSWER(SECCOMP_RET_ALLOW)
#define KILL ANSWER(SECCOMP_RET_KILL_PROCESS)

#define SPARES(...)                                                                                \
    spares((struct sock_filter[]){__VA_ARGS__},                                                    \
           ML_ARRAY_SIZE(((struct sock_filter[]){__VA_ARGS__})))

static bool spares(struct sock_filter *code, size_t n)
{
    return ml_filter_spares_recorder(&(struct sock_fprog){(unsigned short)n, code});
}

static void test_one_answer(void **state)
{
    (void)state;
    assert_true(SPARES(ALLOW));
    assert_true(SPARES(ANSWER(SECCOMP_RET_LOG)));
    assert_false(SPARES(KILL));
    assert_false(SPARES(ANSWER(SECCOMP_RET_KILL_THREAD)));
    assert_false(SPARES(ANSWER(SECCOMP_RET_TRAP)));
    assert_false(SPARES(ANSWER(SECCOMP_RET_TRACE)));
    assert_false(SPARES(ANSWER(SECCOMP_RET_USER_NOTIF)));
    /* A lock cannot be waited for. */
    assert_false(SPARES(ANSWER(SECCOMP_RET_ERRNO | EPERM)));
}

/* Answers so for one call, and allows the rest. */
static bool spares_with(unsigned call, unsigned answer)
{
    return SPARES(LOAD(nr), JUMP(BPF_JEQ, call, 0, 1), ANSWER(answer), ALLOW);
}

static void test_one_call(void **state)
{
    (void)state;
    assert_true(spares_with(SYS_ptrace, SECCOMP_RET_KILL_PROCESS));
    assert_false(spares_with(SYS_memfd_create, SECCOMP_RET_KILL_PROCESS));
    assert_false(spares_with(SYS_nanosleep, SECCOMP_RET_TRAP));
    assert_true(spares_with(SYS_memfd_create, SECCOMP_RET_ERRNO | ENOSYS));
    assert_false(spares_with(SYS_futex, SECCOMP_RET_ERRNO | ENOSYS));
    /* Without having made a file, that is 0: standard input. */
    assert_false(spares_with(SYS_memfd_create, SECCOMP_RET_ERRNO));
}

/* By which a program hands a file over, and reports that it cannot reach the session's folder. */
static void test_calls_for_files(void **state)
{
    const unsigned calls[] = {SYS_connect, SYS_getsockopt, SYS_newfstatat, SYS_geteuid, SYS_sendto};

    (void)state;
    for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
        assert_false(spares_with(calls[i], SECCOMP_RET_KILL_PROCESS));
}

/* A reply that is read in little address space, and a look for signals in a long wait. */
static void test_rare_calls(void **state)
{
    (void)state;
    assert_false(spares_with(SYS_mremap, SECCOMP_RET_KILL_PROCESS));
    assert_false(spares_with(SYS_rt_sigpending, SECCOMP_RET_KILL_PROCESS));
    assert_true(spares_with(SYS_mremap, SECCOMP_RET_ERRNO | EPERM));
}

/* Whether attach may load the recorder under a filter with that answer to one call. */
static bool spares_injection(unsigned call, uint32_t answer, uint32_t *ret_call)
{
    struct sock_filter code[] = {LOAD(nr), JUMP(BPF_JEQ, call, 0, 1),
                                 BPF_STMT(BPF_RET | BPF_K, answer), ALLOW};

    return ml_filter_spares_injection(&(struct sock_fprog){ML_ARRAY_SIZE(code), code}, ret_call);
}

static void test_injection(void **state)
{
    struct sock_filter no_namespaces[] = {
        LOAD(nr),      JUMP(BPF_JEQ, SYS_clone, 0, 3),
        LOAD(args[0]), JUMP(BPF_JSET, 0x7e020000, 0, 1),
        KILL,          ALLOW,
    };
    struct sock_fprog engine = {ML_ARRAY_SIZE(no_namespaces), no_namespaces};
    uint32_t call = 0;

    (void)state;
    assert_true(spares_injection(SYS_mount, SECCOMP_RET_KILL_PROCESS, &call));
    assert_true(spares_injection(SYS_clone3, SECCOMP_RET_ERRNO | ENOSYS, &call));
    assert_true(ml_filter_spares_injection(&engine, &call));
    assert_int_equal(call, 0);
    assert_false(spares_injection(SYS_clone3, SECCOMP_RET_KILL_PROCESS, &call));
    assert_int_equal(call, SYS_clone3);
    assert_false(spares_injection(SYS_mincore, SECCOMP_RET_KILL_PROCESS, &call));
    assert_int_equal(call, SYS_mincore);
    /* Without them a borrowed thread does not find back, and a new one cannot end. */
    assert_false(spares_injection(SYS_rt_sigreturn, SECCOMP_RET_ERRNO | EPERM, &call));
    assert_false(spares_injection(SYS_exit, SECCOMP_RET_ERRNO | EPERM, &call));
}

static bool lets_count(struct sock_filter *code, size_t n)
{
    return ml_filter_lets_count(&(struct sock_fprog){(unsigned short)n, code});
}

/* A program that is started under the filter opens a file for writing to count itself. */
static void test_lets_count(void **state)
{
    struct sock_filter no_memfd[] = {LOAD(nr), JUMP(BPF_JEQ, SYS_memfd_create, 0, 1), KILL, ALLOW};
    struct sock_filter no_openat[] = {LOAD(nr), JUMP(BPF_JEQ, SYS_openat, 0, 1), KILL, ALLOW};
    struct sock_filter read_only[] = {
        LOAD(nr),      JUMP(BPF_JEQ, SYS_openat, 0, 3),
        LOAD(args[2]), JUMP(BPF_JSET, O_ACCMODE, 0, 1),
        KILL,          ALLOW,
    };

    (void)state;
    assert_true(lets_count(no_memfd, ML_ARRAY_SIZE(no_memfd)));
    assert_false(lets_count(no_openat, ML_ARRAY_SIZE(no_openat)));
    assert_false(lets_count(read_only, ML_ARRAY_SIZE(read_only)));
}

static void test_architecture(void **state)
{
    (void)state;
    assert_true(SPARES(LOAD(arch), JUMP(BPF_JEQ, AUDIT_ARCH_X86_64, 1, 0), KILL, ALLOW));
    assert_false(SPARES(LOAD(arch), JUMP(BPF_JEQ, AUDIT_ARCH_I386, 1, 0), KILL, ALLOW));
    /* As many filters keep x32 out. */
    assert_true(SPARES(LOAD(nr), JUMP(BPF_JGE, 0x40000000, 0, 1), KILL, ALLOW));
}

/* Sockets of this family only. */
static bool spares_family(unsigned family)
{
    return SPARES(LOAD(nr), JUMP(BPF_JEQ, SYS_socket, 0, 3), LOAD(args[0]),
                  JUMP(BPF_JEQ, family, 1, 0), KILL, ALLOW);
}

static void test_arguments(void **state)
{
    (void)state;
    assert_true(spares_family(AF_UNIX));
    assert_false(spares_family(AF_INET));
    /* Where in memory something lies is not known. */
    assert_false(SPARES(LOAD(nr), JUMP(BPF_JEQ, SYS_read, 0, 3), LOAD(args[1]),
                        JUMP(BPF_JEQ, 0, 0, 1), KILL, ALLOW));
    assert_false(SPARES(LOAD(instruction_pointer), JUMP(BPF_JEQ, 0, 0, 1), KILL, ALLOW));
    /* Loaded, but nothing depends on it. */
    assert_true(SPARES(LOAD(args[1]), LOAD(nr), JUMP(BPF_JEQ, SYS_ptrace, 0, 1), KILL, ALLOW));
}

static void test_arithmetic(void **state)
{
    (void)state;
    /* (number ^ 5 ^ 5) kept in memory, compared through x. */
    assert_false(SPARES(LOAD(nr), BPF_STMT(BPF_ALU | BPF_XOR | BPF_K, 5), BPF_STMT(BPF_ST, 3),
                        BPF_STMT(BPF_LDX | BPF_W | BPF_IMM, 5),
                        BPF_STMT(BPF_LD | BPF_W | BPF_MEM, 3),
                        BPF_STMT(BPF_ALU | BPF_XOR | BPF_X, 0), BPF_STMT(BPF_MISC | BPF_TAX, 0),
                        BPF_STMT(BPF_LD | BPF_W | BPF_IMM, SYS_gettid),
                        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_X, 0, 0, 1), KILL, ALLOW));
    /* An answer that is computed. */
    assert_true(SPARES(BPF_STMT(BPF_LD | BPF_W | BPF_IMM, SECCOMP_RET_ALLOW >> 16),
                       BPF_STMT(BPF_ALU | BPF_LSH | BPF_K, 16), BPF_STMT(BPF_RET | BPF_A, 0)));
    assert_false(SPARES(LOAD(args[4]), BPF_STMT(BPF_RET | BPF_A, 0)));
    /* A jump over what kills. */
    assert_true(SPARES(BPF_STMT(BPF_JMP | BPF_JA, 1), KILL, ALLOW));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_answer),      cmocka_unit_test(test_one_call),
        cmocka_unit_test(test_calls_for_files), cmocka_unit_test(test_architecture),
        cmocka_unit_test(test_arguments),       cmocka_unit_test(test_arithmetic),
        cmocka_unit_test(test_rare_calls),      cmocka_unit_test(test_lets_count),
        cmocka_unit_test(test_injection),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
