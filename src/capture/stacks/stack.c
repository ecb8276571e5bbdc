/* stack.c: see stack.h.
 *
 * The compiler's unwinder finds the frames. It is linked in, because the program may have none. One
 * lock covers everything and is also held while a thread forks: unwinder and loader have locks that
 * a child must not find taken by a thread that it does not have.
 *
 * When a library is unloaded, the same return addresses can come to mean something else. A stack
 * therefore stores which libraries it was in, and the last look at which that was true. After a
 * change of the loader's list it is checked again, and announced again if it is still true.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stack.h"

#include <errno.h>
#include <stdbool.h>
#include <stdatomic.h>
#include <string.h>
#include <unwind.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "address_room.h"
#include "libraries.h"
#include "python_stack.h"
#include "record.h"
#include "recorder.h"
#include "recorder_parts.h"
#include "sys.h"
#include "table_lock.h"

/* An upper limit: in little address space the tables have fewer. */
#define STACKS_MAX (1u << 20)
#define STACKS_LEAST (1u << 6)
#define FRAMES_PER_STACK 16u /* on average */

struct stack {
    uint32_t hash;   /* of its addresses */
    uint32_t frames; /* number of them */
    uint32_t first;  /* index of the first */
    uint32_t number;
    uint32_t checked;   /* the last look at which it was in these libraries */
    uint64_t libraries; /* hash of their numbers */
};

static struct native_stacks {
    uint32_t stacks_max;  /* a power of two */
    uint32_t *slots;      /* twice as many: stack, 0: empty */
    struct stack *stacks; /* number 0 is not used */
    uint64_t *frames;
    uint32_t used_frames;
    _Atomic uint32_t count;
} native_stacks;

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

/* ---- Numbers -------------------------------------------------------------- */

static bool reserve_tables(void)
{
    struct ml_table_array arrays[] = {{sizeof(*native_stacks.frames), FRAMES_PER_STACK, NULL},
                                      {sizeof(*native_stacks.slots), 2, NULL},
                                      {sizeof(*native_stacks.stacks), 1, NULL}};
    uint32_t max;

    if (native_stacks.stacks)
        return true;
    max = ml_address_arrays(STACKS_MAX, STACKS_LEAST, arrays, ML_ARRAY_SIZE(arrays));
    if (!max)
        return false;
    native_stacks.stacks_max = max;
    native_stacks.frames = arrays[0].ret_items;
    native_stacks.slots = arrays[1].ret_items;
    native_stacks.stacks = arrays[2].ret_items;
    return true;
}

uint32_t ml_stack_new_number(void)
{
    static _Atomic uint32_t last;
    uint32_t number = atomic_load_explicit(&last, memory_order_relaxed);

    do {
        if (number + 1 == STACKS_MAX)
            return 0;
    } while (!atomic_compare_exchange_weak_explicit(&last, &number, number + 1,
                                                    memory_order_relaxed, memory_order_relaxed));
    return number + 1;
}

static void announce(const struct stack *s)
{
    uint64_t words[2 + ML_STACK_MAX_FRAMES] = {ml_record_word(ML_REC_STACK, 0, ml_now()),
                                               ml_pair(s->number, s->frames)};

    memcpy(&words[2], native_stacks.frames + s->first, s->frames * sizeof(uint64_t));
    ml_record(words, 2 + s->frames);
}

static uint64_t libraries_of(const uint64_t *frames, uint32_t n)
{
    uint32_t numbers[ML_STACK_MAX_FRAMES];

    for (uint32_t i = 0; i < n; i++)
        numbers[i] = ml_libraries_at(frames[i] - 1);
    return XXH3_64bits(numbers, n * sizeof(*numbers));
}

/* Whether the stack is still in the libraries that it was announced with. */
static bool still_holds(struct stack *s, uint32_t look)
{
    if (s->checked == look)
        return true;
    if (s->libraries != libraries_of(native_stacks.frames + s->first, s->frames))
        return false;
    announce(s);
    s->checked = look;
    return true;
}

/* The stack's number, or 0 and in *ret_slot the slot for it. */
static uint32_t find(const struct walk *w, uint32_t hash, uint32_t look, uint32_t *ret_slot)
{
    uint32_t mask = 2 * native_stacks.stacks_max - 1;

    for (uint32_t i = hash & mask;; i = (i + 1) & mask) {
        uint32_t entry = native_stacks.slots[i];
        struct stack *s = &native_stacks.stacks[entry];

        if (!entry) {
            *ret_slot = i;
            return 0;
        }
        if (s->hash == hash && s->frames == w->n &&
            !memcmp(native_stacks.frames + s->first, w->frames, w->n * sizeof(uint64_t)) &&
            still_holds(s, look))
            return s->number;
    }
}

static uint32_t add(const struct walk *w, uint32_t hash, uint32_t look, uint32_t slot)
{
    uint32_t entry = native_stacks.count + 1;
    uint32_t number;

    number = entry < native_stacks.stacks_max &&
                     native_stacks.used_frames + w->n <= native_stacks.stacks_max * FRAMES_PER_STACK
                 ? ml_stack_new_number()
                 : 0;
    if (!number) {
        ml_recorder_detail_lost();
        return 0;
    }
    memcpy(native_stacks.frames + native_stacks.used_frames, w->frames, w->n * sizeof(uint64_t));
    native_stacks.stacks[entry] = (struct stack){
        .hash = hash,
        .frames = w->n,
        .first = native_stacks.used_frames,
        .number = number,
        .checked = look,
        .libraries = libraries_of(w->frames, w->n),
    };
    native_stacks.used_frames += w->n;
    /* Pairs with the acquire load in announce_native: the stack is written. */
    atomic_store_explicit(&native_stacks.count, entry, memory_order_release);
    announce(&native_stacks.stacks[entry]);
    native_stacks.slots[slot] = entry;
    return number;
}

static uint32_t number_of(const struct walk *w, uint32_t look)
{
    uint32_t hash = (uint32_t)XXH3_64bits(w->frames, w->n * sizeof(uint64_t));
    uint32_t slot = 0;
    uint32_t number;

    if (!w->n)
        return 0;
    if (!look || !reserve_tables()) {
        ml_recorder_detail_lost();
        return 0;
    }
    number = find(w, hash, look, &slot);
    return number ? number : add(w, hash, look, slot);
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
        number = number_of(&walk, look);
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

/* Announces only stacks that may still occur: the libraries that are loaded now give addresses
 * their meaning.
 *
 * Takes no lock, because the caller may hold any of the recorder's. A thread's first record holds
 * announce_lock, and is made under the names' lock, which comes after ours, or under ours; a thread
 * that holds ours waits for announce_lock in its own first record. So this reads only data that
 * does not change once `count` covers it (addresses, index, hash of the libraries), and atomics
 * (which libraries are loaded). A concurrent look by another thread can make this skip a stack that
 * is still valid, or announce one too many; because the look's number has changed, still_holds
 * announces every stack again before its number is used. */
static void announce_native(void)
{
    uint32_t n = atomic_load_explicit(&native_stacks.count, memory_order_acquire);

    ml_libraries_announce();
    for (uint32_t i = 1; i <= n; i++) {
        const struct stack *s = &native_stacks.stacks[i];
        if (s->libraries == libraries_of(native_stacks.frames + s->first, s->frames))
            announce(s);
    }
}

static void init(void)
{
    ml_stack_init();
    ml_python_stack_init();
}

/* A native stack may end with frames of Python. */
static void announce_names(void)
{
    ml_python_stack_announce();
    announce_native();
}

const struct ml_recorder_part ml_stack_part = {.init = init, .announce_names = announce_names};
