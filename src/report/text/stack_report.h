/* stack_report.h: stacks in reports, frame by frame.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REPORT_STACK_REPORT_H
#define ML_REPORT_STACK_REPORT_H

#include "json.h"
#include "stack_view.h"
#include "style.h"
#include "vec.h"

/* Appends the symbol: demangled if this machine has a C++ library
 * for that, else as it is. Thread-safe.
 * @return 0 or -ENOMEM */
int ml_demangle(const char *symbol, struct ml_buf *out);

bool ml_frame_is_python(const struct ml_frame_view *frame);

/* Appends the function's name, "+0x1234" if unknown; text of unknown origin.
 * @return 0 or -ENOMEM */
int ml_frame_name(const struct ml_frame_view *frame, struct ml_buf *out);

/* Appends one line for each frame, from the caller outwards, at most `frames`;
 * then the number of further ones. A line that is too wide loses arguments of C++ and folders.
 * @indent  before each
 * @return  0 or -ENOMEM */
int ml_stack_text(const struct ml_stack_view *stack, const char *indent, size_t frames,
                  const struct ml_style *style, struct ml_buf *out);

/* What to do about blocks without stacks, or why there is nothing to do; the end of a sentence. */
const char *ml_stackless_text(enum ml_stackless why);

/* The keys "owner" (of a native stack) and "stack" in an object that is open. */
void ml_stack_json(const struct ml_stack_view *stack, struct ml_json *json);

#endif
