/* trace_stack_defs.c: libraries, frames, stacks, and the symbols that name
 * frames.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>

#include "block.h"
#include "trace.h"
#include "trace_defs.h"

static int put_library(struct ml_trace_defs *d, const struct ml_def *def)
{
    const uint64_t *f = def->fields;
    struct ml_library library = {
        .process = (uint32_t)f[ML_LIBRARY_PROCESS],
        .base = f[ML_LIBRARY_BASE],
        .end = f[ML_LIBRARY_END],
        .path = (uint32_t)f[ML_LIBRARY_PATH],
        .build_id = (uint32_t)f[ML_LIBRARY_BUILD_ID],
    };

    return ml_id_table_put(&d->tables[ML_DEF_LIBRARY], def->id, &library);
}

/* Keeps a frame of an unknown kind, without its contents. */
static int put_frame(struct ml_trace_defs *d, const struct ml_def *def)
{
    const uint64_t *f = def->fields;
    struct ml_frame frame = {.kind = (uint32_t)f[ML_FRAME_KIND], .library = -1};

    if (frame.kind == ML_FRAME_NATIVE) {
        frame.library = (int64_t)f[ML_FRAME_WHERE] - 1;
        frame.address = f[ML_FRAME_WHAT];
    } else if (f[ML_FRAME_WHAT] > UINT32_MAX) {
        return -EBADMSG;
    } else if (frame.kind == ML_FRAME_PYTHON) {
        frame.function = (uint32_t)f[ML_FRAME_WHERE];
        frame.file = (uint32_t)f[ML_FRAME_WHAT];
        frame.line = (uint32_t)f[ML_FRAME_LINE];
    }
    return ml_id_table_put(&d->tables[ML_DEF_FRAME], def->id, &frame);
}

static int put_stack(struct ml_trace_defs *d, const struct ml_def *def)
{
    const uint64_t *f = def->fields;
    struct ml_stack stack = {
        .caller = (uint32_t)f[ML_STACK_CALLER],
        .frame = (uint32_t)f[ML_STACK_FRAME],
    };
    const struct ml_stack *caller = ml_id_table_get(&d->tables[ML_DEF_STACK], stack.caller);

    stack.depth = caller->depth + 1;
    if (stack.caller >= def->id || stack.depth > ML_STACK_MAX_DEPTH)
        return -EBADMSG;
    return ml_id_table_put(&d->tables[ML_DEF_STACK], def->id, &stack);
}

/* If blocks were lost, its frame may be missing. */
static int put_symbol(struct ml_trace_defs *d, const struct ml_def *def)
{
    struct ml_frame *frame = ml_id_table_at(&d->tables[ML_DEF_FRAME], def->id);

    if (!frame)
        return d->salvage ? 0 : -EBADMSG;
    if (frame->kind != ML_FRAME_NATIVE)
        return 0;
    frame->function = (uint32_t)def->fields[ML_SYMBOL_FUNCTION];
    frame->file = (uint32_t)def->fields[ML_SYMBOL_FILE];
    frame->line = (uint32_t)def->fields[ML_SYMBOL_LINE];
    return 0;
}

int ml_trace_defs_add_stack_part(struct ml_trace_defs *d, const struct ml_def *def)
{
    switch (def->tag) {
    case ML_DEF_LIBRARY: return put_library(d, def);
    case ML_DEF_FRAME: return put_frame(d, def);
    case ML_DEF_STACK: return put_stack(d, def);
    case ML_DEF_SYMBOL: return put_symbol(d, def);
    default: return 0;
    }
}
