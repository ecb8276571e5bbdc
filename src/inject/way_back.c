/* way_back.c: see way_back.h. The layout is that of the kernel's struct rt_sigframe, which programs
 * such as debuggers rely on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "way_back.h"

#include <cpuid.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/ucontext.h>

#include "compiler.h"
#include "mapped_file.h"

#define RED_ZONE 128
#define ALIGNMENTS 128 /* bytes that they may cost */

/* Further results of a system call that the kernel repeats; see ML_ERESTARTNOHAND. */
#define ERESTARTSYS 512
#define ERESTARTNOINTR 513
#define ERESTART_RESTARTBLOCK 516

/* uc_flags: there is floating-point state beyond that of SSE; the stack segment is valid. */
#define UC_FLAGS 7
/* No valid setting of an alternate signal stack: the kernel leaves the thread's as it is. */
#define NO_CHANGE 0x1234

/* In the area that the legacy format leaves to software. */
struct xstate_note {
    uint32_t magic;
    uint32_t extended_bytes;
    uint64_t features;
    uint32_t bytes;
    uint32_t padding[7];
};
_Static_assert(sizeof(struct xstate_note) == 48, "as the kernel defines it");
#define NOTE_AT 464
#define FEATURES_AT 512
#define LEGACY_BYTES 576 /* with the header of the rest */
#define MAGIC_BEGIN 0x46505853
#define MAGIC_END 0x46505845
#define LARGE_FEATURES (UINT64_C(3) << 17) /* AMX: a thread needs a permission for these */

struct frame {
    uint64_t restorer;
    ucontext_t context; /* the kernel reads 8 bytes of the mask */
};

/* ---- Memory of the process ---------------------------------------------------- */

uint64_t ml_way_back_find(pid_t pid, uint64_t in_libc)
{
    /* mov $15, %rax; syscall */
    static const unsigned char code[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
    struct ml_mapping text;
    unsigned char *bytes, *found = NULL;
    uint64_t at = 0;

    if (!ml_mapping_at(pid, in_libc, &text))
        return 0;
    bytes = malloc(text.end - text.begin);
    if (bytes && ml_traced_read(pid, text.begin, bytes, text.end - text.begin))
        found = memmem(bytes, text.end - text.begin, code, sizeof(code));
    if (found)
        at = text.begin + (uint64_t)(found - bytes);
    free(bytes);
    return at;
}

/* ---- The state ------------------------------------------------------------------ */

/* The features of this machine whose state every thread may have, and its size. */
static uint64_t plain_features(uint32_t *ret_bytes)
{
    uint32_t a, b, c, d, low, high;
    uint64_t features;

    *ret_bytes = LEGACY_BYTES;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
        return 3;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    features = ((uint64_t)high << 32 | low) & ~LARGE_FEATURES;
    for (unsigned i = 2; i < 63; i++) {
        if (!(features >> i & 1))
            continue;
        __cpuid_count(0xd, i, a, b, c, d);
        if (a + b > *ret_bytes)
            *ret_bytes = a + b;
    }
    return features;
}

/* @return its size; 0: not to be expressed */
static size_t make_xstate(const struct ml_traced_thread *t, unsigned char *out)
{
    struct xstate_note note = {.magic = MAGIC_BEGIN};
    uint64_t used;

    note.features = plain_features(&note.bytes);
    note.extended_bytes = note.bytes + sizeof(uint32_t);
    if (t->xstate_bytes < note.bytes)
        return 0;
    memcpy(out, t->xstate, note.bytes);
    memcpy(&used, out + FEATURES_AT, sizeof(used));
    used &= note.features;
    memcpy(out + FEATURES_AT, &used, sizeof(used));
    memcpy(out + NOTE_AT, &note, sizeof(note));
    memcpy(out + note.bytes, &(uint32_t){MAGIC_END}, sizeof(uint32_t));
    return note.extended_bytes;
}

static void set_registers(const struct user_regs_struct *r, gregset_t g)
{
    const struct {
        int at;
        uint64_t value;
    } all[] = {
        {REG_R8, r->r8},
        {REG_R9, r->r9},
        {REG_R10, r->r10},
        {REG_R11, r->r11},
        {REG_R12, r->r12},
        {REG_R13, r->r13},
        {REG_R14, r->r14},
        {REG_R15, r->r15},
        {REG_RDI, r->rdi},
        {REG_RSI, r->rsi},
        {REG_RBP, r->rbp},
        {REG_RBX, r->rbx},
        {REG_RDX, r->rdx},
        {REG_RAX, r->rax},
        {REG_RCX, r->rcx},
        {REG_RSP, r->rsp},
        {REG_RIP, r->rip},
        {REG_EFL, r->eflags},
        {REG_CSGSFS, r->cs | r->ss << 48},
    };

    for (size_t i = 0; i < ML_ARRAY_SIZE(all); i++)
        g[all[i].at] = (greg_t)all[i].value;
}

/* Does what the kernel would do with an interrupted system call. */
static void repeat_call(const struct user_regs_struct *r, gregset_t g)
{
    if ((int64_t)r->orig_rax < 0)
        return;
    switch (-(int64_t)r->rax) {
    case ERESTARTSYS:
    case ERESTARTNOINTR:
    case ML_ERESTARTNOHAND: g[REG_RAX] = (greg_t)r->orig_rax; break;
    case ERESTART_RESTARTBLOCK: g[REG_RAX] = SYS_restart_syscall; break;
    default: return;
    }
    g[REG_RIP] -= 2;
}

uint64_t ml_way_back_write(const struct ml_traced_thread *t, uint64_t restorer)
{
    static unsigned char xstate[ML_XSTATE_BYTES + 8];
    struct frame frame = {.restorer = restorer};
    size_t bytes = make_xstate(t, xstate);
    uint64_t xstate_at, at;
    struct ml_mapping stack;

    if (!bytes || !ml_mapping_at(t->pid, t->regs.rsp, &stack) ||
        t->regs.rsp - stack.begin < RED_ZONE + bytes + sizeof(frame) + ALIGNMENTS)
        return 0;
    xstate_at = (t->regs.rsp - RED_ZONE - bytes) & ~UINT64_C(63);
    at = (xstate_at - sizeof(frame)) & ~UINT64_C(15);
    frame.context.uc_flags = UC_FLAGS;
    frame.context.uc_stack.ss_flags = NO_CHANGE;
    set_registers(&t->regs, frame.context.uc_mcontext.gregs);
    repeat_call(&t->regs, frame.context.uc_mcontext.gregs);
    frame.context.uc_mcontext.fpregs = (fpregset_t)xstate_at; /* NOLINT: in the process */
    memcpy(&frame.context.uc_sigmask, &t->signals, sizeof(t->signals));
    return ml_traced_write(t->pid, xstate_at, xstate, bytes) &&
                   ml_traced_write(t->pid, at, &frame, sizeof(frame))
               ? at
               : 0;
}
