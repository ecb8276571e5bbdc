/* cache_growth.c: see cache_growth.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cache_growth.h"

#include <errno.h>
#include <string.h>

#include "memledger/memledger.h"

/* ---- Accounts ------------------------------------------------------------ */

int ml_cache_book_open(struct ml_cache_book *book, const struct ml_trace *trace,
                       const struct ml_classes *classes)
{
    *book = (struct ml_cache_book){0};
    if (!classes->known || classes->categories.len == 0 ||
        !memchr(classes->categories.items, MEMLEDGER_KV_CACHE, classes->categories.len))
        return 0;
    book->on = true;
    return ml_modules_init(&book->modules, trace);
}

void ml_cache_book_release(struct ml_cache_book *book)
{
    if (book->on)
        ml_modules_release(&book->modules);
    ml_vec_release(&book->latest);
    ml_vec_release(&book->layers);
    ml_vec_release(&book->tensors);
    ml_map_release(&book->layer_of);
    ml_map_release(&book->tensor_of);
    *book = (struct ml_cache_book){0};
}

static int64_t layer_of(struct ml_cache_book *book, uint32_t module)
{
    uint64_t index;

    if (ml_map_get(&book->layer_of, module, &index))
        return (int64_t)index;
    index = book->layers.len;
    if (ml_vec_push(&book->layers, (struct ml_cache_layer_account){.module = module}) < 0 ||
        ml_map_put(&book->layer_of, module, index) < 0)
        return -ENOMEM;
    return (int64_t)index;
}

/* The account of the block's label in its module. */
static int64_t tensor_of(struct ml_cache_book *book, const struct ml_block *block)
{
    int64_t module = ml_modules_of(&book->modules, block), layer;
    uint64_t index, key = (uint64_t)module << 32 | block->label;

    if (module < 0)
        return module;
    if (ml_map_get(&book->tensor_of, key, &index))
        return (int64_t)index;
    layer = layer_of(book, (uint32_t)module);
    index = book->tensors.len;
    if (layer < 0 ||
        ml_vec_push(&book->tensors, (struct ml_cache_tensor_account){.layer = (uint32_t)layer,
                                                                     .size_bytes = block->size}) <
            0 ||
        ml_map_put(&book->tensor_of, key, index) < 0)
        return -ENOMEM;
    return (int64_t)index;
}

/* ---- Blocks -------------------------------------------------------------- */

static struct ml_cache_latest *latest_of(struct ml_cache_book *book, uint32_t space)
{
    while (book->latest.len <= space)
        if (ml_vec_push(&book->latest, (struct ml_cache_latest){0}) < 0)
            return NULL;
    return &book->latest.items[space];
}

static bool is_cache(const struct ml_block *block)
{
    return block->category == MEMLEDGER_KV_CACHE;
}

static void gauge_add(struct ml_gauge *gauge, uint64_t bytes)
{
    gauge->live_bytes += bytes;
    if (gauge->live_bytes > gauge->peak_bytes)
        gauge->peak_bytes = gauge->live_bytes;
}

static void add_cache(struct ml_cache_book *book, struct ml_cache_latest *latest,
                      const struct ml_block *block)
{
    struct ml_scope_fact fact = ml_scope_fact_of(&book->modules.facts, block->scope);
    int64_t tensor = tensor_of(book, block);

    if (tensor < 0) {
        book->failed = -ENOMEM;
        return;
    }
    book->tensors.items[tensor].varies |= book->tensors.items[tensor].size_bytes != block->size;
    gauge_add(&book->bytes, block->size);
    gauge_add(&book->layers.items[book->tensors.items[tensor].layer].bytes, block->size);
    *latest = (struct ml_cache_latest){
        .addr = block->addr,
        .size_bytes = block->size,
        .tensor = (uint32_t)tensor,
        .thread = ml_block_thread(block),
        .replaces = fact.module && !fact.in_function,
    };
}

void ml_cache_book_add(struct ml_cache_book *book, const struct ml_block *block)
{
    struct ml_cache_latest *latest = latest_of(book, block->space);

    if (!latest)
        book->failed = -ENOMEM;
    else if (is_cache(block))
        add_cache(book, latest, block);
    else if (latest->thread == ml_block_thread(block))
        latest->replaces = false;
}

static void grow(struct ml_cache_tensor_account *tensor, int64_t bytes)
{
    struct ml_growth_bytes *each = &tensor->each;

    if (tensor->growths == 0 || bytes < each->least)
        each->least = bytes;
    if (tensor->growths == 0 || bytes > each->most)
        each->most = bytes;
    tensor->grown_bytes += bytes;
    tensor->growths++;
}

void ml_cache_book_remove(struct ml_cache_book *book, const struct ml_block *block)
{
    struct ml_cache_latest *latest = latest_of(book, block->space);
    int64_t tensor = latest && is_cache(block) ? tensor_of(book, block) : -ENOMEM;

    if (!is_cache(block))
        return;
    if (tensor < 0) {
        book->failed = -ENOMEM;
        return;
    }
    book->bytes.live_bytes -= block->size;
    book->layers.items[book->tensors.items[tensor].layer].bytes.live_bytes -= block->size;
    if (latest->replaces && latest->tensor == tensor && latest->addr != block->addr)
        grow(&book->tensors.items[tensor], (int64_t)latest->size_bytes - (int64_t)block->size);
    latest->replaces = false;
}

/* ---- The result ---------------------------------------------------------- */

static void add_bytes(struct ml_growth_bytes *sum, const struct ml_growth_bytes *more)
{
    sum->mean += more->mean;
    sum->least += more->least;
    sum->most += more->most;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static int add_layer(const struct ml_cache_layer_account *account, const struct ml_modules *modules,
                     struct ml_arena *arena, struct ml_cache_growth *ret)
{
    struct ml_cache_layer layer = {.module = ml_module_title(modules, account->module, arena),
                                   .peak_bytes = account->bytes.peak_bytes,
                                   .fixed = true};

    return layer.module ? ml_vec_push(&ret->layers, layer) : -ENOMEM;
}

/* Keys and values of a layer grow together, by the sum of both. */
static void add_tensor(struct ml_cache_tensor_account *tensor, struct ml_cache_growth *ret)
{
    struct ml_cache_layer *layer = &ret->layers.items[tensor->layer];

    layer->fixed &= !tensor->varies;
    if (tensor->growths == 0)
        return;
    tensor->each.mean = tensor->grown_bytes / (int64_t)tensor->growths;
    add_bytes(&layer->each, &tensor->each);
    layer->growths = larger(layer->growths, tensor->growths);
}

int ml_cache_book_close(struct ml_cache_book *book, struct ml_arena *arena,
                        struct ml_cache_growth *ret)
{
    int r = book->failed;

    *ret = (struct ml_cache_growth){.peak_bytes = book->bytes.peak_bytes, .fixed = true};
    for (size_t i = 0; i < book->layers.len && r == 0; i++)
        r = add_layer(&book->layers.items[i], &book->modules, arena, ret);
    for (size_t i = 0; i < book->tensors.len && r == 0; i++)
        add_tensor(&book->tensors.items[i], ret);
    for (size_t i = 0; i < ret->layers.len; i++) {
        add_bytes(&ret->each, &ret->layers.items[i].each);
        ret->growths = larger(ret->growths, ret->layers.items[i].growths);
        ret->fixed &= ret->layers.items[i].fixed;
    }
    return r;
}

void ml_cache_growth_release(struct ml_cache_growth *growth)
{
    ml_vec_release(&growth->layers);
}
