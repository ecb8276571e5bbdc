/* look_at_output.h: output that no report may print, whatever the trace contains.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_FUZZ_LOOK_AT_OUTPUT_H
#define ML_FUZZ_LOOK_AT_OUTPUT_H

#include "vec.h"

/* Ends the program when the output of a report that succeeded is not as it should be: invalid
 * JSON, nan or inf, a count below 0.
 * @line  the report as typed */
void look_at_output(const char *line, const struct ml_buf *text);

#endif
