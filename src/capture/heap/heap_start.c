/* heap_start.c: decides what the heap hooks record.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "heap_start.h"

#include <errno.h>
#include <unistd.h>

#include "call_stack.h"
#include "collector_watch.h"
#include "heap_part.h"
#include "loaded_symbols.h"
#include "memledger/memledger.h"
#include "names.h"
#include "recorder.h"
#include "sandbox_look.h"
#include "sys.h"

uint32_t ml_heap_space;
uint32_t ml_map_space;
bool ml_heap_stacks;

/* The collector makes no progress, but may recover. */
static bool undecided(void)
{
    return ml_session && !atomic_load_explicit(&ml_session->closed, memory_order_relaxed) &&
           ml_collector_stuck();
}

static void prepare_stacks(void)
{
    if (ml_stacks_mode != ML_STACKS_NONE)
        __atomic_store_n(&ml_heap_stacks, ml_call_stack_init(ml_stacks_mode), __ATOMIC_RELAXED);
}

static void open_spaces(void)
{
    uint32_t space;

    if (ml_session->heap == ML_HEAP_OFF)
        return;
    prepare_stacks();
    space = ml_space_number("cpu", MEMLEDGER_BLOCK, ML_HEAP_SPACE_NAME);
    if (ml_session->heap == ML_HEAP_SAMPLE)
        ml_part_start(space, ml_session->heap_bytes, 0, ml_session->heap_seed);
    else if (ml_session->heap == ML_HEAP_LARGE)
        ml_part_start(space, 0, ml_session->heap_bytes, 0);
    else
        __atomic_store_n(&ml_heap_space, space, __ATOMIC_RELAXED);
    if (ml_session->heap == ML_HEAP_ALL)
        __atomic_store_n(&ml_map_space, ml_space_number("cpu", MEMLEDGER_BLOCK, ML_MAP_SPACE_NAME),
                         __ATOMIC_RELAXED);
}

void ml_heap_begin_late(void)
{
    if (ml_recorder_start())
        open_spaces();
}

void ml_heap_end_late(void)
{
    __atomic_store_n(&ml_heap_space, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&ml_map_space, 0, __ATOMIC_RELAXED);
    ml_part_end();
}

/* Several threads may be here at once; they get the same numbers. */
bool ml_heap_start(void)
{
    static __thread bool inside;
    int saved_errno = errno;
    struct ml_quiet quiet;
    bool started;

    /* Before libc is initialised, the environment, which names the session, cannot be read. */
    if (inside || !environ || undecided())
        return false;
    ml_sandbox_look_first();
    ml_quiet_begin(&quiet);
    inside = true;
    started = ml_recorder_start();
    if (started)
        open_spaces();
    inside = false;
    ml_quiet_end(&quiet);
    errno = saved_errno;
    return started || !undecided();
}

/* A program that has malloc in its executable (linked statically with jemalloc, say) calls that
 * one, and so does every library. Only malloc is checked: a program that replaces one function
 * replaces all. An executable that only took the address of malloc does not define it, and calls
 * still come to us. */
void ml_heap_notice(void)
{
    const struct link_map *object = NULL;

    if (!ml_symbol_after(NULL, "malloc", &object) || object == ml_symbols_own_object())
        return;
    if (!ml_session || ml_session_tells(ml_session, ML_NOTICE_MALLOC))
        ml_sys_say("memledger: the program's own malloc, in ",
                   *object->l_name ? object->l_name : program_invocation_name,
                   ", hides the recorder's; the heap is not recorded\n");
}
