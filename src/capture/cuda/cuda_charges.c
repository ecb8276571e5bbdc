/* cuda_charges.c: see cuda_charges.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda_charges.h"

#include "compiler.h"
#include "cuda_turns.h"
#include "record.h"
#include "recorder.h"

static uint32_t new_item(struct ml_cuda_state *book)
{
    uint32_t entry = book->free_item;

    if (entry)
        book->free_item = book->items[entry - 1].below;
    else if (book->items_used < ML_CUDA_ITEMS_MAX)
        entry = ++book->items_used;
    return entry;
}

static void record_item(const struct ml_cuda_item *e, unsigned device, enum ml_cuda_space account)
{
    ml_record_alloc_stack(ml_cuda_space(device, account), e->addr, e->size, e->stack);
}

static void record_removal(const struct ml_cuda_item *e, unsigned device,
                           enum ml_cuda_space account)
{
    ml_record_free(ml_cuda_space(device, account), (void *)(uintptr_t)e->addr);
}

static void add(struct ml_cuda_state *book, unsigned device, const struct ml_cuda_cause *cause,
                uint64_t bytes)
{
    struct ml_cuda_account *account = &book->charges[device].accounts[cause->account];
    uint32_t index = new_item(book);
    struct ml_cuda_item *e;

    if (!index) {
        ml_recorder_cannot_follow();
        return;
    }
    e = &book->items[index - 1];
    book->next_addr += 4096;
    *e = (struct ml_cuda_item){book->next_addr, bytes, cause->owner, cause->stack, account->top};
    account->top = index;
    account->bytes += bytes;
    ml_cuda_enter(book, device, (int64_t)bytes);
    record_item(e, device, cause->account);
}

/* Takes up to `bytes` from the entry whose index + 1 is *link; unlinks an entry that has nothing
 * left. */
static uint64_t reduce(struct ml_cuda_state *book, unsigned device, enum ml_cuda_space account,
                       uint32_t *link, uint64_t bytes)
{
    uint32_t index = *link;
    struct ml_cuda_item *e = &book->items[index - 1];
    uint64_t taken = ml_min_u64(bytes, e->size);

    record_removal(e, device, account);
    e->size -= taken;
    book->charges[device].accounts[account].bytes -= taken;
    ml_cuda_enter(book, device, -(int64_t)taken);
    if (e->size) {
        record_item(e, device, account);
        return taken;
    }
    *link = e->below;
    e->below = book->free_item;
    book->free_item = index;
    return taken;
}

/* @return how many the account does not have */
static uint64_t take(struct ml_cuda_state *book, unsigned device, const struct ml_cuda_cause *cause,
                     uint64_t bytes)
{
    uint32_t *link = &book->charges[device].accounts[cause->account].top;

    while (*link && bytes) {
        uint32_t index = *link;
        if (cause->owner && book->items[index - 1].owner != cause->owner) {
            link = &book->items[index - 1].below;
            continue;
        }
        bytes -= reduce(book, device, cause->account, link, bytes);
    }
    return bytes;
}

enum ml_cuda_space ml_cuda_before_account(const struct ml_cuda_state *book, unsigned device)
{
    return book->charges[device].before_has_all ? ML_IN_BEFORE_ALL : ML_IN_BEFORE;
}

static void take_or_before(struct ml_cuda_state *book, unsigned device,
                           const struct ml_cuda_cause *cause, uint64_t bytes)
{
    struct ml_cuda_cause before = {.account = ml_cuda_before_account(book, device)};

    take(book, device, &before, take(book, device, cause, bytes));
}

void ml_cuda_charge(struct ml_cuda_state *book, unsigned device, const struct ml_cuda_cause *cause,
                    int64_t bytes)
{
    if (bytes > 0)
        add(book, device, cause, (uint64_t)bytes);
    else if (bytes < 0)
        take(book, device, cause, (uint64_t)-bytes);
}

void ml_cuda_charges_end(struct ml_cuda_state *book, unsigned device, uint64_t owner)
{
    for (int account = 0; account < ML_CUDA_SPACES; account++) {
        struct ml_cuda_cause all = {.account = (enum ml_cuda_space)account, .owner = owner};
        take(book, device, &all, UINT64_MAX);
    }
}

/* The bytes charged to an owner on an account; for owner 0, to all owners. */
static uint64_t charged_bytes(const struct ml_cuda_state *book, unsigned device,
                              enum ml_cuda_space account, uint64_t owner)
{
    uint32_t entry = book->charges[device].accounts[account].top;
    uint64_t bytes = 0;

    for (; entry; entry = book->items[entry - 1].below) {
        if (!owner || book->items[entry - 1].owner == owner)
            bytes += book->items[entry - 1].size;
    }
    return bytes;
}

bool ml_cuda_is_charged(const struct ml_cuda_state *book, unsigned device,
                        enum ml_cuda_space account, uint64_t owner)
{
    return charged_bytes(book, device, account, owner) > 0;
}

static void record_sample(struct ml_cuda_state *book, unsigned device,
                          const struct ml_cuda_reading *r, uint32_t bits)
{
    bits |= ML_SAMPLE_USED | ML_SAMPLE_FREE | ML_SAMPLE_TOTAL | ML_SAMPLE_INSIDE;
    uint64_t words[] = {ml_record_word(ML_SAMPLE, 0, ml_now()),
                        ml_pair(ml_cuda_device_name(device), bits),
                        r->used,
                        r->free,
                        r->total,
                        0};
    ml_record(words, 6);
    book->charges[device].changed = false;
}

/* No other thread or process is in a call that may change the device. */
static bool is_alone(const struct ml_cuda_state *book, unsigned device)
{
    return atomic_load_explicit(&book->underway, memory_order_relaxed) <= 1 &&
           !ml_cuda_turn_is_anothers(device);
}

static int64_t change_since_look(const struct ml_cuda_state *book, unsigned device,
                                 const struct ml_cuda_reading *r)
{
    return ml_cuda_difference(device, r) - book->charges[device].residual;
}

/* NVML's figure. While it is lower by more than `fall` because another process is ending, this
 * call's part in it is unknown: then the figure after that process is out of all books. */
static bool read_device(struct ml_cuda_state *book, unsigned device, uint64_t fall,
                        struct ml_cuda_reading *ret)
{
    do {
        if (!ml_cuda_nvml_read(device, ret))
            return false;
    } while (change_since_look(book, device, ret) < -(int64_t)fall &&
             ml_cuda_await_end(book, device, ret->used));
    return true;
}

/* ---- Processes that are not recorded ---------------------------------------------- */

/* They come and go with a context, which takes hundreds of MiB. A smaller change is believed: NVML
 * takes longer for its list than for the device's figure. */
#define FOREIGN_BYTES (64ll << 20)

/* NVML's figure for a process lacks some MiB that the device has for it. */
#define OWN_ERROR_BYTES (16ll << 20)

static bool is_within(int64_t bytes, int64_t most)
{
    return bytes >= -most && bytes <= most;
}

/* Call when everything that NVML's list shows is booked, as far as it will be. */
static void note_own(struct ml_cuda_charges *charges, const struct ml_cuda_users *users)
{
    if (users->has_own_bytes)
        charges->own_residual = (int64_t)(users->own - charges->booked);
}

/* The better one of two figures for this process's memory that is not in its book yet.
 * @bytes  by the device's figure, which is exact if no other process came or went */
static int64_t own_bytes(const struct ml_cuda_charges *charges, const struct ml_cuda_users *users,
                         int64_t bytes)
{
    int64_t own = (int64_t)(users->own - charges->booked) - charges->own_residual;

    return !users->has_own_bytes || is_within(own - bytes, OWN_ERROR_BYTES) ? bytes : own;
}

/* The change by a call that may have taken any number of bytes. A context may have come while
 * another process's went, so that the device's figure stays.
 * @ret_users  NVML's list, if it was asked for it */
static int64_t own_change(const struct ml_cuda_state *book, unsigned device,
                          const struct ml_cuda_cause *cause, int64_t change,
                          struct ml_cuda_users *ret_users)
{
    if (cause->most_up != ML_CUDA_ANY_BYTES ||
        (is_within(change, FOREIGN_BYTES) && cause->account != ML_IN_CONTEXT) ||
        !ml_cuda_nvml_users(device, ret_users))
        return change;
    return own_bytes(&book->charges[device], ret_users, change);
}

/* ---- Before and after a call ------------------------------------------------- */

static void set_residual(struct ml_cuda_charges *charges, unsigned device,
                         const struct ml_cuda_reading *r)
{
    charges->residual = ml_cuda_difference(device, r);
    charges->unsettled = 0;
    charges->looked = true;
}

void ml_cuda_look(struct ml_cuda_state *book, unsigned device)
{
    struct ml_cuda_charges *charges = &book->charges[device];
    struct ml_cuda_users users;
    struct ml_cuda_reading r;
    bool alone = is_alone(book, device);

    if (charges->looked && !alone)
        return;
    if (!read_device(book, device, charges->looked ? ML_CUDA_PAGE_BYTES : ML_CUDA_ANY_BYTES, &r))
        return;
    if (!charges->looked)
        record_sample(book, device, &r, 0); /* the usage before this process */
    else if (!is_within(change_since_look(book, device, &r), OWN_ERROR_BYTES) &&
             ml_cuda_nvml_users(device, &users))
        note_own(charges, &users); /* a drift may be this process's own */
    set_residual(charges, device, &r);
}

void ml_cuda_leave_out(struct ml_cuda_state *book, unsigned device, int64_t bytes)
{
    book->charges[device].residual += bytes;
    book->charges[device].own_residual += bytes;
}

uint64_t ml_cuda_let_pass(struct ml_cuda_state *book, unsigned device, uint64_t most)
{
    struct ml_cuda_charges *charges = &book->charges[device];
    struct ml_cuda_reading r;
    int64_t grown;

    if (!charges->looked || !ml_cuda_nvml_read(device, &r))
        return 0;
    grown = change_since_look(book, device, &r);
    if (grown <= 0)
        return 0;
    most = ml_min_u64((uint64_t)grown, most);
    ml_cuda_leave_out(book, device, (int64_t)most);
    return most;
}

/* The most that a call can lower the figure. */
static uint64_t most_fall(const struct ml_cuda_state *book, unsigned device,
                          const struct ml_cuda_cause *cause)
{
    if (!cause->most_down || !ml_cuda_others_have_any(book, device))
        return ML_CUDA_ANY_BYTES;
    return ml_min_u64(cause->most_down, charged_bytes(book, device, cause->account, cause->owner));
}

/* A fall by more than the call can cause comes from the end of another process. */
static int64_t within(int64_t bytes, uint64_t fall, const struct ml_cuda_cause *cause)
{
    if (bytes > 0)
        return (int64_t)ml_min_u64((uint64_t)bytes, cause->most_up);
    return (uint64_t)-bytes <= ml_min_u64(fall, cause->most_down) ? bytes : 0;
}

static uint64_t most_of(uint64_t calls, uint64_t most)
{
    return most == ML_CUDA_ANY_BYTES ? most : calls * most;
}

void ml_cuda_settle(struct ml_cuda_state *book, unsigned device, const struct ml_cuda_cause *of_one)
{
    struct ml_cuda_charges *charges = &book->charges[device];
    uint64_t calls = 1 + (uint64_t)charges->unsettled;
    struct ml_cuda_cause of_all = *of_one;
    struct ml_cuda_users users = {0};
    struct ml_cuda_reading r;
    bool alone = is_alone(book, device);
    uint64_t fall;

    of_all.most_up = most_of(calls, of_one->most_up);
    of_all.most_down = most_of(calls, of_one->most_down);
    fall = alone ? most_fall(book, device, &of_all) : ML_CUDA_ANY_BYTES;
    if (!charges->looked || !read_device(book, device, fall, &r))
        return;
    if (alone) {
        int64_t change = change_since_look(book, device, &r);
        change = within(own_change(book, device, &of_all, change, &users), fall, &of_all);
        if (change < 0)
            take_or_before(book, device, &of_all, (uint64_t)-change);
        else
            ml_cuda_charge(book, device, &of_all, change);
        note_own(charges, &users);
        set_residual(charges, device, &r);
    } else {
        charges->unsettled++;
    }
    record_sample(book, device, &r, 0);
}

void ml_cuda_enter_before(struct ml_cuda_state *book, unsigned device,
                          const struct ml_cuda_users *users)
{
    struct ml_cuda_charges *charges = &book->charges[device];
    struct ml_cuda_cause before = {.account = ml_cuda_before_account(book, device)};
    struct ml_cuda_reading r;
    int64_t bytes;

    if (!ml_cuda_nvml_read(device, &r))
        return;
    bytes = ml_cuda_difference(device, &r);
    charges->own_residual = 0; /* all of this process's memory is booked now */
    if (users)
        bytes = own_bytes(charges, users, bytes - (int64_t)users->others);
    if (bytes > 0)
        ml_cuda_charge(book, device, &before, bytes);
    if (users)
        note_own(charges, users);
    set_residual(charges, device, &r);
    record_sample(book, device, &r, 0);
}

void ml_cuda_sample(struct ml_cuda_state *book, unsigned device, uint32_t bits)
{
    struct ml_cuda_reading r;

    if (book->charges[device].looked && ml_cuda_nvml_read(device, &r))
        record_sample(book, device, &r, bits);
}
