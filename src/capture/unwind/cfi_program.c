/* cfi_program.c: see cfi_program.h.
 *
 * A program changes rules for registers as its location advances. Only the rules for the CFA, the
 * frame pointer, the stack pointer and the return address are kept.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cfi_program.h"

#include "frame_registers.h"

/* Instructions: the first three have an operand in their low six bits. */
enum {
    CFA_ADVANCE = 0x40,
    CFA_OFFSET = 0x80,
    CFA_RESTORE = 0xc0,
    CFA_NOP = 0x00,
    CFA_SET_LOCATION = 0x01,
    CFA_ADVANCE_1 = 0x02,
    CFA_ADVANCE_2 = 0x03,
    CFA_ADVANCE_4 = 0x04,
    CFA_OFFSET_EXTENDED = 0x05,
    CFA_RESTORE_EXTENDED = 0x06,
    CFA_UNDEFINED = 0x07,
    CFA_SAME_VALUE = 0x08,
    CFA_REGISTER = 0x09,
    CFA_REMEMBER = 0x0a,
    CFA_RECALL = 0x0b,
    CFA_DEFINE = 0x0c,
    CFA_DEFINE_REGISTER = 0x0d,
    CFA_DEFINE_OFFSET = 0x0e,
    CFA_DEFINE_EXPRESSION = 0x0f,
    CFA_EXPRESSION = 0x10,
    CFA_OFFSET_EXTENDED_SF = 0x11,
    CFA_DEFINE_SF = 0x12,
    CFA_DEFINE_OFFSET_SF = 0x13,
    CFA_VALUE_OFFSET = 0x14,
    CFA_VALUE_OFFSET_SF = 0x15,
    CFA_VALUE_EXPRESSION = 0x16,
    CFA_GNU_ARGUMENTS = 0x2e,
    CFA_GNU_NEGATIVE_OFFSET = 0x2f,
};

/* Operations in expressions. */
enum { OP_DEREF = 0x06, OP_REGISTER_0 = 0x70 /* + register: its value + an offset */ };

enum register_rule {
    KEPT,      /* not changed since the call */
    AT_CFA,    /* in the word at CFA + offset */
    AT_FP,     /* in the word at frame pointer + offset */
    UNDEFINED, /* lost */
    OTHERWISE, /* by a rule that rows do not have */
};

struct rule {
    enum register_rule kind;
    int64_t offset;
};

enum cfa_rule { CFA_OF_REGISTER, CFA_STORED, CFA_OTHERWISE };

struct state {
    enum cfa_rule cfa;
    uint64_t cfa_register;
    int64_t cfa_offset;
    struct rule fp, sp, ra;
};

#define REMEMBERED_MAX 8

struct machine {
    const struct ml_cfi_entry *entry;
    struct state state;
    struct state at_start; /* after the CIE's program */
    struct state remembered[REMEMBERED_MAX];
    unsigned remembered_count;
    uint64_t location;
    bool failed;
};

/* NULL: the register is not followed. */
static struct rule *rule_of(struct state *s, uint64_t number)
{
    switch (number) {
    case ML_REGISTER_FP: return &s->fp;
    case ML_REGISTER_SP: return &s->sp;
    case ML_REGISTER_RA: return &s->ra;
    default: return NULL;
    }
}

static void set_rule(struct machine *m, uint64_t number, enum register_rule kind, int64_t offset)
{
    struct rule *rule = rule_of(&m->state, number);

    if (rule)
        *rule = (struct rule){kind, offset};
}

static void restore(struct machine *m, uint64_t number)
{
    const struct rule *initial = rule_of(&m->at_start, number);

    if (initial)
        set_rule(m, number, initial->kind, initial->offset);
}

/* Damaged programs may have any operands: products wrap. */
static int64_t scaled(const struct machine *m, int64_t factor)
{
    return (int64_t)((uint64_t)factor * (uint64_t)m->entry->data_align);
}

static void advance(struct machine *m, uint64_t units)
{
    m->location += units * m->entry->code_align;
}

static void define_cfa(struct machine *m, uint64_t number, int64_t offset)
{
    m->state.cfa = CFA_OF_REGISTER;
    m->state.cfa_register = number;
    m->state.cfa_offset = offset;
}

static void remember(struct machine *m)
{
    if (m->remembered_count < REMEMBERED_MAX)
        m->remembered[m->remembered_count++] = m->state;
    else
        m->failed = true;
}

static void recall(struct machine *m)
{
    if (m->remembered_count)
        m->state = m->remembered[--m->remembered_count];
    else
        m->failed = true;
}

/* ---- Expressions ---------------------------------------------------------------- */

static struct ml_cfi_bytes expression(struct ml_cfi_bytes *b)
{
    uint64_t bytes = ml_cfi_uleb(b);
    struct ml_cfi_bytes body = *b;

    ml_cfi_skip(b, bytes);
    body.end = b->at;
    return body;
}

/* Whether it begins with the frame pointer's value + *ret_offset. */
static bool begins_with_fp(struct ml_cfi_bytes *body, int64_t *ret_offset)
{
    if (ml_cfi_byte(body) != OP_REGISTER_0 + ML_REGISTER_FP)
        return false;
    *ret_offset = ml_cfi_sleb(body);
    return !body->failed;
}

/* Functions that align their stack keep the CFA in a word beside their frame pointer. */
static void define_cfa_expression(struct machine *m, struct ml_cfi_bytes body)
{
    int64_t offset = 0;
    bool known =
        begins_with_fp(&body, &offset) && ml_cfi_byte(&body) == OP_DEREF && body.at == body.end;

    m->state.cfa = known ? CFA_STORED : CFA_OTHERWISE;
    m->state.cfa_offset = offset;
}

static void set_expression(struct machine *m, uint64_t number, struct ml_cfi_bytes body)
{
    int64_t offset = 0;
    bool known = begins_with_fp(&body, &offset) && body.at == body.end;

    set_rule(m, number, known ? AT_FP : OTHERWISE, offset);
}

/* ---- Instructions ---------------------------------------------------------------- */

static void run_cfa(struct machine *m, uint8_t op, struct ml_cfi_bytes *b)
{
    uint64_t number = m->state.cfa_register;

    if (op == CFA_DEFINE_EXPRESSION) {
        define_cfa_expression(m, expression(b));
        return;
    }
    if (op != CFA_DEFINE_OFFSET && op != CFA_DEFINE_OFFSET_SF)
        number = ml_cfi_uleb(b);
    switch (op) {
    case CFA_DEFINE:
    case CFA_DEFINE_OFFSET: define_cfa(m, number, (int64_t)ml_cfi_uleb(b)); break;
    case CFA_DEFINE_SF:
    case CFA_DEFINE_OFFSET_SF: define_cfa(m, number, scaled(m, ml_cfi_sleb(b))); break;
    default: define_cfa(m, number, m->state.cfa_offset); break;
    }
}

static void run_register(struct machine *m, uint8_t op, struct ml_cfi_bytes *b)
{
    uint64_t number = ml_cfi_uleb(b);

    switch (op) {
    case CFA_OFFSET_EXTENDED:
        set_rule(m, number, AT_CFA, scaled(m, (int64_t)ml_cfi_uleb(b)));
        break;
    case CFA_OFFSET_EXTENDED_SF: set_rule(m, number, AT_CFA, scaled(m, ml_cfi_sleb(b))); break;
    case CFA_GNU_NEGATIVE_OFFSET:
        set_rule(m, number, AT_CFA, scaled(m, (int64_t)(0 - ml_cfi_uleb(b))));
        break;
    case CFA_RESTORE_EXTENDED: restore(m, number); break;
    case CFA_UNDEFINED: set_rule(m, number, UNDEFINED, 0); break;
    case CFA_SAME_VALUE: set_rule(m, number, KEPT, 0); break;
    case CFA_EXPRESSION: set_expression(m, number, expression(b)); break;
    case CFA_VALUE_EXPRESSION:
        expression(b);
        set_rule(m, number, OTHERWISE, 0);
        break;
    default: /* a register, or a value at an offset */
        ml_cfi_uleb(b);
        set_rule(m, number, OTHERWISE, 0);
        break;
    }
}

static void run_extended(struct machine *m, uint8_t op, struct ml_cfi_bytes *b)
{
    switch (op) {
    case CFA_NOP: break;
    case CFA_SET_LOCATION: m->location = ml_cfi_pointer(b, m->entry->pointers, 0); break;
    case CFA_ADVANCE_1: advance(m, ml_cfi_number(b, 1)); break;
    case CFA_ADVANCE_2: advance(m, ml_cfi_number(b, 2)); break;
    case CFA_ADVANCE_4: advance(m, ml_cfi_number(b, 4)); break;
    case CFA_REMEMBER: remember(m); break;
    case CFA_RECALL: recall(m); break;
    case CFA_GNU_ARGUMENTS: ml_cfi_uleb(b); break;
    case CFA_DEFINE:
    case CFA_DEFINE_REGISTER:
    case CFA_DEFINE_OFFSET:
    case CFA_DEFINE_EXPRESSION:
    case CFA_DEFINE_SF:
    case CFA_DEFINE_OFFSET_SF: run_cfa(m, op, b); break;
    case CFA_OFFSET_EXTENDED:
    case CFA_RESTORE_EXTENDED:
    case CFA_UNDEFINED:
    case CFA_SAME_VALUE:
    case CFA_REGISTER:
    case CFA_EXPRESSION:
    case CFA_OFFSET_EXTENDED_SF:
    case CFA_VALUE_OFFSET:
    case CFA_VALUE_OFFSET_SF:
    case CFA_VALUE_EXPRESSION:
    case CFA_GNU_NEGATIVE_OFFSET: run_register(m, op, b); break;
    default: m->failed = true; break;
    }
}

static void run_instruction(struct machine *m, struct ml_cfi_bytes *b)
{
    uint8_t op = ml_cfi_byte(b);
    uint8_t operand = op & 0x3f;

    switch (op & 0xc0) {
    case CFA_ADVANCE: advance(m, operand); break;
    case CFA_OFFSET: set_rule(m, operand, AT_CFA, scaled(m, (int64_t)ml_cfi_uleb(b))); break;
    case CFA_RESTORE: restore(m, operand); break;
    default: run_extended(m, op, b); break;
    }
}

/* Ends at the first instruction for a later address. */
static void run_until(struct machine *m, struct ml_cfi_bytes program, uintptr_t address)
{
    while (program.at < program.end && !m->failed && m->location <= address) {
        run_instruction(m, &program);
        m->failed |= program.failed;
    }
}

/* ---- The row ---------------------------------------------------------------------- */

static bool fits(int64_t offset)
{
    return offset >= -ML_ROW_OFFSET_MAX && offset <= ML_ROW_OFFSET_MAX;
}

static enum ml_cfa_rule cfa_rule(const struct state *s)
{
    if (s->cfa == CFA_STORED)
        return ML_CFA_STORED_BY_FP;
    if (s->cfa != CFA_OF_REGISTER)
        return ML_CFA_COMPLEX;
    switch (s->cfa_register) {
    case ML_REGISTER_SP: return ML_CFA_FROM_SP;
    case ML_REGISTER_FP: return ML_CFA_FROM_FP;
    default: return ML_CFA_COMPLEX;
    }
}

/* A lost frame pointer is of no use to the caller, so that it does not matter what it is. */
static bool fp_rule(const struct state *s, enum ml_fp_rule *ret)
{
    switch (s->fp.kind) {
    case KEPT:
    case UNDEFINED: *ret = ML_FP_KEPT; return true;
    case AT_CFA: *ret = ML_FP_AT_CFA; return true;
    case AT_FP: *ret = ML_FP_AT_FP; return true;
    default: return false;
    }
}

static struct ml_unwind_row row_of(const struct state *s)
{
    struct ml_unwind_row row = {.cfa = ML_CFA_COMPLEX};
    enum ml_fp_rule fp;

    if (s->ra.kind == UNDEFINED)
        return (struct ml_unwind_row){.cfa = ML_CFA_OUTERMOST};
    if (s->ra.kind != AT_CFA || s->ra.offset != ML_RETURN_OFFSET || s->sp.kind != KEPT ||
        !fp_rule(s, &fp) || !fits(s->cfa_offset) || !fits(s->fp.offset))
        return row;
    row.cfa = cfa_rule(s);
    row.cfa_offset = s->cfa_offset;
    row.fp = fp;
    row.fp_offset = s->fp.offset;
    return row;
}

struct ml_unwind_row ml_cfi_run(const struct ml_cfi_entry *entry, uintptr_t address)
{
    struct machine m = {.entry = entry, .location = entry->begin};

    m.state.cfa = CFA_OTHERWISE;
    if (entry->return_register != ML_REGISTER_RA)
        return (struct ml_unwind_row){.cfa = ML_CFA_COMPLEX};
    run_until(&m, entry->start_program, address);
    m.at_start = m.state;
    run_until(&m, entry->function_program, address);
    return m.failed ? (struct ml_unwind_row){.cfa = ML_CFA_COMPLEX} : row_of(&m.state);
}
