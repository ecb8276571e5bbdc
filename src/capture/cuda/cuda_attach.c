/* cuda_attach.c: see cuda_attach.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda_attach.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cuda_book.h"
#include "cuda_driver.h"
#include "cuda_older.h"
#include "cuda_pools.h"
#include "cuda_resolve.h"
#include "cuda_turns.h"
#include "nanoseconds.h"

/* For calls of the driver that began before the hooks were in place. */
#define GRACE_MS 20
#define QUIET_NS 500000000u /* for a moment without a call */

static void sleep_ms(long ms)
{
    syscall(SYS_nanosleep, &(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

static bool driver_runs(int *ret_devices)
{
    return __atomic_load_n(&ml_cuda_armed, __ATOMIC_RELAXED) &&
           ml_cuda_get_device_count(ret_devices);
}

void ml_cuda_attach_prepare(void)
{
    int devices;

    atomic_store(&ml_cuda_adopting, true);
    ml_cuda_arm(true);
    ml_got_patch_begin();
    ml_cuda_book_prepare(driver_runs(&devices));
}

/* ---- What the driver says -------------------------------------------------------- */

/* Asked without the book's lock: the driver may be at work for another thread, and a hooked call
 * must not wait for that. A call of the program may come between the answers and the book; the
 * book's counts tell, and then the driver is asked again. */

/* Of the devices that the program sees, by its ordinals. */
static struct {
    uint32_t calls; /* the book's count before the first question */
    int count;
    struct {
        int device; /* -1: unknown */
        uint64_t primary;
        bool has_pool, has_graphs;
        uint64_t pool, pool_bytes, graph_bytes;
    } of[ML_CUDA_DEVICES_MAX];
} seen;

static bool find_devices(void)
{
    const struct ml_cuda_state *book = ml_cuda_book();
    int count;

    seen.calls = book ? ml_cuda_count(&book->calls) : 0;
    if (!driver_runs(&count))
        return false;
    seen.count = count < ML_CUDA_DEVICES_MAX ? count : ML_CUDA_DEVICES_MAX;
    for (int i = 0; i < seen.count; i++) {
        seen.of[i].device = ml_cuda_device(i);
        seen.of[i].primary = 0;
        ml_cuda_get_primary(i, &seen.of[i].primary);
    }
    return true;
}

static bool find_memory(void)
{
    if (!find_devices())
        return false;
    for (int i = 0; i < seen.count; i++) {
        seen.of[i].has_pool = ml_cuda_get_pool(i, &seen.of[i].pool) &&
                              ml_cuda_get_pool_reserved(seen.of[i].pool, &seen.of[i].pool_bytes);
        seen.of[i].has_graphs = ml_cuda_get_graph_reserved(i, &seen.of[i].graph_bytes);
    }
    return true;
}

/* Call with the lock held. */
static bool is_current(const struct ml_cuda_state *book)
{
    return ml_cuda_count(&book->calls) == seen.calls;
}

/* ---- The beginning --------------------------------------------------------------- */

/* A primary context that a call has entered since then is more recent. */
static void take_primaries(struct ml_cuda_state *book)
{
    for (int i = 0; i < seen.count; i++) {
        int device = seen.of[i].device;
        if (device >= 0 && seen.of[i].primary && (is_current(book) || !book->primary[device]))
            book->primary[device] = seen.of[i].primary;
    }
}

static bool is_read(const struct ml_cuda_state *book, int device)
{
    return device >= 0 && (unsigned)device < book->devices;
}

/* From here on the cost of a call is the change of NVML's figure. */
static bool look_at_all(struct ml_cuda_state *book)
{
    take_primaries(book);
    for (int i = 0; i < seen.count; i++) {
        if (is_read(book, seen.of[i].device))
            ml_cuda_look(book, (unsigned)seen.of[i].device);
    }
    return true;
}

void ml_cuda_attach_begin(void)
{
    if (find_devices())
        ml_cuda_book_with(look_at_all);
}

/* ---- The rest ------------------------------------------------------------------ */

/* The users of each device at that moment. */
struct users {
    bool any_own; /* NVML lists this process somewhere: its numbers are those of this namespace */
    bool any_primary;
    bool listed[ML_CUDA_DEVICES_MAX];
    struct ml_cuda_users of[ML_CUDA_DEVICES_MAX];
};

static void find_users(const struct ml_cuda_state *book, struct users *ret)
{
    *ret = (struct users){0};
    for (unsigned i = 0; i < book->devices; i++) {
        ret->listed[i] = ml_cuda_nvml_users(i, &ret->of[i]);
        ret->any_own |= ret->listed[i] && ret->of[i].has_own;
        ret->any_primary |= book->primary[i] != 0;
    }
}

/* Without NVML's numbers, contexts say it; those that are not primary cannot be found. */
static bool has_memory(const struct ml_cuda_state *book, const struct users *users, unsigned device)
{
    if (book->charges[device].booked)
        return true;
    if (users->any_own)
        return users->listed[device] && users->of[device].has_own;
    return book->primary[device] || !users->any_primary;
}

/* A pool, or graphs, that a call since then has entered are more recent than the answer. */
static void adopt_device(struct ml_cuda_state *book, const struct users *users, int ordinal)
{
    unsigned device = (unsigned)seen.of[ordinal].device;
    bool others_known = users->any_own && users->listed[device];

    book->charges[device].before_has_all = !others_known;
    if (seen.of[ordinal].has_pool &&
        (is_current(book) || !ml_cuda_pool_is_known(book, seen.of[ordinal].pool)))
        ml_cuda_pool_enter(book, seen.of[ordinal].pool, device, seen.of[ordinal].pool_bytes);
    if (seen.of[ordinal].has_graphs && (is_current(book) || !book->graph_reserved[device]))
        ml_cuda_graphs_enter(book, device, seen.of[ordinal].graph_bytes, 0);
    ml_cuda_enter_before(book, device, others_known ? &users->of[device] : NULL);
}

static bool adopt_all(struct ml_cuda_state *book)
{
    struct users users;

    take_primaries(book);
    find_users(book, &users);
    for (int i = 0; i < seen.count; i++) {
        int device = seen.of[i].device;
        if (is_read(book, device) && has_memory(book, &users, (unsigned)device))
            adopt_device(book, &users, i);
    }
    atomic_store(&ml_cuda_adopting, false);
    return true;
}

/* At a moment without a call under way, nor one since the driver was asked. */
static bool adopt_when_quiet(struct ml_cuda_state *book)
{
    return is_current(book) && !atomic_load_explicit(&book->underway, memory_order_relaxed) &&
           adopt_all(book);
}

void ml_cuda_attach_adopt(void)
{
    int devices;
    bool is_last = false, done = !driver_runs(&devices);
    uint64_t end_ns = ml_clock_ns(CLOCK_MONOTONIC) + QUIET_NS;

    if (!done)
        sleep_ms(GRACE_MS);
    while (!done && !is_last && find_memory()) {
        is_last = ml_clock_ns(CLOCK_MONOTONIC) > end_ns;
        done = ml_cuda_book_with(is_last ? adopt_all : adopt_when_quiet);
        if (!done)
            sleep_ms(1);
    }
    atomic_store(&ml_cuda_adopting, false);
}

/* ---- The end ------------------------------------------------------------------- */

static bool say_last(struct ml_cuda_state *book)
{
    ml_cuda_book_last(book);
    for (unsigned i = 0; i < book->devices; i++)
        ml_cuda_turn_end(book, i);
    return true;
}

void ml_cuda_attach_say_last(void)
{
    int devices;

    if (driver_runs(&devices))
        ml_cuda_book_with(say_last);
}

void ml_cuda_attach_end(void)
{
    atomic_store(&ml_cuda_adopting, false);
    ml_got_patch_end();
    ml_cuda_arm(false);
}
