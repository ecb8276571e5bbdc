/* arrow_dictionary.c: see arrow_dictionary.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "arrow_dictionary.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "printable.h"

/* Immutable. The dictionary and each exported array hold a reference. */
struct ml_arrow_dictionary_copy {
    atomic_uint holders;
    int64_t count;
    const void *buffers[3]; /* validity (none), offsets, bytes: after this struct */
    int64_t offsets[];
};

static void drop(struct ml_arrow_dictionary_copy *copy)
{
    /* acq_rel: the last holder frees what the others have read. */
    if (copy && atomic_fetch_sub_explicit(&copy->holders, 1, memory_order_acq_rel) == 1)
        free(copy);
}

void ml_arrow_dictionary_release(struct ml_arrow_dictionary *d)
{
    ml_intern_release(&d->texts);
    ml_map_release(&d->codes);
    ml_buf_release(&d->clean);
    drop(d->copy);
    *d = (struct ml_arrow_dictionary){0};
}

int32_t ml_arrow_dictionary_put(struct ml_arrow_dictionary *d, const char *text, size_t len)
{
    bool is_new;
    int64_t code;

    ml_buf_clear(&d->clean);
    if (ml_utf8_clean(text, len, &d->clean) < 0)
        return -ENOMEM;
    code = ml_intern_put(&d->texts, d->clean.data, d->clean.len, &is_new);
    if (code < 0)
        return -ENOMEM;
    if (is_new) {
        d->bytes += d->clean.len;
        drop(d->copy);
        d->copy = NULL;
    }
    if (d->bytes > ML_ARROW_DICTIONARY_BYTES_MAX || code > INT32_MAX)
        return -E2BIG;
    return (int32_t)code;
}

bool ml_arrow_dictionary_find(struct ml_arrow_dictionary *d, uint64_t key, int32_t *ret)
{
    uint64_t code_plus_one;

    if (!d->has_last || d->last_key != key) {
        if (!ml_map_get(&d->codes, key, &code_plus_one))
            return false;
        d->last_key = key;
        d->last_code = (int32_t)code_plus_one - 1;
        d->has_last = true;
    }
    *ret = d->last_code;
    return true;
}

int ml_arrow_dictionary_keep(struct ml_arrow_dictionary *d, uint64_t key, int32_t code)
{
    return ml_map_put(&d->codes, key, (uint64_t)code + 1);
}

static struct ml_arrow_dictionary_copy *make_copy(const struct ml_arrow_dictionary *d)
{
    uint32_t count = ml_intern_len(&d->texts);
    size_t offset_bytes = (count + (size_t)1) * sizeof(int64_t);
    struct ml_arrow_dictionary_copy *copy = malloc(sizeof(*copy) + offset_bytes + d->bytes + 1);
    char *bytes;

    if (!copy)
        return NULL;
    bytes = (char *)copy->offsets + offset_bytes;
    atomic_init(&copy->holders, 1);
    copy->count = count;
    copy->buffers[0] = NULL;
    copy->buffers[1] = copy->offsets;
    copy->buffers[2] = bytes;
    copy->offsets[0] = 0;
    for (uint32_t i = 0; i < count; i++) {
        size_t len;
        const char *text = ml_intern_get(&d->texts, i, &len);

        memcpy(bytes + copy->offsets[i], text, len);
        copy->offsets[i + 1] = copy->offsets[i] + (int64_t)len;
    }
    return copy;
}

static void release_array(struct ArrowArray *array)
{
    drop(array->private_data);
    array->release = NULL;
}

int ml_arrow_dictionary_export(struct ml_arrow_dictionary *d, struct ArrowArray *ret)
{
    if (!d->copy)
        d->copy = make_copy(d);
    if (!d->copy)
        return -ENOMEM;
    atomic_fetch_add_explicit(&d->copy->holders, 1, memory_order_relaxed);
    *ret = (struct ArrowArray){
        .length = d->copy->count,
        .n_buffers = 3,
        .buffers = d->copy->buffers,
        .release = release_array,
        .private_data = d->copy,
    };
    return 0;
}
