/* site_frames.c: see site_frames.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "site_frames.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "stack_report.h"

int ml_site_frames_init(struct ml_site_frames *frames, const struct ml_trace *trace)
{
    *frames = (struct ml_site_frames){.trace = trace};
    return ml_intern_put(&frames->texts, "", 0, NULL) < 0 ? -ENOMEM : 0;
}

void ml_site_frames_release(struct ml_site_frames *frames)
{
    ml_intern_release(&frames->texts);
    ml_intern_release(&frames->keys);
    ml_vec_release(&frames->list);
    ml_vec_release(&frames->path);
    ml_stack_view_release(&frames->view);
    ml_buf_release(&frames->scratch);
}

static int64_t put_frame(struct ml_site_frames *frames, const char *name, size_t len,
                         const char *file, uint32_t line)
{
    int64_t text = ml_intern_put(&frames->texts, name, len, NULL);
    int64_t place = ml_intern_put(&frames->texts, file, strlen(file), NULL), number;
    struct ml_site_frame frame = {(uint32_t)text, (uint32_t)place, line};
    bool is_new = false;

    if (text < 0 || place < 0)
        return -ENOMEM;
    number = ml_intern_put(&frames->keys, &frame, sizeof(frame), &is_new);
    if (number >= 0 && is_new && ml_vec_push(&frames->list, frame) < 0)
        return -ENOMEM;
    return number;
}

int64_t ml_site_frame(struct ml_site_frames *frames, const char *name)
{
    return put_frame(frames, name, strlen(name), "", 0);
}

static int add(struct ml_site_frames *frames, int64_t frame)
{
    return frame < 0 ? (int)frame : ml_vec_push(&frames->path, (uint32_t)frame);
}

/* ---- Stacks ------------------------------------------------------------- */

static int name_native(const struct ml_frame_view *frame, struct ml_buf *out)
{
    const char *slash = frame->library ? strrchr(frame->library, '/') : NULL;

    if (frame->function)
        return ml_demangle(frame->function, out);
    return ml_buf_printf(out, "%s+0x%" PRIx64,
                         slash            ? slash + 1
                         : frame->library ? frame->library
                                          : "?",
                         frame->offset);
}

static int64_t put_view(struct ml_site_frames *frames, const struct ml_frame_view *frame)
{
    const char *file = frame->file ? frame->file : frame->library ? frame->library : "";
    int r;

    ml_buf_clear(&frames->scratch);
    r = frame->has_offset ? name_native(frame, &frames->scratch)
                          : ml_buf_puts(&frames->scratch, frame->function ? frame->function : "?");
    if (r < 0)
        return r;
    return put_frame(frames, (const char *)frames->scratch.data, frames->scratch.len, file,
                     frame->line);
}

int ml_site_stack(struct ml_site_frames *frames, uint32_t stack)
{
    int r = ml_stack_view(frames->trace, stack, &frames->view);

    ml_vec_clear(&frames->path);
    for (size_t i = 0; r == 0 && i < frames->view.frames.len; i++)
        r = add(frames, put_view(frames, &frames->view.frames.items[i]));
    return r;
}

/* ---- Modules ------------------------------------------------------------ */

/* "encoder.layers.3 (Linear)": the full path, so that modules with the same name stay
 * distinct. */
static int64_t put_module(struct ml_site_frames *frames, const struct ml_module *module)
{
    const char *class_name = ml_trace_string(frames->trace, module->class_name, NULL);
    int r;

    ml_buf_clear(&frames->scratch);
    r = ml_buf_append(&frames->scratch, module->path, module->path_len);
    if (r == 0 && module->class_name && strcmp(class_name, module->path) != 0)
        r = ml_buf_printf(&frames->scratch, " (%s)", class_name);
    if (r < 0)
        return r;
    return put_frame(frames, (const char *)frames->scratch.data, frames->scratch.len, "", 0);
}

int ml_site_module(struct ml_site_frames *frames, const struct ml_modules *modules, uint32_t module)
{
    int r = 0;

    ml_vec_clear(&frames->path);
    if (module == ML_NO_MODULE)
        return add(frames, ml_site_frame(frames, ML_NO_MODULE_FRAME));
    for (; r == 0 && module != ML_NO_MODULE; module = modules->list.items[module].parent)
        r = add(frames, put_module(frames, &modules->list.items[module]));
    return r;
}
