/* older_memory.c: see older_memory.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "older_memory.h"

#include "collector_impl.h"
#include "event.h"
#include "pauses.h"

void ml_collector_take_older(struct ml_collector *c)
{
    uint64_t ticks = atomic_load(&c->session->page->older_ticks);

    if (ML_LIKELY(ticks == c->older_ticks) || ticks > c->ticks.ticks)
        return;
    ml_collector_take_pauses(c, ticks);
    c->older_ticks = ticks;
    ml_collector_take_records(c, ticks);
    ml_collector_mark(c, ml_ticks_ns(&c->ticks, ticks), ML_MARK_OLDER, ++c->older_marks);
}
