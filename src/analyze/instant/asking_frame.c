/* asking_frame.c: see asking_frame.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "asking_frame.h"

#include "block.h"
#include "stack_owner.h"
#include "text.h"
#include "vec.h"

/* Added to the number of the library's path, and to that of a frame. */
#define UNKNOWN_IN 0x80000000u
#define AT_FRAME 0x40000000u
_Static_assert(ML_ID_MAX <= AT_FRAME, "numbers of definitions leave room for both");

uint32_t ml_asking_stack(const struct ml_trace *trace, uint32_t stack)
{
    uint32_t asker = ml_stack_asker(trace, stack);

    return asker ? asker : stack;
}

static const struct ml_frame *asking_frame(const struct ml_trace *trace, uint32_t stack)
{
    return ml_trace_frame(trace, ml_trace_stack(trace, ml_asking_stack(trace, stack))->frame);
}

static uint32_t library_path(const struct ml_trace *trace, const struct ml_frame *frame)
{
    return frame->library < 0 ? 0 : ml_trace_library(trace, (uint32_t)frame->library)->path;
}

uint32_t ml_frame_function(const struct ml_trace *trace, const struct ml_frame *frame)
{
    return frame->function ? frame->function : UNKNOWN_IN | library_path(trace, frame);
}

bool ml_frame_awaits_name(const struct ml_trace *trace, const struct ml_frame *frame)
{
    return !frame->function && frame->library >= 0 && ml_trace_info(trace)->being_written;
}

int64_t ml_asking_function(const struct ml_trace *trace, uint32_t stack)
{
    const struct ml_frame *frame;

    if (stack == 0)
        return 0;
    frame = asking_frame(trace, stack);
    return ml_frame_awaits_name(trace, frame)
               ? AT_FRAME | ml_trace_stack(trace, ml_asking_stack(trace, stack))->frame
               : ml_frame_function(trace, frame);
}

int64_t ml_asking_file(const struct ml_trace *trace, uint32_t stack)
{
    return stack == 0 ? 0 : asking_frame(trace, stack)->file;
}

int64_t ml_asking_library(const struct ml_trace *trace, uint32_t stack)
{
    return stack == 0 ? 0 : library_path(trace, asking_frame(trace, stack));
}

static int put_address(const struct ml_trace *trace, const struct ml_frame *frame,
                       struct ml_buf *out)
{
    const char *path = ml_trace_string(trace, library_path(trace, frame), NULL);

    return ml_buf_printf(out, "%s+0x%llx", *path ? ml_base_name(path) : "?",
                         (unsigned long long)frame->address);
}

const char *ml_function_text(const struct ml_trace *trace, uint32_t number, struct ml_arena *arena)
{
    const char *text = ml_trace_string(trace, number & ~UNKNOWN_IN, NULL), *copy;
    struct ml_buf words = {0};
    int r;

    if (number == 0)
        return "";
    if (number & AT_FRAME)
        r = put_address(trace, ml_trace_frame(trace, number & ~AT_FRAME), &words);
    else if (number & UNKNOWN_IN)
        r = ml_buf_printf(&words, "(unknown in %s)", *text ? ml_base_name(text) : "?");
    else
        r = ml_buf_puts(&words, text);
    copy = r < 0 ? NULL : ml_arena_dup(arena, words.data, words.len);
    ml_buf_release(&words);
    return copy;
}
