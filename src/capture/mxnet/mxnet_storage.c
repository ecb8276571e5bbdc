/* mxnet_storage.c: wraps MXNet's storage and records its blocks.
 *
 * As with malloc, an allocation is recorded after the real call and a free before it. An Alloc of 0
 * bytes returns no block; a Free of none does nothing. A block's size is the one that the caller
 * asked for: MXNet's own counters count the same.
 *
 * 1.9.1 passes a handle to Free by value. In 2.0 it contains names, so the caller makes a copy and
 * passes its address. Names are often set after the allocation, so they are read at both ends.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "memledger/memledger.h"
#include "mxnet_features.h"
#include "mxnet_late.h"
#include "mxnet_outputs.h"
#include "mxnet_spaces.h"
#include "names.h"
#include "record.h"
#include "stack_wanted.h"
#include "tag_words.h"
#include "unwound.h"

/* In 2.0. An old std::string is a pointer to its text. */
struct named_handle {
    struct ml_mxnet_handle handle;
    const char *scope; /* "<unk>:" if the program set none */
    const char *name;  /* "unknown" likewise */
};

/* 1.9.1 has no third argument; the value in its register is passed on unread. */
typedef void alloc_function(void *storage, struct ml_mxnet_handle *handle, uint64_t failsafe);
typedef void free_function(void *storage, struct ml_mxnet_handle handle);
typedef void free_named_function(void *storage, struct named_handle *handle);

static alloc_function *real_alloc;
static union {
    free_function *plain;
    free_named_function *named;
} real_free, real_direct_free;
static bool has_names;

/* ---- Names ---------------------------------------------------------------------- */

#define NO_SCOPE "<unk>:"
#define NO_NAME "unknown"

static bool is_head_gradient(const struct named_handle *h)
{
    return strstr(h->name, ML_MXNET_HEAD_GRADIENT) != NULL;
}

/* "in_arg:fc1_weight": the scope, which ends in a colon, and the name. An unset scope is dropped,
 * also at the beginning of another.
 * @return 0: the program set neither */
static uint32_t name_of(const struct named_handle *h)
{
    char text[ML_NAME_MAX_BYTES];
    bool is_unset = !strncmp(h->scope, NO_SCOPE, strlen(NO_SCOPE));
    const char *scope = is_unset ? h->scope + strlen(NO_SCOPE) : h->scope;
    size_t scope_bytes = strnlen(scope, sizeof(text));
    size_t name_bytes = strnlen(h->name, sizeof(text) - scope_bytes);

    if (!scope_bytes && !strcmp(h->name, NO_NAME))
        return 0;
    memcpy(text, scope, scope_bytes);
    memcpy(text + scope_bytes, h->name, name_bytes);
    return ml_name_bytes(text, scope_bytes + name_bytes);
}

/* A name without a scope is an operator's or a node's. At the free it would replace a better one
 * (mxnet_arrays.h). */
static void label(uint32_t recording, uint32_t space, const struct named_handle *h,
                  bool is_allocation)
{
    bool has_scope = strcmp(h->scope, NO_SCOPE);
    uint32_t name = is_allocation || has_scope || is_head_gradient(h) ? name_of(h) : 0;
    enum memledger_category category =
        !has_scope && is_head_gradient(h) ? MEMLEDGER_INTERMEDIATE_GRADIENT : MEMLEDGER_OTHER;
    uint64_t words[] = {ml_record_word(ML_LABEL, space, ml_now()), (uintptr_t)h->handle.ptr,
                        ml_pair(category, name)};

    if (name)
        ml_record_spaced_in(recording, space, words, 3);
}

/* ---- Allocations ---------------------------------------------------------------- */

/* This thread's current request to the real Alloc. */
static __thread struct {
    uint32_t space;
    uint64_t bytes;
} asked;

static void record_refusal(uint32_t space, uint64_t bytes)
{
    if (space && bytes)
        ml_record_oom(space, bytes, ml_stack_wanted_of_asker());
}

/* An Alloc that fails throws. */
static void alloc_thrown(void)
{
    record_refusal(asked.space, asked.bytes);
}
ML_UNWOUND(ml_mxnet_alloc_unwound, alloc_thrown)

static void record_block(uint32_t space, const struct ml_mxnet_handle *h)
{
    uint32_t stack = ML_UNLIKELY(ml_stacks_mode) ? ml_stack_wanted_of_asker() : 0;

    if (stack)
        ml_record_alloc_stack(space, (uintptr_t)h->ptr, h->bytes, stack);
    else
        ml_record_alloc(space, h->ptr, h->bytes);
    ml_mxnet_late_birth(ML_MXNET_BLOCK, h->ptr);
    if (has_names)
        label(ml_record_place(), space, (const struct named_handle *)h, true);
    ml_mxnet_name_block(space, h->ptr, h);
}

/* If asked not to throw, 2.0 returns no block instead. */
static ML_NOINLINE void alloc(void *storage, struct ml_mxnet_handle *h, uint64_t failsafe)
{
    uint32_t space = ml_mxnet_space(h->device_type, h->device_id);

    ML_TELL_UNWOUND(ml_mxnet_alloc_unwound);
    asked.space = space;
    asked.bytes = h->bytes;
    real_alloc(storage, h, failsafe);
    if (h->ptr && space)
        record_block(space, h);
    else
        record_refusal(space, h->bytes);
}

/* ---- Frees ---------------------------------------------------------------------- */

static void record_free(const struct ml_mxnet_handle *h)
{
    uint32_t space = h->ptr ? ml_mxnet_space(h->device_type, h->device_id) : 0;
    uint32_t recording = space ? ml_mxnet_late_end(ML_MXNET_BLOCK, h->ptr) : 0;

    if (!recording)
        return;
    if (has_names)
        label(recording, space, (const struct named_handle *)h, false);
    ml_record_free_in(recording, space, h->ptr);
}

static void free_plain(void *storage, struct ml_mxnet_handle h)
{
    record_free(&h);
    real_free.plain(storage, h);
}

static void direct_free_plain(void *storage, struct ml_mxnet_handle h)
{
    record_free(&h);
    real_direct_free.plain(storage, h);
}

static void free_named(void *storage, struct named_handle *h)
{
    record_free(&h->handle);
    real_free.named(storage, h);
}

static void direct_free_named(void *storage, struct named_handle *h)
{
    record_free(&h->handle);
    real_direct_free.named(storage, h);
}

const struct ml_mxnet_feature *ml_mxnet_storage_feature(const struct ml_mxnet_layout *layout)
{
    static struct ml_mxnet_feature feature;
    const char *table = layout->storage_vtable;
    const char *const *symbols = layout->symbols;

    has_names = layout->version >= 20000;
    feature.exchanges[0] = (struct ml_mxnet_exchange){table, symbols[ML_MXNET_ALLOC], (void *)alloc,
                                                      (void **)&real_alloc};
    feature.exchanges[1] = (struct ml_mxnet_exchange){
        table, symbols[ML_MXNET_FREE], has_names ? (void *)free_named : (void *)free_plain,
        (void **)&real_free};
    feature.exchanges[2] = (struct ml_mxnet_exchange){table, symbols[ML_MXNET_DIRECT_FREE],
                                                      has_names ? (void *)direct_free_named
                                                                : (void *)direct_free_plain,
                                                      (void **)&real_direct_free};
    return &feature;
}
