/* event.c: what each event kind carries, and the names of marks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "event.h"

#include "compiler.h"
#include "memledger/memledger.h"

const struct ml_shape ml_shapes[32] = {
    [ML_ALLOC] = {ML_HAS_ADDR | ML_HAS_SIZE | ML_HAS_STACK, 0, "alloc"},
    [ML_FREE] = {ML_HAS_ADDR, 0, "free"},
    [ML_FREE_RANGE] = {ML_HAS_ADDR | ML_HAS_SIZE, 0, "free_range"},
    [ML_ALLOC_EX] = {ML_HAS_ADDR | ML_HAS_SIZE | ML_HAS_STACK, 2, "alloc_ex"},
    [ML_MOVE] = {ML_HAS_ADDR, 0, "move"},
    [ML_MOVE_FAILED] = {ML_HAS_ADDR, 0, "move_failed"},
    [ML_LABEL] = {ML_HAS_ADDR, 2, "label"},
    [ML_PUSH] = {0, 0, "push"},
    [ML_POP] = {0, 0, "pop"},
    [ML_MARK] = {0, 3, "mark"},
    [ML_SAMPLE] = {0, 6, "sample"},
    [ML_COUNTER] = {0, 2, "counter"},
    [ML_START] = {0, 1, "start"},
    [ML_STOP] = {0, 1, "stop"},
    [ML_MARKER] = {0, 3, "marker"},
    [ML_LOST] = {0, 3, "lost"},
    [ML_PROCESS_END] = {0, 2, "process_end"},
    [ML_THREAD_END] = {0, 0, "thread_end"},
    [ML_OOM] = {ML_HAS_SIZE | ML_HAS_STACK, 0, "oom"},
};

const char *ml_mark_name(uint64_t kind)
{
    static const char *const names[] = {
        [MEMLEDGER_MARK_STEP] = "step",   [MEMLEDGER_MARK_EPOCH] = "epoch",
        [MEMLEDGER_MARK_PHASE] = "phase", [ML_MARK_NODE] = "node",
        [ML_MARK_TYPE] = "type",          [ML_MARK_PAUSE] = "pause",
        [ML_MARK_RESUME] = "resume",      [ML_MARK_OLDER] = "older",
    };

    return kind < ML_ARRAY_SIZE(names) ? names[kind] : "unknown";
}
