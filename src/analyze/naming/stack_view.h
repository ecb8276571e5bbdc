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
    const char *function; /* as spelled in the file; NULL: unknown */
    const char *library;  /* path; NULL: unknown, or a Python frame */
    const char *file;     /* of the source; NULL: unknown */
    uint32_t line;        /* 0: unknown */
    bool has_offset;      /* true for a native frame, false for Python */
    uint64_t offset;      /* in the library, else in the process */
};

struct ml_stack_view {
    uint32_t stack;                      /* the stack shown, 0: none */
    ML_VEC(struct ml_frame_view) frames; /* innermost first */
    size_t asker;                        /* the frame that made the request, 0 if unknown */
    const char *owner;                   /* see stack_owner.h */
    char owner_text[256];
};

/* Fills in the view, which starts zeroed; cheap if it already shows this stack.
 * @return 0 or -ENOMEM */
int ml_stack_view(const struct ml_trace *trace, uint32_t stack, struct ml_stack_view *view);
void ml_stack_view_release(struct ml_stack_view *view);

/* Why blocks have no stack. */
enum ml_stackless {
    ML_STACKLESS_NOT_ASKED, /* the recording was made without Python stacks */
    ML_STACKLESS_LIBC,      /* blocks of malloc and mmap were recorded without stacks */
    ML_STACKLESS_NO_DEBUG,  /* they have native stacks, but no frame has a line */
    ML_STACKLESS_ATTACHED,  /* the recording is one of `memledger attach`, which takes no stacks */
    ML_STACKLESS_OTHER,     /* they are not PyTorch's or MXNet's */
};

/* @from_libc  all of the blocks are of malloc or mmap */
enum ml_stackless ml_stackless_why(const struct ml_trace *trace, bool from_libc);

#endif
