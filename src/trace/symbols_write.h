/* symbols_write.h: stores a symbols section in a finished trace, at its end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TRACE_SYMBOLS_WRITE_H
#define ML_TRACE_SYMBOLS_WRITE_H

#include <stddef.h>
#include <stdint.h>

#include "trace.h"

/* Replaces the symbols section of a trace file, or adds one. If that fails, the file is as it was,
 * unless the disk refuses this too.
 * @trace  the file, open; it does not see the new section
 * @bytes  records, see docs/trace-format.md
 * @return 0 or negative errno, and `err` names the reason */
int ml_trace_put_symbols(const struct ml_trace *trace, const uint8_t *bytes, size_t len,
                         struct ml_error *err);

#endif
