/* seccomp_hooks.c: wraps libc's prctl and syscall, to see that a program is about to restrict its
 * own system calls: see sandbox.h.
 *
 * Other calls pass unchanged. syscall() leaves by a jump, so that libc finds the caller's stack as
 * it expects it, whatever the system call does to it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "compiler.h"
#include "loaded_symbols.h"
#include "sandbox.h"
#include "seccomp_hooks.h"

#define HIDDEN __attribute__((visibility("hidden"), used))

#ifndef SECCOMP_FILTER_FLAG_NEW_LISTENER
#define SECCOMP_FILTER_FLAG_NEW_LISTENER (1UL << 3)
#endif

typedef int prctl_function(int option, ...);

/* NULL until the library is initialised; until then calls go to the kernel directly. */
HIDDEN ml_syscall_function *ml_syscall_real;
static prctl_function *prctl_real;

HIDDEN ml_syscall_function ml_syscall_direct;
HIDDEN ml_syscall_function ml_syscall_restricts;

_Static_assert(SYS_seccomp == 317 && SYS_prctl == 157 && PR_SET_SECCOMP == 22 && PR_SET_TSC == 26,
               "numbers in the lines below");

__asm__(".pushsection .text\n"
        ".globl syscall\n"
        ".type syscall, @function\n"
        ".p2align 4\n"
        "syscall:\n"
        "    .cfi_startproc\n"
        "    endbr64\n"
        "    cmpl $317, %edi\n" /* seccomp */
        "    je 2f\n"
        "    cmpl $157, %edi\n" /* prctl */
        "    je 3f\n"
        "1:\n"
        "    movq ml_syscall_real(%rip), %rax\n"
        "    testq %rax, %rax\n"
        "    jz 4f\n"
        "    jmp *%rax\n"
        "3:\n"
        "    cmpl $22, %esi\n" /* PR_SET_SECCOMP */
        "    je 2f\n"
        "    cmpl $26, %esi\n" /* PR_SET_TSC */
        "    jne 1b\n"
        "2:\n"
        "    jmp ml_syscall_restricts\n"
        "4:\n"
        "    jmp ml_syscall_direct\n"
        "    .cfi_endproc\n"
        ".size syscall, .-syscall\n"
        ".popsection\n");

long ml_syscall_direct(long number, long a, long b, long c, long d, long e, long f)
{
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    long result;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    if (result < 0 && result >= -4095) {
        errno = (int)-result;
        return -1;
    }
    return result;
}

static long pass_on(long number, long a, long b, long c, long d, long e, long f)
{
    return (ml_syscall_real ? ml_syscall_real : ml_syscall_direct)(number, a, b, c, d, e, f);
}

/* The restriction that the arguments of prctl ask for; false: none. */
static bool prctl_restricts(int option, unsigned long how, enum ml_restriction *ret)
{
    if (option == PR_SET_TSC && how == PR_TSC_SIGSEGV)
        *ret = ML_RESTRICT_CLOCK;
    else if (option == PR_SET_SECCOMP && how == SECCOMP_MODE_STRICT)
        *ret = ML_RESTRICT_THREAD;
    else if (option == PR_SET_SECCOMP && how == SECCOMP_MODE_FILTER)
        *ret = ML_RESTRICT_CALLS;
    else
        return false;
    return true;
}

/* Libraries probe the kernel by calls that must fail, such as a filter without a program. */
static bool seccomp_restricts(long operation, long flags, long program, enum ml_restriction *ret)
{
    if (operation == SECCOMP_SET_MODE_STRICT && !flags && !program)
        *ret = ML_RESTRICT_THREAD;
    else if (operation == SECCOMP_SET_MODE_FILTER && program)
        *ret =
            (unsigned long)flags & SECCOMP_FILTER_FLAG_TSYNC ? ML_RESTRICT_ALL : ML_RESTRICT_CALLS;
    else
        return false;
    return true;
}

/* With a listener the result is a descriptor. Any other positive result is the id of a thread that
 * the filter could not be installed in. */
static bool is_done(long number, long flags, long result)
{
    return !result || (result > 0 && number == SYS_seccomp &&
                       ((unsigned long)flags & SECCOMP_FILTER_FLAG_NEW_LISTENER));
}

long ml_syscall_restricts(long number, long a, long b, long c, long d, long e, long f)
{
    struct ml_restricting restricting;
    enum ml_restriction what;
    long result;

    if (!(number == SYS_seccomp ? seccomp_restricts(a, b, c, &what)
                                : prctl_restricts((int)a, (unsigned long)b, &what)))
        return pass_on(number, a, b, c, d, e, f);
    ml_restrict_begin(&restricting, what, (const void *)c);
    result = pass_on(number, a, b, c, d, e, f);
    ml_restrict_end(&restricting, is_done(number, b, result));
    return result;
}

static int prctl_on(int option, const unsigned long more[4])
{
    if (ML_LIKELY(prctl_real != NULL))
        return prctl_real(option, more[0], more[1], more[2], more[3]);
    return (int)ml_syscall_direct(SYS_prctl, option, (long)more[0], (long)more[1], (long)more[2],
                                  (long)more[3], 0);
}

__attribute__((visibility("default"))) int prctl(int option, ...)
{
    struct ml_restricting restricting;
    enum ml_restriction what;
    unsigned long more[4];
    va_list arguments;
    int result;

    va_start(arguments, option);
    for (int i = 0; i < 4; i++)
        more[i] = va_arg(arguments, unsigned long);
    va_end(arguments);
    if (ML_LIKELY(!prctl_restricts(option, more[0], &what)))
        return prctl_on(option, more);
    ml_restrict_begin(&restricting, what, (const void *)more[1]);
    result = prctl_on(option, more);
    ml_restrict_end(&restricting, !result);
    return result;
}

/* If this library was loaded late, no object comes after it, and it keeps making the calls
 * directly. */
__attribute__((constructor)) static void find_real(void)
{
    const struct link_map *own = ml_symbols_own_object();

    prctl_real = (prctl_function *)ml_symbol_after(own, "prctl", NULL);
    ml_syscall_real = (ml_syscall_function *)ml_symbol_after(own, "syscall", NULL);
}
