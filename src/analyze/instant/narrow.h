/* narrow.h: restricts a report on a whole run to one device, one process, or both.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_NARROW_H
#define ML_ANALYZE_NARROW_H

#include "error.h"
#include "level_caps.h"
#include "trace.h"

/* Sets only_device and only_pid of `ret`, if the trace has them.
 * @device  "cuda:0", "0" for short, "cpu"; must outlive `ret`; NULL: all
 * @pid     0: all
 * @return 0; -ENODEV or -ENOENT without such a device or process; or -ENOMEM */
int ml_narrow(const struct ml_trace *trace, const char *device, uint32_t pid,
              struct ml_level_caps *ret, struct ml_error *err);

/* @return 0, or -ENOENT if the trace has no such process and pid is not 0 */
int ml_check_process(const struct ml_trace *trace, uint32_t pid, struct ml_error *err);

#endif
