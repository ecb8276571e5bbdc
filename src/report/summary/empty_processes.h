/* empty_processes.h: processes without a single recorded allocation, such as the shells and
 * compilers that a build starts, in one line of a report.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REPORT_EMPTY_PROCESSES_H
#define ML_REPORT_EMPTY_PROCESSES_H

#include "style.h"
#include "summary.h"

/* Whether nothing was recorded of the process. One that a signal ended is still of
 * interest. */
bool ml_process_is_empty(const struct ml_summary_process *process);

/* How many of the list are empty. */
size_t ml_empty_processes(const struct ml_summary *summary);

/* "12 more processes recorded nothing: sh, gcc, cc1", as many names as fit; nothing if there
 * are no such processes. A process counts once, with the last program that it executed.
 * @return 0 or -ENOMEM */
int ml_empty_processes_text(const struct ml_summary *summary, const struct ml_style *style,
                            struct ml_buf *out);

#endif
