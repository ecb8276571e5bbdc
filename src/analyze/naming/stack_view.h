/* stack_view.h: a stack frame by frame, with its numbers turned into names.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_STACK_VIEW_H
#define ML_ANALYZE_STACK_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "trace.h"
#include "vec.h"

/* Strings belong to the trace. */
struct ml_frame_view {
    const char *function; /* as the file spells it; NULL: unknown */
    const char *library;  /* path; NULL: unknown, or a Python frame */
    const char *file;     /* of the source; NULL: unknown */
    uint32_t line;        /* 0: unknown */
    bool has_offset;      /* it is native, else Python's */
    uint64_t offset;      /* in the library, else in the process */
};

struct ml_stack_view {
    uint32_t stack;                      /* what it shows, 0: nothing */
    ML_VEC(struct ml_frame_view) frames; /* innermost first */
    size_t asker;                        /* the frame that asked, 0 where that is not known */
    const char *owner;                   /* see stack_owner.h */
    char owner_text[256];
};

/* Fills the view in, which starts zeroed; cheap if it shows this stack already.
 * @return 0 or -ENOMEM */
int ml_stack_view(const struct ml_trace *trace, uint32_t stack, struct ml_stack_view *view);
void ml_stack_view_release(struct ml_stack_view *view);

#endif
