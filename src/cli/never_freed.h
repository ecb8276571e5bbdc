/* never_freed.h: `memledger leaks --never-freed`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CLI_NEVER_FREED_H
#define ML_CLI_NEVER_FREED_H

#include "report_command.h"

struct ml_never_freed_opts {
    const struct ml_report_opts *report;
    const char *device;       /* NULL: all */
    const char *suppressions; /* file; NULL: none */
    size_t top;
    bool fail; /* for what is not suppressed */
};

/* Prints what was never freed, by stack. @return an exit code */
int ml_never_freed(const struct ml_trace *trace, const char *file,
                   const struct ml_never_freed_opts *opts);

#endif
