/* cuda_older.c: see cuda_older.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda_older.h"

#include <string.h>

#include "compiler.h"
#include "cuda_book.h"
#include "cuda_driver.h"
#include "cuda_pools.h"
#include "cuda_virtual.h"
#include "recorder.h"
#include "sys.h"

_Atomic bool ml_cuda_adopting;

/* ---- Older blocks ---------------------------------------------------------------- */

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

/* The request of the thread that attaches. */
static struct {
    unsigned device;
    uint64_t addr, bytes;
} older;

static bool open_plain(struct ml_cuda_state *book)
{
    struct ml_cuda_block block = {.addr = older.addr,
                                  .size = older.bytes,
                                  .context = book->primary[older.device],
                                  .sort = ML_SORT_MEMORY,
                                  .device = (uint8_t)older.device};

    if (is_gone(book, older.addr) || ml_cuda_blocks_find(book, ML_SORT_MEMORY, older.addr))
        return false;
    open_older(book, &block);
    return true;
}

/* ---- Older virtual memory -------------------------------------------------------- */

#define MAPPINGS_MAX 64
#define MAPPING_TRIES 32

/* The handles that the driver has found at consecutive addresses. */
static struct {
    uint32_t changes; /* the book's count before the first question */
    bool is_old;      /* it has changed since */
    unsigned count;
    struct mapping {
        uint64_t handle, addr, bytes;
    } at[MAPPINGS_MAX];
} mapped;

/* @return the bytes that belong to the handle at the beginning of the range */
static uint64_t handle_bytes(uint64_t addr, uint64_t bytes, uint64_t handle)
{
    uint64_t at = ML_CUDA_PAGE_BYTES, next;

    while (at < bytes && ml_cuda_get_handle(addr + at, &next) && next == handle)
        at += ML_CUDA_PAGE_BYTES;
    return ml_min_u64(at, bytes);
}

/* @return how much of the range was asked for: all, or as much as `most` handles have */
static uint64_t find_handles(const struct ml_cuda_state *book, uint64_t addr, uint64_t bytes,
                             unsigned most)
{
    uint64_t at = 0, step, handle;

    mapped.changes = ml_cuda_count(&book->virtual_changes);
    for (mapped.count = 0; at < bytes && mapped.count < most; at += step) {
        step = ML_CUDA_PAGE_BYTES;
        if (!ml_cuda_get_handle(addr + at, &handle))
            continue;
        step = handle_bytes(addr + at, bytes - at, handle);
        mapped.at[mapped.count++] = (struct mapping){handle, addr + at, step};
    }
    return ml_min_u64(at, bytes);
}

static void open_handle(struct ml_cuda_state *book, const struct mapping *m)
{
    struct ml_cuda_block block = {.addr = m->handle,
                                  .size = m->bytes,
                                  .sort = ML_SORT_HANDLE,
                                  .device = (uint8_t)older.device,
                                  .references = 1};

    if (ml_cuda_blocks_find(book, ML_SORT_HANDLE, m->handle))
        return;
    open_older(book, &block);
    ml_cuda_handle_mapped(book, m->handle, m->addr, m->bytes);
}

static bool open_handles(struct ml_cuda_state *book)
{
    mapped.is_old = ml_cuda_count(&book->virtual_changes) != mapped.changes;
    if (mapped.is_old)
        return false;
    for (unsigned i = 0; i < mapped.count; i++)
        open_handle(book, &mapped.at[i]);
    return true;
}

/* Asks for fewer handles each time that the program was faster. Memory that it changes all the time
 * remains part of "before", as does all if the book is locked for long.
 * @return how much of the range is done */
static uint64_t open_some(const struct ml_cuda_state *book, uint64_t addr, uint64_t bytes)
{
    struct ml_quiet quiet;
    unsigned most = MAPPINGS_MAX;
    uint64_t asked = bytes;
    bool again = true;

    for (int i = 0; again && i < MAPPING_TRIES; i++) {
        ml_quiet_begin(&quiet); /* a handle that was retained is released */
        asked = find_handles(book, addr, bytes, most);
        ml_quiet_end(&quiet);
        mapped.is_old = false;
        again = !ml_cuda_book_with(open_handles) && mapped.is_old;
        most = most > 1 ? most / 2 : 1;
    }
    return asked;
}

static void open_virtual(void)
{
    const struct ml_cuda_state *book = ml_cuda_book();

    for (uint64_t at = 0; book && at < older.bytes;)
        at += open_some(book, older.addr + at, older.bytes - at);
}

void ml_cuda_older_block(int ordinal, uint64_t addr, uint64_t bytes, bool is_virtual)
{
    int devices, device = ml_cuda_device(ordinal);

    if (!atomic_load(&ml_cuda_adopting) || !ml_cuda_get_device_count(&devices) || device < 0)
        return;
    older.device = (unsigned)device;
    older.addr = addr;
    older.bytes = bytes;
    if (is_virtual)
        open_virtual();
    else
        ml_cuda_book_with(open_plain);
}

/* ---- Frees of older memory ------------------------------------------------------- */

/* Managed memory, and that of pools, has no size of its own in the entry. While there is no entry
 * yet, only the figure changes. */
void ml_cuda_older_freed(struct ml_cuda_state *book, struct ml_cuda_call *call)
{
    struct ml_cuda_block old = {.addr = call->args[0], .sort = ML_SORT_OLDER};
    bool has_entry = !atomic_load(&ml_cuda_adopting);
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

/* Small blocks share pages, so the entry may keep up to a page. There is no entry before
 * ml_cuda_enter_before makes it, with all older memory: the ledger relies on that. */
void ml_cuda_older_settle(struct ml_cuda_state *book, unsigned device)
{
    bool has_entry = !atomic_load(&ml_cuda_adopting);
    struct ml_cuda_cause before = {.account = ml_cuda_before_account(book, device),
                                   .most_up = has_entry ? ML_CUDA_PAGE_BYTES : 0,
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
