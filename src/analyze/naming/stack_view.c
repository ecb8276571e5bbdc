/* stack_view.c: see stack_view.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stack_view.h"

#include <string.h>

#include "defs.h"
#include "event.h"
#include "stack_owner.h"

static const char *text_or_null(const struct ml_trace *trace, uint32_t string)
{
    return string ? ml_trace_string(trace, string, NULL) : NULL;
}

static struct ml_frame_view view_frame(const struct ml_trace *trace, const struct ml_frame *frame)
{
    struct ml_frame_view view = {
        .function = text_or_null(trace, frame->function),
        .file = text_or_null(trace, frame->file),
        .line = frame->line,
        .has_offset = frame->kind == ML_FRAME_NATIVE,
        .offset = frame->address,
    };

    if (frame->library >= 0)
        view.library =
            ml_trace_string(trace, ml_trace_library(trace, (uint32_t)frame->library)->path, NULL);
    return view;
}

int ml_stack_view(const struct ml_trace *trace, uint32_t stack, struct ml_stack_view *view)
{
    uint32_t asker;

    if (view->stack == stack)
        return 0;
    asker = ml_stack_asker(trace, stack);
    view->stack = 0;
    view->asker = 0;
    ml_vec_clear(&view->frames);
    for (uint32_t s = stack; s; s = ml_trace_stack(trace, s)->caller) {
        const struct ml_frame *frame = ml_trace_frame(trace, ml_trace_stack(trace, s)->frame);

        if (s == asker)
            view->asker = view->frames.len;
        if (ml_vec_push(&view->frames, view_frame(trace, frame)))
            return -ENOMEM;
    }
    view->owner = ml_stack_owner(trace, stack, view->owner_text, sizeof(view->owner_text));
    view->stack = stack;
    return 0;
}

void ml_stack_view_release(struct ml_stack_view *view)
{
    ml_vec_release(&view->frames);
    view->stack = 0;
}

enum ml_stackless ml_stackless_why(const struct ml_trace *trace, bool from_libc)
{
    const char *asked = ml_trace_setting(trace, "stacks");
    const char *cuda = ml_trace_setting(trace, ML_SETTING_CUDA);

    if (cuda && !strcmp(cuda, ML_CUDA_ATTACHED))
        return ML_STACKLESS_ATTACHED;
    if (from_libc)
        return asked && (!strcmp(asked, "native") || !strcmp(asked, "all")) ? ML_STACKLESS_NO_DEBUG
                                                                            : ML_STACKLESS_LIBC;
    return asked && (!strcmp(asked, "python") || !strcmp(asked, "all")) ? ML_STACKLESS_OTHER
                                                                        : ML_STACKLESS_NOT_ASKED;
}
