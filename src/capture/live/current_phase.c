/* current_phase.c: see current_phase.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "current_phase.h"

#include "memledger/memledger.h"
#include "names.h"
#include "record.h"
#include "recorder.h"

__thread uint8_t ml_thread_phase;
_Atomic uint8_t ml_process_phase;

/* The last phase that was marked: a name, and in the high half the recording that has the mark. */
static _Atomic uint64_t marked;

void ml_mark_phase(enum ml_phase phase)
{
    uint32_t number = ml_name(ml_phase_name(phase));
    uint64_t words[] = {ml_record_word(ML_MARK, 0, ml_now()), MEMLEDGER_MARK_PHASE, 0, number};
    uint64_t mark = ml_pair(ml_recorder_recording(), number);

    if (atomic_exchange_explicit(&marked, mark, memory_order_relaxed) != mark)
        ml_record(words, 4);
}

void ml_push_phase(enum ml_phase phase)
{
    ml_record_push(MEMLEDGER_SCOPE_PHASE, ml_name(ml_phase_name(phase)));
}
