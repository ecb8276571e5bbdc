/* stack.c: see stack.h.
 *
 * The compiler's unwinder finds the frames. It is linked in, because the program may have none. One
 * lock covers everything and is also held while a thread forks: unwinder and loader have locks that
 * a child must not find taken by a thread that it does not have.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stack.h"

#include <errno.h>
#include <stdbool.h>
#include <stdatomic.h>
#include <unwind.h>

#include "libraries.h"
#include "python_stack.h"
#include "record.h"
#include "recorder.h"
#include "recorder_parts.h"
#include "stack_table.h"
#include "sys.h"
#include "table_lock.h"

/* The unwinder's result. */
struct walk {
    unsigned skip;                 /* frames still to leave out */
    struct ml_address_range until; /* it ends before the first frame in this range */
    unsigned n, max;
    uint64_t frames[ML_STACK_MAX_FRAMES];
};

/* ---- The lock ------------------------------------------------------------ */

/* Set while this thread is in the tables. */
static __thread bool inside;
static struct ml_table_lock stacks_lock = {.lock = ml_recorder_stacks_lock};

ML_TABLE_ACROSS_FORK(ml_stack_init, stacks_lock, inside)

/* ---- Frames --------------------------------------------------------------- */

/* The address range of the recorder. In a test it is linked into the program, and addresses cannot
 * tell the two apart: then the range is empty, and exactly ml_stack_here and its caller are left
 * out. */
static struct ml_address_range own;
static unsigned skip_always;

static void find_own(void)
{
    uint32_t number = own.end ? 0 : ml_libraries_at((uintptr_t)&ml_stack_here);

    if (own.end || skip_always || !number)
        return;
    if (number == ML_LIBRARY_PROGRAM)
        skip_always = 2;
    else
        own = ml_libraries_range(number);
}

static bool lies_in(uintptr_t address, const struct ml_address_range *range)
{
    return address >= range->begin && address < range->end;
}

static _Unwind_Reason_Code on_frame(struct _Unwind_Context *context, void *arg)
{
    struct walk *walk = arg;
    int before_instruction = 0;
    uintptr_t address = _Unwind_GetIPInfo(context, &before_instruction);

    if (!address)
        return _URC_END_OF_STACK;
    if (lies_in(address, &own))
        return _URC_NO_REASON;
    if (lies_in(address, &walk->until))
        return _URC_END_OF_STACK;
    if (walk->skip) {
        walk->skip--;
        return _URC_NO_REASON;
    }
    /* A signal came before this instruction: use the address that a call here would return to. */
    address += before_instruction ? 1 : 0;
    walk->frames[walk->n] = address;
    walk->n += 1;
    return walk->n < walk->max ? _URC_NO_REASON : _URC_END_OF_STACK;
}

/* Python's frames get up to half of the room. */
static void add_python(struct walk *walk, const struct ml_python_frames *python)
{
    for (unsigned i = 0; i < python->n && walk->n < ML_STACK_MAX_FRAMES; i++)
        walk->frames[walk->n++] = ML_STACK_PYTHON_FRAME | python->numbers[i];
}

/* Inlined into a function that counts as one frame: skip_always. */
static ML_ALWAYS_INLINE uint32_t stack_here(const struct ml_python_frames *python)
{
    int saved_errno = errno;
    struct walk walk;
    struct ml_quiet quiet;
    uint32_t look = 0, number = 0;

    /* Inside a record an announcement has to wait, but a use of the number would not. */
    if (inside || ml_writer->busy || !ml_recorder_in_session())
        return 0;
    if (ml_table_enter(&stacks_lock, &inside, &quiet)) {
        look = ml_libraries_look();
        find_own();
        walk.skip = skip_always;
        walk.n = 0;
        walk.until = look && python->n ? ml_libraries_range(ml_libraries_at(python->interpreter))
                                       : (struct ml_address_range){0};
        walk.max = ML_STACK_MAX_FRAMES - ml_min_u64(python->n, ML_STACK_MAX_FRAMES / 2);
        _Unwind_Backtrace(on_frame, &walk);
        add_python(&walk, python);
        number = ml_stack_table_number(walk.frames, walk.n, look);
        ml_table_leave(&stacks_lock, &inside, &quiet);
    }
    errno = saved_errno;
    return number;
}

ML_NOINLINE uint32_t ml_stack_here(void)
{
    return stack_here(&(struct ml_python_frames){.n = 0});
}

ML_NOINLINE uint32_t ml_stack_here_in_python(void)
{
    struct ml_python_frames python;

    ml_python_frames_here(&python);
    return stack_here(&python);
}

/* ---- Libraries of stacks that others walk ------------------------------------------- */

/* Pages of code whose library is known to be announced, and since how many unloads. */
#define KNOWN_PAGES 4096u
#define PAGE_SHIFT 12
#define PAGE_BITS 36 /* of an address */

static _Atomic uint64_t known_pages[KNOWN_PAGES];

static uint64_t page_key(uint64_t frame, uint32_t unloads)
{
    return (frame - 1) >> PAGE_SHIFT | ((uint64_t)unloads + 1) << PAGE_BITS;
}

static _Atomic uint64_t *page_place(uint64_t key)
{
    return &known_pages[key * UINT64_C(0x9e3779b97f4a7c15) >> 52];
}

static bool has_library(uint64_t frame)
{
    return !(frame >> ML_STACK_ADDRESS_BITS);
}

/* Pairs with the release store in remember_pages: the library was announced before. */
static bool are_announced(const uint64_t *frames, uint32_t n, uint32_t unloads)
{
    for (uint32_t i = 0; i < n; i++) {
        uint64_t key = page_key(frames[i], unloads);
        if (has_library(frames[i]) &&
            atomic_load_explicit(page_place(key), memory_order_acquire) != key)
            return false;
    }
    return true;
}

static void remember_pages(const uint64_t *frames, uint32_t n, uint32_t unloads)
{
    for (uint32_t i = 0; i < n; i++) {
        uint64_t key = page_key(frames[i], unloads);
        if (has_library(frames[i]) && ml_libraries_at(frames[i] - 1))
            atomic_store_explicit(page_place(key), key, memory_order_release);
    }
}

/* After a wait in vain no thread waits again until the lock has been free: a thread that forks may
 * hold it while it waits for this one. */
static ML_NOINLINE bool announce_libraries(const uint64_t *frames, uint32_t n, uint32_t unloads)
{
    static _Atomic bool in_vain;
    struct ml_quiet quiet;

    if (inside || (atomic_load_explicit(&in_vain, memory_order_relaxed) &&
                   ml_lock_is_taken(stacks_lock.lock())))
        return false;
    if (!ml_table_enter(&stacks_lock, &inside, &quiet)) {
        atomic_store_explicit(&in_vain, true, memory_order_relaxed);
        return false;
    }
    atomic_store_explicit(&in_vain, false, memory_order_relaxed);
    ml_libraries_look_at(frames, n, unloads);
    remember_pages(frames, n, unloads);
    ml_table_leave(&stacks_lock, &inside, &quiet);
    return true;
}

bool ml_stack_libraries(const uint64_t *frames, uint32_t n, uint32_t unloads)
{
    int saved_errno = errno;
    bool ok = are_announced(frames, n, unloads) || announce_libraries(frames, n, unloads);

    errno = saved_errno;
    return ok;
}

/* ---- The recorder's part -------------------------------------------------------------- */

static void init(void)
{
    ml_stack_init();
    ml_python_stack_init();
}

/* A native stack may end with frames of Python. */
static void announce_names(void)
{
    ml_python_stack_announce();
    ml_stack_table_announce();
}

const struct ml_recorder_part ml_stack_part = {.init = init, .announce_names = announce_names};
