/* digest_workers.h: digests of many traces at once, each in its own process: a damaged or a huge
 * trace ends its process and no other.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CLI_DIGEST_WORKERS_H
#define ML_CLI_DIGEST_WORKERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ml_digest_work {
    const char *trace, *digest; /* written beside the trace */
    bool done;                  /* set by ml_digest_workers */
};

/* Makes all digests, as many at a time as there are processors, with progress on a terminal.
 * A process that fails has said why.
 * @max_memory_bytes  of each; 0: by the size of the trace */
void ml_digest_workers(struct ml_digest_work *work, size_t count, bool salvage,
                       uint64_t max_memory_bytes);

#endif
