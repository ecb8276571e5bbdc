/* stack_report.c: see stack_report.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stack_report.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "style.h"
#include "table_cell.h"
#include "utf8.h"

/* ---- Names of functions ------------------------------------------------- */

/* The C++ library is looked up at run time: a C program that shows a trace should not need one. */
typedef char *demangle_fn(const char *symbol, char *buf, size_t *bytes, int *status);

static pthread_once_t demangler_once = PTHREAD_ONCE_INIT;
static demangle_fn *cxa_demangle; /* NULL: there is none */

static void find_demangler(void)
{
    void *library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);

    if (library)
        *(void **)&cxa_demangle = dlsym(library, "__cxa_demangle");
}

int ml_demangle(const char *symbol, struct ml_buf *out)
{
    char *name = NULL;
    int status = -1;
    int r;

    if (!strncmp(symbol, "_Z", 2)) {
        pthread_once(&demangler_once, find_demangler);
        name = cxa_demangle ? cxa_demangle(symbol, NULL, NULL, &status) : NULL;
    }
    r = ml_buf_puts(out, name && status == 0 ? name : symbol);
    free(name);
    return r;
}

bool ml_frame_is_python(const struct ml_frame_view *frame)
{
    return frame->file && !frame->has_offset;
}

int ml_frame_name(const struct ml_frame_view *frame, struct ml_buf *out)
{
    if (frame->function)
        return ml_demangle(frame->function, out);
    return ml_buf_printf(out, "+0x%" PRIx64, frame->offset);
}

/* ---- Text -------------------------------------------------------------- */

/* " (train.py:12)", " (libc.so.6)", or nothing. */
static int put_place(const struct ml_frame_view *frame, struct ml_buf *out)
{
    const char *path = frame->file ? frame->file : frame->library;
    const char *name = path ? strrchr(path, '/') : NULL;
    int r = path ? ml_buf_puts(out, " (") : 0;

    if (r == 0 && path)
        r = ml_report_safe(out, name && !frame->file ? name + 1 : path);
    if (r == 0 && path && frame->file && frame->line)
        r = ml_buf_printf(out, ":%" PRIu32, frame->line);
    return r == 0 && path ? ml_buf_puts(out, ")") : r;
}

/* "forward (net.py:12)" */
static int put_line(const struct ml_frame_view *frame, struct ml_buf *out)
{
    struct ml_buf name;
    int r;

    ml_buf_init(&name);
    r = ml_frame_name(frame, &name);
    if (r == 0)
        r = ml_report_safe(out, (const char *)name.data);
    if (r == 0)
        r = put_place(frame, out);
    ml_buf_release(&name);
    return r;
}

static int put_frame(const struct ml_frame_view *frame, const char *indent,
                     const struct ml_style *style, struct ml_buf *out)
{
    struct ml_buf line;
    struct ml_table_text text;
    size_t room = style->width > strlen(indent) ? style->width - strlen(indent) : 0;
    int r;

    ml_buf_init(&line);
    r = put_line(frame, &line);
    if (r == 0)
        r = ml_buf_puts(out, indent);
    if (r == 0) {
        text = (struct ml_table_text){.bytes = (const char *)line.data,
                                      .len = line.len,
                                      .width = ml_utf8_width((const char *)line.data, line.len)};
        r = room == 0 || text.width <= room ? ml_buf_append(out, line.data, line.len)
                                            : ml_table_cell_put(&text, ML_PARTS, room, out);
    }
    while (r == 0 && out->len > 0 && out->data[out->len - 1] == ' ')
        out->len--; /* fills the column */
    ml_buf_release(&line);
    return r < 0 ? r : ml_buf_puts(out, "\n");
}

int ml_stack_text(const struct ml_stack_view *stack, const char *indent, size_t frames,
                  const struct ml_style *style, struct ml_buf *out)
{
    size_t end =
        stack->frames.len - stack->asker > frames ? stack->asker + frames : stack->frames.len;
    int r = 0;

    for (size_t i = stack->asker; r == 0 && i < end; i++)
        r = put_frame(&stack->frames.items[i], indent, style, out);
    if (r == 0 && end < stack->frames.len)
        r = ml_buf_printf(out, "%s(%zu more)\n", indent, stack->frames.len - end);
    return r;
}

/* ---- JSON -------------------------------------------------------------- */

static void frame_json(const struct ml_frame_view *frame, struct ml_json *json)
{
    struct ml_buf name;

    ml_buf_init(&name);
    ml_json_begin_object(json);
    if (frame->function && ml_demangle(frame->function, &name) == 0)
        ml_json_kv_string(json, "function", (const char *)name.data, name.len);
    else
        ml_json_kv_null(json, "function");
    if (frame->library)
        ml_json_kv_cstr(json, "library", frame->library);
    if (frame->file)
        ml_json_kv_cstr(json, "file", frame->file);
    if (frame->line)
        ml_json_kv_u64(json, "line", frame->line);
    if (frame->has_offset)
        ml_json_kv_u64(json, "offset", frame->offset);
    ml_json_end_object(json);
    ml_buf_release(&name);
}

void ml_stack_json(const struct ml_stack_view *stack, struct ml_json *json)
{
    if (!ml_frame_is_python(&stack->frames.items[stack->asker]))
        ml_json_kv_cstr(json, "owner", stack->owner);
    if (stack->asker > 0)
        ml_json_kv_u64(json, "asker", stack->asker);
    ml_json_key(json, "stack");
    ml_json_begin_array(json);
    for (size_t i = 0; i < stack->frames.len; i++)
        frame_json(&stack->frames.items[i], json);
    ml_json_end_array(json);
}

const char *ml_stackless_text(enum ml_stackless why)
{
    switch (why) {
    case ML_STACKLESS_LIBC:
        return "record malloc with --heap --stacks native, or --stacks python for Python lines";
    case ML_STACKLESS_NO_DEBUG:
        return "compile the program with -g, or install its debug symbols and run memledger "
               "symbolize";
    case ML_STACKLESS_ATTACHED:
        return "memledger attach records no stacks; memledger run --stacks does";
    case ML_STACKLESS_OTHER: return "--stacks records those of PyTorch and MXNet only";
    case ML_STACKLESS_NOT_ASKED: break;
    }
    return "record with --stacks python";
}
