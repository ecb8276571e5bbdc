/* read_texts.c: the texts for numbers in a table.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler.h"
#include "event_names.h"
#include "memledger/memledger.h"
#include "read_table.h"
#include "scope_path.h"

#define FORWARD "forward"

static int put_string(const struct ml_trace *trace, uint32_t string, struct ml_buf *out)
{
    uint32_t len;
    const char *text = ml_trace_string(trace, string, &len);

    return ml_buf_append(out, text, len);
}

int ml_text_string(const struct ml_trace *trace, uint64_t number, struct ml_buf *out)
{
    return number == 0 || number > UINT32_MAX ? 1 : put_string(trace, (uint32_t)number, out);
}

int ml_text_kind(const struct ml_trace *trace, uint64_t number, struct ml_buf *out)
{
    (void)trace;
    return ml_buf_puts(out, ml_kind_name((uint32_t)number));
}

int ml_text_category(const struct ml_trace *trace, uint64_t number, struct ml_buf *out)
{
    (void)trace;
    return ml_buf_puts(out, ml_category_name(number));
}

int ml_text_scope(const struct ml_trace *trace, uint64_t number, struct ml_buf *out)
{
    return ml_scope_path(trace, (uint32_t)number, out);
}

int ml_text_scope_kind(const struct ml_trace *trace, uint64_t number, struct ml_buf *out)
{
    static const char *const names[] = {
        [MEMLEDGER_SCOPE_USER] = "user",         [MEMLEDGER_SCOPE_MODULE] = "module",
        [MEMLEDGER_SCOPE_OPERATOR] = "operator", [MEMLEDGER_SCOPE_PHASE] = "phase",
        [MEMLEDGER_SCOPE_NVTX] = "nvtx",
    };

    (void)trace;
    return ml_buf_puts(out, number < ML_ARRAY_SIZE(names) ? names[number] : "unknown");
}

/* The scope itself or its nearest parent of this kind; 0: none. */
static uint32_t nearest(const struct ml_trace *trace, uint32_t scope, uint32_t kind)
{
    while (scope != 0 && ml_trace_scope(trace, scope)->kind != kind)
        scope = ml_trace_scope(trace, scope)->parent;
    return scope;
}

/* The outermost parent of a module, or the module itself. */
static uint32_t root_of(const struct ml_trace *trace, uint32_t module)
{
    uint32_t root = module, outer = module;

    while ((outer = nearest(trace, ml_trace_scope(trace, outer)->parent, MEMLEDGER_SCOPE_MODULE)))
        root = outer;
    return root;
}

/* The same text as ml_module_title. */
int ml_text_module(const struct ml_trace *trace, uint64_t number, struct ml_buf *out)
{
    uint32_t module = nearest(trace, (uint32_t)number, MEMLEDGER_SCOPE_MODULE);
    uint32_t name = ml_trace_scope(trace, module)->name;
    uint32_t root = ml_trace_scope(trace, root_of(trace, module))->name;
    int r = 0;

    if (!module)
        return 1;
    if (root != name) {
        r = put_string(trace, root, out);
        if (r == 0)
            r = ml_buf_puts(out, " > ");
    }
    return r < 0 ? r : put_string(trace, name, out);
}

int ml_text_class(const struct ml_trace *trace, uint64_t number, struct ml_buf *out)
{
    uint32_t module = nearest(trace, (uint32_t)number, MEMLEDGER_SCOPE_MODULE);
    uint32_t name = ml_trace_scope(trace, module)->class_name;

    return name ? put_string(trace, name, out) : 1;
}

int ml_text_phase(const struct ml_trace *trace, uint64_t number, struct ml_buf *out)
{
    uint32_t scope = (uint32_t)number;
    uint32_t phase = nearest(trace, scope, MEMLEDGER_SCOPE_PHASE);

    if (phase)
        return put_string(trace, ml_trace_scope(trace, phase)->name, out);
    if (nearest(trace, scope, MEMLEDGER_SCOPE_MODULE))
        return ml_buf_puts(out, FORWARD);
    return ml_text_string(trace, number >> 32, out);
}

static const struct ml_space *space_of(const struct ml_trace *trace, uint64_t number)
{
    return ml_trace_space(trace, (uint32_t)number);
}

int ml_text_space_device(const struct ml_trace *trace, uint64_t number, struct ml_buf *out)
{
    return put_string(trace, space_of(trace, number)->device, out);
}

int ml_text_space_level(const struct ml_trace *trace, uint64_t number, struct ml_buf *out)
{
    return ml_buf_puts(out, ml_level_name(space_of(trace, number)->level));
}

int ml_text_space_name(const struct ml_trace *trace, uint64_t number, struct ml_buf *out)
{
    return put_string(trace, space_of(trace, number)->name, out);
}
