/* phase_marks.c: see phase_marks.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "phase_marks.h"

#include <stdatomic.h>

#include "memledger/memledger.h"
#include "names.h"
#include "record.h"
#include "recorder.h"

/* As marked last: a name, and in its high half the recording that was told. */
static _Atomic uint64_t marked;

void ml_mark_phase(const char *name)
{
    uint32_t number = ml_name(name);
    uint64_t words[] = {ml_record_word(ML_MARK, 0, ml_now()), MEMLEDGER_MARK_PHASE, 0, number};
    uint64_t mark = ml_pair(ml_recorder_recording(), number);

    if (atomic_exchange_explicit(&marked, mark, memory_order_relaxed) != mark)
        ml_record(words, 4);
}

void ml_push_phase(const char *name)
{
    ml_record_push(MEMLEDGER_SCOPE_PHASE, ml_name(name));
}
