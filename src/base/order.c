/* order.c: see order.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_MAX 256

struct ml_order_chunk {
    size_t len;
    struct ml_order_entry entries[CHUNK_MAX];
};

void ml_order_init(struct ml_order *order)
{
    *order = (struct ml_order){0};
}

void ml_order_release(struct ml_order *order)
{
    for (size_t i = 0; i < order->chunks.len; i++)
        free(order->chunks.items[i].chunk);
    ml_vec_release(&order->chunks);
    ml_order_init(order);
}

/* The last chunk whose first key is at most `key`; 0 when there is none. */
static size_t chunk_of(const struct ml_order *order, uint64_t key)
{
    size_t low = 0, high = order->chunks.len;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (order->chunks.items[middle].chunk->entries[0].key <= key)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The number of entries of the chunk with keys below `key`. */
static size_t place_in(const struct ml_order_chunk *chunk, uint64_t key)
{
    size_t low = 0, high = chunk->len;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (chunk->entries[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int insert_chunk(struct ml_order *order, size_t at)
{
    struct ml_order_chunk *chunk;
    int r = ml_vec_reserve(&order->chunks, 1);

    if (r < 0)
        return r;
    chunk = malloc(sizeof(*chunk));
    if (!chunk)
        return -ENOMEM;
    chunk->len = 0;
    memmove(&order->chunks.items[at + 1], &order->chunks.items[at],
            (order->chunks.len - at) * sizeof(struct ml_order_slot));
    order->chunks.items[at].chunk = chunk;
    order->chunks.len++;
    return 0;
}

/* Moves the upper half of a full chunk into a new chunk after it. */
static int split_chunk(struct ml_order *order, size_t at)
{
    struct ml_order_chunk *full = order->chunks.items[at].chunk, *upper;
    int r = insert_chunk(order, at + 1);

    if (r < 0)
        return r;
    upper = order->chunks.items[at + 1].chunk;
    upper->len = full->len - full->len / 2;
    full->len /= 2;
    memcpy(upper->entries, &full->entries[full->len], upper->len * sizeof(full->entries[0]));
    return 0;
}

int ml_order_put(struct ml_order *order, uint64_t key, uint32_t value)
{
    struct ml_order_chunk *chunk;
    size_t at = chunk_of(order, key), place;
    int r = 0;

    if (order->chunks.len == 0)
        r = insert_chunk(order, 0);
    else if (order->chunks.items[at].chunk->len == CHUNK_MAX) {
        r = split_chunk(order, at);
        at = r == 0 ? chunk_of(order, key) : at;
    }
    if (r < 0)
        return r;
    chunk = order->chunks.items[at].chunk;
    place = place_in(chunk, key);
    if (place < chunk->len && chunk->entries[place].key == key) {
        chunk->entries[place].value = value;
        return 0;
    }
    memmove(&chunk->entries[place + 1], &chunk->entries[place],
            (chunk->len - place) * sizeof(chunk->entries[0]));
    chunk->entries[place] = (struct ml_order_entry){.key = key, .value = value};
    chunk->len++;
    order->len++;
    return 0;
}

bool ml_order_take(struct ml_order *order, uint64_t key, uint32_t *ret_value)
{
    struct ml_order_chunk *chunk;
    size_t at = chunk_of(order, key), place;

    if (order->len == 0)
        return false;
    chunk = order->chunks.items[at].chunk;
    place = place_in(chunk, key);
    if (place == chunk->len || chunk->entries[place].key != key)
        return false;
    *ret_value = chunk->entries[place].value;
    chunk->len--;
    order->len--;
    memmove(&chunk->entries[place], &chunk->entries[place + 1],
            (chunk->len - place) * sizeof(chunk->entries[0]));
    if (chunk->len == 0) {
        free(chunk);
        order->chunks.len--;
        memmove(&order->chunks.items[at], &order->chunks.items[at + 1],
                (order->chunks.len - at) * sizeof(struct ml_order_slot));
    }
    return true;
}

bool ml_order_floor(const struct ml_order *order, uint64_t key, struct ml_order_entry *ret)
{
    const struct ml_order_chunk *chunk;
    size_t place;

    if (order->len == 0)
        return false;
    chunk = order->chunks.items[chunk_of(order, key)].chunk;
    place = place_in(chunk, key);
    if (place < chunk->len && chunk->entries[place].key == key)
        *ret = chunk->entries[place];
    else if (place > 0)
        *ret = chunk->entries[place - 1];
    else
        return false;
    return true;
}

bool ml_order_ceil(const struct ml_order *order, uint64_t key, struct ml_order_entry *ret)
{
    size_t at = chunk_of(order, key), place;

    if (order->len == 0)
        return false;
    place = place_in(order->chunks.items[at].chunk, key);
    if (place == order->chunks.items[at].chunk->len) {
        if (++at == order->chunks.len)
            return false;
        place = 0;
    }
    *ret = order->chunks.items[at].chunk->entries[place];
    return true;
}
