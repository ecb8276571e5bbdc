/* report_lines.h: the command lines that report on a trace, and which of them run on an input.
 *
 * In a line, @ is the trace, @other another trace, @at an instant, @by a key, @table a table,
 * @question a question in SQL, and @svg and @sqlite are where a picture and a database go.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_FUZZ_REPORT_LINES_H
#define ML_FUZZ_REPORT_LINES_H

#include <stddef.h>
#include <stdint.h>

/* Runs a line on the input. @choice selects the values of its placeholders */
typedef void report_line_fn(const char *line, uint64_t choice);

/* From now on each input goes through `count` lines, chosen so that all lines get the same
 * share, those that build a database a sixteenth of it; 0: through every line. */
void report_lines_rotate(size_t count);

/* Run lines on one input. @choice is a hash of it */
void report_lines_run(report_line_fn *run, uint64_t choice);

/* Print how many inputs and lines were run; and how often each line was. */
void report_lines_tell(void);
void report_lines_tell_each(void);

#endif
