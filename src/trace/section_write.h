/* section_write.h: stores a section in a finished trace, at its end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TRACE_SECTION_WRITE_H
#define ML_TRACE_SECTION_WRITE_H

#include <stddef.h>
#include <stdint.h>

#include "trace.h"

/* Adds a section to a trace file. It replaces one of the same type that the file ends with. If that
 * fails, the file is as it was, unless the disk refuses this too.
 * @trace  the file, open; it does not see the new section
 * @bytes  records, see docs/trace-format.md
 * @return 0 or negative errno, and `err` names the reason */
int ml_trace_put_section(const struct ml_trace *trace, uint8_t type, const uint8_t *bytes,
                         size_t len, struct ml_error *err);

#endif
