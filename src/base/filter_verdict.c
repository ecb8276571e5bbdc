/* filter_verdict.c: see filter_verdict.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "filter_verdict.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>

#include "compiler.h"
#include "injection_calls.h"
#include "recorder_calls.h"

/* ---- The kernel's machine ------------------------------------------------- */

/* A word computed from an unknown word is unknown. */
struct word {
    uint32_t value;
    bool known;
};

struct machine {
    struct word a, x, memory[BPF_MEMWORDS];
};

/* The word that a filter reads at that offset of struct seccomp_data. */
static struct word load(const struct ml_recorder_call *call, uint32_t offset)
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
                          const struct ml_recorder_call *call)
{
    switch (BPF_MODE(f->code)) {
    case BPF_ABS: return load(call, f->k);
    case BPF_MEM: return f->k < BPF_MEMWORDS ? m->memory[f->k] : (struct word){0, false};
    case BPF_LEN: return (struct word){sizeof(struct seccomp_data), true};
    default: return (struct word){f->k, true}; /* BPF_IMM */
    }
}

/* Every instruction but jumps and returns. */
static void step(struct machine *m, const struct sock_filter *f,
                 const struct ml_recorder_call *call)
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

/* The filter's answer; unknown if it depends on an unknown word. Jumps only lead forward, so every
 * filter ends. */
static struct word run(const struct sock_fprog *filter, const struct ml_recorder_call *call)
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

/* The kernel reports error 0 as success. */
static bool is_error(uint32_t answer)
{
    return answer & SECCOMP_RET_DATA;
}

static bool spares(const struct sock_fprog *filter, const struct ml_recorder_call *call)
{
    struct word answer = run(filter, call);
    uint32_t action = answer.value & SECCOMP_RET_ACTION_FULL;

    if (!answer.known)
        return false;
    return action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_LOG ||
           (action == SECCOMP_RET_ERRNO && is_error(answer.value) && call->may_fail);
}

/* The first call that the filter does not spare; NULL: it spares all. */
static const struct ml_recorder_call *
first_harmed(const struct sock_fprog *filter, const struct ml_recorder_call *calls, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!spares(filter, &calls[i]))
            return &calls[i];
    }
    return NULL;
}

bool ml_filter_spares_recorder(const struct sock_fprog *filter)
{
    return !first_harmed(filter, ml_recorder_calls, ML_ARRAY_SIZE(ml_recorder_calls));
}

bool ml_filter_spares_injection(const struct sock_fprog *filter, uint32_t *ret_call)
{
    const struct ml_recorder_call *call =
        first_harmed(filter, ml_recorder_calls, ML_ARRAY_SIZE(ml_recorder_calls));

    if (!call)
        call = first_harmed(filter, ml_injection_calls, ML_ARRAY_SIZE(ml_injection_calls));
    if (call)
        *ret_call = call->number;
    return !call;
}

bool ml_filter_lets_count(const struct sock_fprog *filter)
{
    return !first_harmed(filter, ml_counting_calls, ML_ARRAY_SIZE(ml_counting_calls));
}
