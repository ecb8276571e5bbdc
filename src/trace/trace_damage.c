/* trace_damage.c: messages about blocks that cannot be read, and their count.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "trace_impl.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

bool ml_trace_may_pass(const struct ml_trace *t, int code)
{
    return t->salvage && (code == -EBADMSG || code == -EIO);
}

void ml_trace_count_damage(struct ml_trace *t, uint8_t type, uint32_t events)
{
    t->info.damaged_blocks++;
    if (type == ML_BLOCK_EVENTS)
        t->info.damaged_events += events;
}

int ml_trace_block_error(const struct ml_trace *t, uint64_t offset, int code, const char *reason,
                         struct ml_error *err)
{
    if (code == -ENOMEM)
        return ml_error_set(err, code, "%s: not enough memory to read the block at byte %" PRIu64,
                            t->path, offset);
    if (code != -EBADMSG)
        return ml_error_set(err, code, "%s: cannot read the block at byte %" PRIu64 ": %s%s%s%s",
                            t->path, offset, strerror(-code), t->salvage ? "" : "; ",
                            t->salvage ? "" : t->salvage_by, t->salvage ? "" : " reads the rest");
    if (t->opened && t->salvage)
        return ml_error_set(err, code,
                            "%s: the block at byte %" PRIu64
                            " changed since the file was opened (%s); open it again",
                            t->path, offset, reason);
    return ml_error_set(err, code,
                        "%s: the block at byte %" PRIu64 " is damaged (%s); %s reads the rest",
                        t->path, offset, reason, t->salvage_by);
}
