/* heap_start.c: decides what the heap hooks record.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "heap_start.h"

#include <unistd.h>

#include "heap_real.h"
#include "memledger/memledger.h"
#include "names.h"
#include "recorder.h"
#include "sys.h"

uint32_t ml_heap_space;
uint32_t ml_map_space;

static void open_spaces(void)
{
    if (!ml_recorder_start() || ml_session->heap == ML_HEAP_OFF)
        return;
    __atomic_store_n(&ml_heap_space, ml_space_number("cpu", MEMLEDGER_BLOCK, "malloc"),
                     __ATOMIC_RELAXED);
    if (ml_session->heap == ML_HEAP_ALL)
        __atomic_store_n(&ml_map_space, ml_space_number("cpu", MEMLEDGER_DRIVER, "mmap"),
                         __ATOMIC_RELAXED);
}

/* Several threads may be here at once; they get the same numbers. */
bool ml_heap_start(void)
{
    static __thread bool inside;
    struct ml_quiet quiet;

    /* Before libc is initialised the environment, which names the session,
     * cannot be read. */
    if (inside || !environ)
        return false;
    ml_quiet_begin(&quiet);
    inside = true;
    open_spaces();
    inside = false;
    ml_quiet_end(&quiet);
    return true;
}
