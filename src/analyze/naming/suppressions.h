/* suppressions.h: leaks that are known and accepted: patterns for the frames of their stacks, in
 * the format of LeakSanitizer's suppression files.
 *
 *     # comment
 *     leak:libfontconfig
 *     leak:^PyInit_*
 *
 * A pattern occurs anywhere in the name of a function, in the path of its source file or in that of
 * its library. '*' stands for any text, '^' at the start and '$' at the end tie it to the ends of
 * the name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_SUPPRESSIONS_H
#define ML_ANALYZE_SUPPRESSIONS_H

#include "arena.h"
#include "error.h"
#include "trace.h"
#include "vec.h"

/* All zero bytes: none. */
struct ml_suppressions {
    struct ml_arena arena;
    ML_VEC(const char *) patterns;
};

/* @name   of the file, for errors
 * @text   its contents, NUL-terminated
 * @return 0, or negative and `err` names the line; release it in both cases */
int ml_suppressions_parse(struct ml_suppressions *suppressions, const char *name, const char *text,
                          struct ml_error *err);
void ml_suppressions_release(struct ml_suppressions *suppressions);

/* Whether a pattern matches the text. */
bool ml_suppression_matches(const char *pattern, const char *text);

/* Whether a pattern matches a frame of the stack. */
bool ml_suppressions_match(const struct ml_suppressions *suppressions, const struct ml_trace *trace,
                           uint32_t stack);

#endif
