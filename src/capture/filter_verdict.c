/* filter_verdict.c: see filter_verdict.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "filter_verdict.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>

#include "compiler.h"

#ifndef F_ADD_SEALS
#define F_ADD_SEALS 1033
#endif

/* ---- The recorder's calls ------------------------------------------------- */

struct call {
    uint32_t number;
    bool may_fail; /* the caller copes with an error */
    uint8_t known; /* a bit for each argument that is always this one */
    uint64_t args[4];
};

#define READ_FLAGS (O_RDONLY | O_CLOEXEC)
#define FILE_FLAGS (O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
#define PRIVATE (MAP_PRIVATE | MAP_ANONYMOUS)
#define PROTECTION (PROT_READ | PROT_WRITE)

static const struct call calls[] = {
    {SYS_mmap, true, 0xc, {0, 0, PROTECTION, PRIVATE}},
    {SYS_mmap, true, 0xc, {0, 0, PROTECTION, PRIVATE | MAP_NORESERVE}},
    {SYS_mmap, true, 0xc, {0, 0, PROTECTION, MAP_SHARED}},
    {SYS_mmap, true, 0xc, {0, 0, PROTECTION, MAP_SHARED | MAP_NORESERVE}},
    {SYS_munmap, true, 0, {0}},
    {SYS_mprotect, true, 4, {0, 0, PROT_READ}},
    {SYS_mprotect, true, 4, {0, 0, PROTECTION}},
    {SYS_madvise, true, 4, {0, 0, MADV_DONTDUMP}},
    {SYS_madvise, true, 4, {0, 0, MADV_REMOVE}},
    {SYS_madvise, true, 4, {0, 0, 18 /* MADV_WIPEONFORK */}},
    {SYS_mincore, true, 0, {0}},
    {SYS_rt_sigprocmask, false, 9, {SIG_BLOCK, 0, 0, sizeof(uint64_t)}},
    {SYS_rt_sigprocmask, false, 9, {SIG_SETMASK, 0, 0, sizeof(uint64_t)}},
    {SYS_rt_sigprocmask, true, 9, {UINT64_MAX, 0, 0, sizeof(uint64_t)}},
    {SYS_futex, false, 2, {0, FUTEX_WAIT}},
    {SYS_futex, false, 2, {0, FUTEX_WAKE}},
    {SYS_futex, false, 2, {0, FUTEX_WAIT_PRIVATE}},
    {SYS_futex, false, 2, {0, FUTEX_WAKE_PRIVATE}},
    {SYS_nanosleep, false, 0, {0}},
    {SYS_clock_gettime, false, 1, {CLOCK_MONOTONIC}},
    {SYS_clock_gettime, false, 1, {CLOCK_MONOTONIC_COARSE}},
    {SYS_gettid, false, 0, {0}},
    {SYS_getpid, false, 0, {0}},
    {SYS_getppid, true, 0, {0}},
    {SYS_geteuid, true, 0, {0}},
    {SYS_tgkill, true, 4, {0, 0, 0}},
    {SYS_memfd_create, true, 2, {0, 3}},
    {SYS_ftruncate, true, 0, {0}},
    {SYS_fcntl, true, 2, {0, F_ADD_SEALS}},
    {SYS_getrlimit, true, 1, {RLIMIT_FSIZE}},
    {SYS_getrlimit, true, 1, {RLIMIT_AS}},
    {SYS_prlimit64, true, 7, {0, RLIMIT_FSIZE, 0}},
    {SYS_prlimit64, true, 7, {0, RLIMIT_AS, 0}},
    {SYS_openat, true, 4, {0, 0, READ_FLAGS}},
    {SYS_openat, true, 4, {0, 0, O_RDWR | O_CLOEXEC}},
    {SYS_openat, true, 4, {0, 0, FILE_FLAGS}},
    {SYS_fstat, true, 0, {0}},
    {SYS_newfstatat, true, 0, {0}},
    {SYS_read, true, 0, {0}},
    {SYS_write, true, 0, {0}},
    {SYS_close, false, 0, {0}},
    {SYS_socket, true, 7, {AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0}},
    {SYS_socket, true, 7, {AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0}},
    {SYS_connect, true, 0, {0}},
    {SYS_getsockopt, true, 6, {0, SOL_SOCKET, SO_PEERCRED}},
    {SYS_sendmsg, true, 4, {0, 0, MSG_NOSIGNAL | MSG_DONTWAIT}},
    {SYS_sendmsg, true, 4, {0, 0, MSG_NOSIGNAL}},
    {SYS_sendto, true, 8, {0, 0, 0, MSG_NOSIGNAL | MSG_DONTWAIT}},
    {SYS_setsockopt, true, 6, {0, SOL_SOCKET, SO_SNDTIMEO}},
    {SYS_prctl, true, 1, {PR_GET_NAME}},
    {SYS_readlink, true, 0, {0}},
    {SYS_readlinkat, true, 0, {0}},
    {SYS_kill, true, 2, {0, 0}},
    {SYS_getcwd, true, 0, {0}},
    {SYS_process_vm_readv, true, 0, {0}},
};

/* ---- The kernel's machine ------------------------------------------------- */

/* A word that depends on what is not known is not known either. */
struct word {
    uint32_t value;
    bool known;
};

struct machine {
    struct word a, x, memory[BPF_MEMWORDS];
};

/* What a filter finds at that place of struct seccomp_data. */
static struct word load(const struct call *call, uint32_t offset)
{
    uint32_t in_args = offset - (uint32_t)offsetof(struct seccomp_data, args);
    uint32_t i = in_args / 8;

    if (offset == offsetof(struct seccomp_data, nr))
        return (struct word){call->number, true};
    if (offset == offsetof(struct seccomp_data, arch))
        return (struct word){AUDIT_ARCH_X86_64, true};
    if (offset < offsetof(struct seccomp_data, args) || i >= ML_ARRAY_SIZE(call->args) ||
        !(call->known >> i & 1))
        return (struct word){0, false};
    return (struct word){(uint32_t)(call->args[i] >> (in_args % 8 ? 32 : 0)), true};
}

static uint32_t compute(unsigned operation, uint32_t a, uint32_t b)
{
    switch (operation) {
    case BPF_ADD: return a + b;
    case BPF_SUB: return a - b;
    case BPF_MUL: return a * b;
    case BPF_DIV: return b ? a / b : 0;
    case BPF_AND: return a & b;
    case BPF_OR: return a | b;
    case BPF_XOR: return a ^ b;
    case BPF_LSH: return b < 32 ? a << b : 0;
    case BPF_RSH: return b < 32 ? a >> b : 0;
    default: return -a; /* BPF_NEG */
    }
}

static bool holds(unsigned condition, uint32_t a, uint32_t b)
{
    switch (condition) {
    case BPF_JEQ: return a == b;
    case BPF_JGT: return a > b;
    case BPF_JGE: return a >= b;
    default: return a & b; /* BPF_JSET */
    }
}

static struct word operand(const struct machine *m, const struct sock_filter *f)
{
    return BPF_SRC(f->code) == BPF_X ? m->x : (struct word){f->k, true};
}

static struct word loaded(const struct machine *m, const struct sock_filter *f,
                          const struct call *call)
{
    switch (BPF_MODE(f->code)) {
    case BPF_ABS: return load(call, f->k);
    case BPF_MEM: return f->k < BPF_MEMWORDS ? m->memory[f->k] : (struct word){0, false};
    case BPF_LEN: return (struct word){sizeof(struct seccomp_data), true};
    default: return (struct word){f->k, true}; /* BPF_IMM */
    }
}

/* All but jumps and the end. */
static void step(struct machine *m, const struct sock_filter *f, const struct call *call)
{
    struct word b = operand(m, f);

    switch (BPF_CLASS(f->code)) {
    case BPF_LD: m->a = loaded(m, f, call); break;
    case BPF_LDX: m->x = loaded(m, f, call); break;
    case BPF_ST: m->memory[f->k % BPF_MEMWORDS] = m->a; break;
    case BPF_STX: m->memory[f->k % BPF_MEMWORDS] = m->x; break;
    case BPF_ALU:
        m->a.known &= b.known || BPF_OP(f->code) == BPF_NEG;
        m->a.value = compute(BPF_OP(f->code), m->a.value, b.value);
        break;
    default: /* BPF_MISC */
        if (BPF_MISCOP(f->code) == BPF_TAX)
            m->x = m->a;
        else
            m->a = m->x;
    }
}

/* What the filter answers; not known: it depends on what is not. Jumps lead forward only,
 * so that every filter ends. */
static struct word run(const struct sock_fprog *filter, const struct call *call)
{
    struct machine m = {0};

    for (size_t at = 0; at < filter->len; at++) {
        const struct sock_filter *f = &filter->filter[at];
        struct word b = operand(&m, f);

        if (BPF_CLASS(f->code) == BPF_RET)
            return BPF_RVAL(f->code) == BPF_A ? m.a : (struct word){f->k, true};
        if (BPF_CLASS(f->code) != BPF_JMP) {
            step(&m, f, call);
        } else if (BPF_OP(f->code) == BPF_JA) {
            at += f->k;
        } else {
            if (!m.a.known || !b.known)
                break;
            at += holds(BPF_OP(f->code), m.a.value, b.value) ? f->jt : f->jf;
        }
    }
    return (struct word){0, false};
}

/* Error 0 would be taken for success. */
static bool is_error(uint32_t answer)
{
    return answer & SECCOMP_RET_DATA;
}

bool ml_filter_spares_recorder(const struct sock_fprog *filter)
{
    for (size_t i = 0; i < ML_ARRAY_SIZE(calls); i++) {
        struct word answer = run(filter, &calls[i]);
        uint32_t action = answer.value & SECCOMP_RET_ACTION_FULL;

        if (!answer.known)
            return false;
        if (action != SECCOMP_RET_ALLOW && action != SECCOMP_RET_LOG &&
            !(action == SECCOMP_RET_ERRNO && is_error(answer.value) && calls[i].may_fail))
            return false;
    }
    return true;
}
