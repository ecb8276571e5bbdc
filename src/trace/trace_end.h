/* trace_end.h: adds blocks to the end of a finished trace, before its index. Only trace/ includes
 * it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TRACE_END_H
#define ML_TRACE_END_H

#include "block_write.h"
#include "trace_impl.h"

/* Adds the new blocks. @return 0 or negative errno */
typedef int ml_trace_end_fn(struct ml_block_writer *writer, const void *ctx);

/* Replaces what follows the first `kept` blocks of the trace, which has an index, by the blocks
 * that `add` writes, and an index of all. If that fails, the file is as it was, unless the disk
 * refuses this too.
 * @fd     the file of the trace, for reading and writing
 * @return 0 or negative errno */
int ml_trace_replace_end(const struct ml_trace *t, int fd, size_t kept, ml_trace_end_fn *add,
                         const void *ctx);

#endif
