/* cuda_attach.c: see cuda_attach.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda_attach.h"

#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "compiler.h"
#include "cuda_book.h"
#include "cuda_driver.h"
#include "cuda_pools.h"
#include "cuda_resolve.h"
#include "cuda_turns.h"
#include "cuda_virtual.h"
#include "recorder.h"

/* For calls of the driver that began before the hooks were in place. */
#define GRACE_MS 20
#define QUIET_TRIES 500 /* of a millisecond each, for a moment without a call */

static _Atomic bool adopting; /* from prepare to adopt */

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

    atomic_store(&adopting, true);
    ml_cuda_arm(true);
    ml_got_patch_begin();
    ml_cuda_book_prepare(driver_runs(&devices));
}

/* ---- Older blocks -------------------------------------------------------------- */

/* The devices that the program sees, by its ordinals; found without the book's lock, because the
 * driver may be at work for another thread. */
static struct {
    int count;
    int device[ML_CUDA_DEVICES_MAX]; /* -1: unknown */
    uint64_t primary[ML_CUDA_DEVICES_MAX];
} seen;

static bool find_devices(void)
{
    int count;

    if (!driver_runs(&count))
        return false;
    seen.count = count < ML_CUDA_DEVICES_MAX ? count : ML_CUDA_DEVICES_MAX;
    for (int i = 0; i < seen.count; i++) {
        seen.device[i] = ml_cuda_device(i);
        seen.primary[i] = 0;
        ml_cuda_get_primary(i, &seen.primary[i]);
    }
    return true;
}

static void take_primaries(struct ml_cuda_state *book)
{
    for (int i = 0; i < seen.count; i++) {
        if (seen.device[i] >= 0 && seen.primary[i])
            book->primary[seen.device[i]] = seen.primary[i];
    }
}

static bool is_read(const struct ml_cuda_state *book, int device)
{
    return device >= 0 && (unsigned)device < book->devices;
}

/* From here on the cost of a call is the change of NVML's figure. */
static void look_at_all(struct ml_cuda_state *book)
{
    take_primaries(book);
    for (int i = 0; i < seen.count; i++) {
        if (is_read(book, seen.device[i]))
            ml_cuda_look(book, (unsigned)seen.device[i]);
    }
}

void ml_cuda_attach_begin(void)
{
    if (find_devices())
        ml_cuda_book_with(look_at_all, false);
}

/* It was part of the figure at the last look. */
static void open_older(struct ml_cuda_state *book, const struct ml_cuda_block *block)
{
    ml_cuda_open_block(book, block);
    book->charges[block->device].residual -= (int64_t)block->size;
}

static bool is_gone(const struct ml_cuda_state *book, uint64_t addr)
{
    for (uint32_t i = 0; i < book->gone_count && i < ML_CUDA_GONE_MAX; i++) {
        if (book->gone[i] == addr)
            return true;
    }
    return false;
}

/* @return the bytes that belong to the handle at the beginning of the range */
static uint64_t handle_bytes(uint64_t addr, uint64_t bytes, uint64_t handle)
{
    uint64_t at = ML_CUDA_PAGE_BYTES, next;

    while (at < bytes && ml_cuda_get_handle(addr + at, &next) && next == handle)
        at += ML_CUDA_PAGE_BYTES;
    return ml_min_u64(at, bytes);
}

static void open_handle(struct ml_cuda_state *book, unsigned device, uint64_t handle, uint64_t addr,
                        uint64_t bytes)
{
    struct ml_cuda_block block = {.addr = handle,
                                  .size = bytes,
                                  .sort = ML_SORT_HANDLE,
                                  .device = (uint8_t)device,
                                  .references = 1};

    if (ml_cuda_blocks_find(book, ML_SORT_HANDLE, handle))
        return;
    open_older(book, &block);
    ml_cuda_handle_mapped(book, handle, addr, bytes);
}

/* The request of the thread that attaches. */
static struct {
    int ordinal;
    uint64_t addr, bytes;
} older;

static void open_plain(struct ml_cuda_state *book)
{
    int device = ml_cuda_device(older.ordinal);
    struct ml_cuda_block block = {
        .addr = older.addr, .size = older.bytes, .sort = ML_SORT_MEMORY, .device = (uint8_t)device};

    if (device < 0 || is_gone(book, older.addr) ||
        ml_cuda_blocks_find(book, ML_SORT_MEMORY, older.addr))
        return;
    block.context = book->primary[device];
    open_older(book, &block);
}

static void open_virtual(struct ml_cuda_state *book)
{
    int device = ml_cuda_device(older.ordinal);
    uint64_t handle;

    for (uint64_t at = 0, step; device >= 0 && at < older.bytes; at += step) {
        uint64_t addr = older.addr + at;
        step = ML_CUDA_PAGE_BYTES;
        if (!ml_cuda_get_handle(addr, &handle))
            continue;
        step = handle_bytes(addr, older.bytes - at, handle);
        open_handle(book, (unsigned)device, handle, addr, step);
    }
}

void ml_cuda_attach_block(int ordinal, uint64_t addr, uint64_t bytes, bool is_virtual)
{
    int devices;

    older.ordinal = ordinal;
    older.addr = addr;
    older.bytes = bytes;
    if (atomic_load(&adopting) && driver_runs(&devices))
        ml_cuda_book_with(is_virtual ? open_virtual : open_plain, false);
}

/* ---- The rest ------------------------------------------------------------------ */

/* What is known of each device at that moment. */
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

static void adopt_device(struct ml_cuda_state *book, const struct users *users, int ordinal,
                         unsigned device)
{
    bool others_known = users->any_own && users->listed[device];
    uint64_t pool;

    book->charges[device].before_has_all = !others_known;
    if (ml_cuda_get_pool(ordinal, &pool))
        ml_cuda_pool_look(book, pool, device, 0);
    ml_cuda_graphs_look(book, ordinal, 0);
    ml_cuda_enter_before(book, device, others_known ? users->of[device].others : 0);
}

static void adopt_all(struct ml_cuda_state *book)
{
    struct users users;

    take_primaries(book);
    find_users(book, &users);
    for (int i = 0; i < seen.count; i++) {
        int device = seen.device[i];
        if (is_read(book, device) && has_memory(book, &users, (unsigned)device))
            adopt_device(book, &users, i, (unsigned)device);
    }
    atomic_store(&adopting, false);
}

void ml_cuda_attach_adopt(void)
{
    bool done = false;

    if (find_devices()) {
        sleep_ms(GRACE_MS);
        for (int i = 0; !done && i <= QUIET_TRIES; i++) {
            done = ml_cuda_book_with(adopt_all, i < QUIET_TRIES);
            if (!done)
                sleep_ms(1);
        }
    }
    atomic_store(&adopting, false);
}

/* ---- The end ------------------------------------------------------------------- */

static void say_last(struct ml_cuda_state *book)
{
    ml_cuda_book_last(book);
    for (unsigned i = 0; i < book->devices; i++)
        ml_cuda_turn_end(book, i);
}

void ml_cuda_attach_end(void)
{
    int devices;

    if (driver_runs(&devices))
        ml_cuda_book_with(say_last, false);
    atomic_store(&adopting, false);
    ml_got_patch_end();
    ml_cuda_arm(false);
}

/* ---- Frees of older memory ------------------------------------------------------- */

/* Managed memory, and that of pools, has no size of its own in the entry. While there is no entry
 * yet, only the figure changes. */
void ml_cuda_older_freed(struct ml_cuda_state *book, struct ml_cuda_call *call)
{
    struct ml_cuda_block old = {.addr = call->args[0], .sort = ML_SORT_OLDER};
    bool has_entry = !atomic_load(&adopting);
    int ordinal, device = ml_cuda_current_device();

    if (!ml_recorder_is_late() || call->action != ML_CUDA_FREE || !old.addr)
        return;
    if (!has_entry)
        book->gone[book->gone_count++ % ML_CUDA_GONE_MAX] = old.addr;
    if (ml_cuda_get_pointer_ordinal(old.addr, &ordinal))
        device = ml_cuda_device(ordinal);
    if (device < 0)
        return;
    old.device = (uint8_t)device;
    if (has_entry && ml_cuda_get_plain_bytes(old.addr, &old.size))
        ml_cuda_charge(book, old.device,
                       &(struct ml_cuda_cause){.account = ml_cuda_before_account(book, old.device)},
                       -(int64_t)old.size);
    memcpy(call->saved, &old, sizeof(old));
}

void ml_cuda_older_kept(struct ml_cuda_state *book, const struct ml_cuda_block *old)
{
    struct ml_cuda_cause before = {.account = ml_cuda_before_account(book, old->device)};

    ml_cuda_charge(book, old->device, &before, (int64_t)old->size);
}

/* Small blocks share pages, so the entry may keep up to a page. */
void ml_cuda_older_settle(struct ml_cuda_state *book, unsigned device)
{
    struct ml_cuda_cause before = {.account = ml_cuda_before_account(book, device),
                                   .most_up = ML_CUDA_PAGE_BYTES,
                                   .most_down = ML_CUDA_ANY_BYTES};

    ml_cuda_pools_look(book, 0);
    ml_cuda_settle(book, device, &before);
}

void ml_cuda_older_settle_here(struct ml_cuda_state *book)
{
    int device = ml_recorder_is_late() ? ml_cuda_current_device() : -1;

    if (device >= 0 &&
        book->charges[device].accounts[ml_cuda_before_account(book, (unsigned)device)].bytes)
        ml_cuda_older_settle(book, (unsigned)device);
}
