/* trace_symbols.c: the symbols section: source lines of native frames, and the functions that
 * the compiler inlined into them.
 *
 * A stack of the file has one frame for each call. Where the call is in inlined functions, the
 * stack gets a node for each of them, so that readers find every function by following callers.
 * The number of a stack stays that of its innermost function.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdlib.h>

#include "block.h"
#include "intern.h"
#include "trace_impl.h"

#define FUNCTIONS_MAX 64u /* of one frame */

/* The functions of a frame that inline another: frames of their own, innermost first. */
struct inlined {
    uint32_t first, count;
};

struct symbols {
    struct ml_trace_defs *defs;
    struct ml_intern known;         /* names of functions in the definitions */
    ML_VEC(uint32_t) known_strings; /* their numbers */
    ML_VEC(uint32_t) strings;       /* of the section -> of the trace; 0: "" */
    int64_t last;                   /* frame that was named; -1: none */
    struct inlined *inlined;        /* by frame */
    uint32_t frames;                /* of the file */
};

/* ---- Reading ---------------------------------------------------------------- */

static int append_block(struct ml_trace *t, struct ml_block_reader *r,
                        const struct ml_index_entry *e, struct ml_buf *ret)
{
    const uint8_t *raw;
    int code = ml_block_load_entry(r, e);

    if (code)
        return code;
    if (!ml_trace_defs_admit(&t->defs, r->header.raw_bytes)) {
        r->reason = "it unpacks to more symbols than such a file can need";
        return -EBADMSG;
    }
    code = ml_block_unpack(r, &raw);
    return code ? code : ml_buf_append(ret, raw, r->header.raw_bytes);
}

static int read_section(struct ml_trace *t, struct ml_block_reader *r, struct ml_buf *ret,
                        uint64_t *ret_offset)
{
    for (size_t i = 0; i < t->blocks.len; i++) {
        const struct ml_index_entry *e = &t->blocks.items[i];
        int code = e->type == ML_BLOCK_SYMBOLS ? append_block(t, r, e, ret) : 0;

        *ret_offset = e->offset;
        if (code)
            return code;
    }
    return 0;
}

/* ---- Records ---------------------------------------------------------------- */

static uint32_t string_of(const struct symbols *s, uint64_t number)
{
    return number < s->strings.len ? s->strings.items[number] : 0;
}

/* A function has one string, so that its number identifies it. */
static int know_function(struct symbols *s, uint32_t string)
{
    const struct ml_trace_text *text = ml_id_table_get(&s->defs->tables[ML_DEF_STRING], string);
    bool is_new = false;

    if (ml_intern_put(&s->known, text->bytes, text->len, &is_new) < 0)
        return -ENOMEM;
    return is_new ? ml_vec_push(&s->known_strings, string) : 0;
}

static int know_functions(struct symbols *s)
{
    int code = ml_vec_push(&s->strings, 0);

    for (uint32_t i = 0; code == 0 && i < s->frames; i++) {
        const struct ml_frame *frame = ml_id_table_get(&s->defs->tables[ML_DEF_FRAME], i);

        if (frame->function)
            code = know_function(s, frame->function);
    }
    return code;
}

static int add_string(struct symbols *s, const struct ml_def *def)
{
    struct ml_id_table *table = &s->defs->tables[ML_DEF_STRING];
    int64_t known = ml_intern_find(&s->known, def->bytes, def->len);
    struct ml_trace_text text = {.len = def->len};

    if (def->id != s->strings.len || table->len >= ML_ID_MAX)
        return -EBADMSG;
    if (known >= 0)
        return ml_vec_push(&s->strings, s->known_strings.items[known]);
    text.bytes = ml_arena_dup(&s->defs->arena, def->bytes, def->len);
    if (!text.bytes || ml_vec_push(&s->strings, (uint32_t)table->len))
        return -ENOMEM;
    return ml_id_table_put(table, (uint32_t)table->len, &text);
}

static int add_setting(struct symbols *s, const struct ml_def *def)
{
    struct ml_id_table *table = &s->defs->tables[ML_DEF_CONFIG];
    struct ml_config config = {.key = string_of(s, def->id),
                               .value = string_of(s, def->fields[ML_CONFIG_VALUE])};

    if (table->len >= ML_TRACE_CONFIGS_MAX)
        return -EBADMSG;
    return ml_id_table_put(table, (uint32_t)table->len, &config);
}

static void name_frame(const struct symbols *s, struct ml_frame *frame, const struct ml_def *def)
{
    if (def->fields[ML_SYMBOL_FUNCTION])
        frame->function = string_of(s, def->fields[ML_SYMBOL_FUNCTION]);
    if (def->fields[ML_SYMBOL_FILE]) {
        frame->file = string_of(s, def->fields[ML_SYMBOL_FILE]);
        frame->line = (uint32_t)def->fields[ML_SYMBOL_LINE];
    }
}

/* A further function of the frame named last, which contains the one before. */
static int add_caller(struct symbols *s, const struct ml_def *def)
{
    struct ml_id_table *table = &s->defs->tables[ML_DEF_FRAME];
    struct inlined *inlined = &s->inlined[def->id];
    struct ml_frame frame = *(const struct ml_frame *)ml_id_table_get(table, def->id);

    if (inlined->count + 1 >= FUNCTIONS_MAX || table->len >= ML_ID_MAX)
        return -EBADMSG;
    frame.function = frame.file = frame.line = 0;
    name_frame(s, &frame, def);
    if (inlined->count++ == 0)
        inlined->first = (uint32_t)table->len;
    return ml_id_table_put(table, (uint32_t)table->len, &frame);
}

/* Frames rise; the symbols of one are innermost first. */
static int add_symbol(struct symbols *s, const struct ml_def *def)
{
    struct ml_frame *frame;

    if (def->id >= s->frames)
        return s->defs->salvage ? 0 : -EBADMSG;
    if (def->id < s->last || def->fields[ML_SYMBOL_LINE] > UINT32_MAX)
        return -EBADMSG;
    frame = ml_id_table_at(&s->defs->tables[ML_DEF_FRAME], def->id);
    if (frame->kind != ML_FRAME_NATIVE)
        return -EBADMSG;
    if (def->id == s->last)
        return add_caller(s, def);
    s->last = def->id;
    name_frame(s, frame, def);
    return 0;
}

static int add_record(struct symbols *s, const struct ml_def *def)
{
    switch (def->tag) {
    case ML_DEF_STRING: return add_string(s, def);
    case ML_DEF_CONFIG: return add_setting(s, def);
    case ML_DEF_SYMBOL: return add_symbol(s, def);
    default: return 0;
    }
}

static int add_records(struct symbols *s, const struct ml_buf *bytes)
{
    const uint8_t *in = bytes->data, *end = in + bytes->len;
    struct ml_def def;
    int code = 0;

    while (code == 0 && in < end) {
        in = ml_def_get(in, end, &def);
        code = in ? add_record(s, &def) : -EBADMSG;
    }
    return code;
}

/* ---- Stacks ----------------------------------------------------------------- */

static uint32_t depth_of(const struct ml_id_table *stacks, uint32_t stack)
{
    return ((const struct ml_stack *)ml_id_table_get(stacks, stack))->depth;
}

/* Puts a node for each function that the stack's frame is inlined in between it and its caller.
 * A stack that would get too deep keeps its innermost function only. */
static int insert_callers(struct symbols *s, uint32_t number)
{
    struct ml_id_table *stacks = &s->defs->tables[ML_DEF_STACK];
    struct ml_stack stack = *(const struct ml_stack *)ml_id_table_get(stacks, number);
    struct inlined inlined =
        stack.frame < s->frames ? s->inlined[stack.frame] : (struct inlined){0};

    if (stack.depth == 0)
        return 0;
    if (depth_of(stacks, stack.caller) + 1 + inlined.count > ML_STACK_MAX_DEPTH ||
        stacks->len + inlined.count > ML_ID_MAX)
        inlined.count = 0;
    for (uint32_t i = inlined.count; i-- > 0;) {
        struct ml_stack node = {stack.caller, inlined.first + i,
                                depth_of(stacks, stack.caller) + 1};

        stack.caller = (uint32_t)stacks->len;
        if (ml_id_table_put(stacks, stack.caller, &node))
            return -ENOMEM;
        s->defs->inlined_stacks++;
    }
    stack.depth = depth_of(stacks, stack.caller) + 1;
    *(struct ml_stack *)ml_id_table_at(stacks, number) = stack;
    return 0;
}

static int insert_all(struct symbols *s)
{
    uint32_t count = (uint32_t)s->defs->tables[ML_DEF_STACK].len;
    int code = 0;

    for (uint32_t i = 1; code == 0 && i < count; i++)
        code = insert_callers(s, i);
    return code;
}

static int apply(struct ml_trace *t, const struct ml_buf *bytes)
{
    struct symbols s = {
        .defs = &t->defs,
        .last = -1,
        .frames = ml_trace_frames(t),
    };
    int code;

    s.inlined = calloc((size_t)s.frames + 1, sizeof(*s.inlined));
    code = s.inlined ? know_functions(&s) : -ENOMEM;
    if (code == 0)
        code = add_records(&s, bytes);
    if (code == 0)
        code = insert_all(&s);
    free(s.inlined);
    ml_intern_release(&s.known);
    ml_vec_release(&s.known_strings);
    ml_vec_release(&s.strings);
    return code;
}

int ml_trace_load_symbols(struct ml_trace *t, struct ml_block_reader *r, struct ml_error *err)
{
    struct ml_buf bytes = {0};
    uint64_t offset = 0;
    int code = read_section(t, r, &bytes, &offset);

    if (code == 0 && bytes.len > 0) {
        code = apply(t, &bytes);
        r->reason = code == -EBADMSG ? "a symbol cannot be read" : NULL;
    }
    ml_buf_release(&bytes);
    if (code == 0)
        return 0;
    if (!ml_trace_may_pass(t, code))
        return ml_trace_block_error(t, offset, code, r->reason, err);
    ml_trace_count_damage(t, ML_BLOCK_SYMBOLS, 0);
    return 0;
}
