/* mxnet_outputs.c: see mxnet_outputs.h.
 *
 * A chunk (mxnet::NDArray::Chunk) begins with the handle of its block. If MXNet allocates with
 * another handle instead, it does so in one of the chunk's functions, which are hooked. The chunk
 * of a sparse array has more blocks, for its indices.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "mxnet_outputs.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "memledger/memledger.h"
#include "mxnet_arrays.h"
#include "mxnet_features.h"
#include "mxnet_spaces.h"
#include "mxnet_works.h"
#include "names.h"
#include "record.h"
#include "tag_words.h"
#include "unwound.h"

typedef void destroy_function(void *chunk);
typedef void alloc_function(void *chunk, uint64_t bytes);
typedef void alloc_data_function(void *chunk, const void *shape, int type);
typedef void alloc_aux_function(void *chunk, uint64_t which, const void *shape);
typedef void *space_function(const void *resource, uint64_t bytes);

static destroy_function *real_destroy;
static alloc_function *real_alloc;
static alloc_data_function *real_alloc_data;
static alloc_aux_function *real_alloc_aux;
static alloc_data_function *real_set;
static space_function *real_space, *real_host_space;
static uint32_t array_bytes, storage_type_at;
static bool is_on;
static bool asks_with_copies; /* of handles, which do not identify the chunk */

/* The purpose of this thread's current allocation. */
static __thread struct {
    const void *chunk;    /* NULL: the handle identifies it */
    const char *end;      /* suffix of the label, or "" */
    bool is_for_resource; /* memory that operators borrow */
} thread_outputs;

/* ---- Names ---------------------------------------------------------------------- */

static void expect(const void *chunk, enum memledger_category category, uint32_t label)
{
    uint64_t words[] = {ml_record_word(ML_REC_EXPECT, 0, ml_now()), (uintptr_t)chunk,
                        ml_pair(category, label)};

    ml_record(words, 3);
}

static const void *first_word(const void *at)
{
    const void *word;

    memcpy(&word, at, sizeof(word));
    return word;
}

static enum memledger_category category_of(const char *node)
{
    return strstr(node, "_backward") ? MEMLEDGER_INTERMEDIATE_GRADIENT : MEMLEDGER_ACTIVATION;
}

static uint32_t label_of(const char *node, unsigned i)
{
    char text[ML_NAME_MAX_BYTES];

    snprintf(text, sizeof(text), "%s" ML_MXNET_EDGE "%u", node, i);
    return ml_name(text);
}

/* An array that has its block already was named before, or does not belong to the node. */
static bool is_empty(const void *array)
{
    const void *chunk = first_word(array);

    return chunk && !first_word(chunk);
}

static void expect_output(const char *node, unsigned i, const void *array)
{
    if (is_empty(array))
        expect(first_word(array), category_of(node), label_of(node, i));
}

void ml_mxnet_expect_array(const void *array, enum memledger_category category, uint32_t label)
{
    if (is_on && is_empty(array))
        expect(first_word(array), category, label);
}

/* If the chunk does not identify a block that is allocated in the operator, its size does. */
static void expect_by_size(const char *node, unsigned i, const void *array)
{
    const struct ml_mxnet_handle *chunk = first_word(array);
    uint64_t words[] = {ml_record_word(ML_REC_EXPECT_OUTPUT, 0, ml_now()), chunk ? chunk->bytes : 0,
                        ml_pair(category_of(node), label_of(node, i))};

    if (is_empty(array))
        ml_record(words, 3);
}

void ml_mxnet_expect_outputs(const char *node, const void *vector, bool is_first)
{
    const struct ml_mxnet_vector *v = vector;
    unsigned i = 0;

    for (const char *at = v->begin; is_on && at < v->end; at += sizeof(void *), i++) {
        if (is_first)
            expect_output(node, i, first_word(at));
        if (!is_first || asks_with_copies)
            expect_by_size(node, i, first_word(at));
    }
}

uint64_t ml_mxnet_expect_own_outputs(const char *node, const void *vector)
{
    const struct ml_mxnet_vector *v = vector;
    uint64_t empty = 0;
    unsigned i = 0;

    for (const char *at = v->begin; is_on && at < v->end && i < 64; at += array_bytes, i++) {
        empty |= (uint64_t)is_empty(at) << i;
        expect_output(node, i, at);
    }
    return asks_with_copies ? empty : 0;
}

static void label_output(const char *node, unsigned i, const void *array)
{
    const struct ml_mxnet_handle *handle = first_word(array);
    uint32_t in =
        handle && handle->ptr ? ml_mxnet_space(handle->device_type, handle->device_id) : 0;

    if (in)
        ml_record_label(in, handle->ptr, category_of(node), label_of(node, i));
}

void ml_mxnet_label_own_outputs(const char *node, const void *vector, uint64_t which)
{
    const struct ml_mxnet_vector *v = vector;

    for (unsigned i = 0; which; i++, which >>= 1) {
        if (which & 1)
            label_output(node, i, v->begin + i * array_bytes);
    }
}

static void label_resource(uint32_t space, const void *block)
{
    ml_record_label(space, block, MEMLEDGER_TEMPORARY, ml_name(ML_MXNET_TEMP_SPACE));
}

/* If nothing identifies the chunk, the running operator may. */
static uintptr_t key_of(const void *handle)
{
    if (thread_outputs.chunk)
        return (uintptr_t)thread_outputs.chunk;
    return asks_with_copies ? ml_mxnet_result_key() : (uintptr_t)handle;
}

void ml_mxnet_name_block(uint32_t in, const void *block, const void *handle)
{
    uint32_t end = thread_outputs.chunk && thread_outputs.end[0] ? ml_name(thread_outputs.end) : 0;
    uint64_t words[] = {ml_record_word(ML_REC_LABEL_EXPECTED, in, ml_now()), (uintptr_t)block,
                        key_of(handle), end, ((const struct ml_mxnet_handle *)handle)->bytes};

    if (!is_on)
        return;
    if (thread_outputs.is_for_resource)
        label_resource(in, block);
    else
        ml_record_spaced(in, words, 5);
}

void ml_mxnet_expect_no_more(uintptr_t key)
{
    if (is_on)
        expect((const void *)key, MEMLEDGER_OTHER, 0);
}

void ml_mxnet_expect_head_gradient(uintptr_t key, unsigned i)
{
    char text[40];

    snprintf(text, sizeof(text), ML_MXNET_HEAD_GRADIENT "_%u", i);
    if (is_on)
        expect((const void *)key, MEMLEDGER_INTERMEDIATE_GRADIENT, ml_name(text));
}

/* ---- Hooks ---------------------------------------------------------------------- */

static void done(void)
{
    thread_outputs.chunk = NULL;
    thread_outputs.is_for_resource = false;
}
ML_UNWOUND(ml_mxnet_array_unwound, done)

static void begin(const void *chunk, const char *end)
{
    thread_outputs.chunk = chunk;
    thread_outputs.end = end;
}

/* Another chunk may soon have the same address. */
static void destroy(void *chunk)
{
    expect(chunk, MEMLEDGER_OTHER, 0);
    real_destroy(chunk);
}

static ML_NOINLINE void alloc(void *chunk, uint64_t bytes)
{
    ML_TELL_UNWOUND(ml_mxnet_array_unwound);
    begin(chunk, "");
    real_alloc(chunk, bytes);
    done();
}

static ML_NOINLINE void alloc_data(void *chunk, const void *shape, int type)
{
    ML_TELL_UNWOUND(ml_mxnet_array_unwound);
    begin(chunk, "");
    real_alloc_data(chunk, shape, type);
    done();
}

/* By mxnet::NDArrayStorageType. */
static const char *sparse_end(const char *chunk, uint64_t which)
{
    enum { ROW_SPARSE = 1, CSR = 2 };
    int32_t type;

    memcpy(&type, chunk + storage_type_at, sizeof(type));
    if (type == CSR)
        return ml_mxnet_part_suffix(which ? 2 : 1, 3);
    return type == ROW_SPARSE ? ml_mxnet_part_suffix(1, 2) : "";
}

static ML_NOINLINE void alloc_aux(void *chunk, uint64_t which, const void *shape)
{
    ML_TELL_UNWOUND(ml_mxnet_array_unwound);
    begin(chunk, sparse_end(chunk, which));
    real_alloc_aux(chunk, which, shape);
    done();
}

static ML_NOINLINE void set(void *chunk, const void *shape, int type)
{
    ML_TELL_UNWOUND(ml_mxnet_array_unwound);
    begin(chunk, "");
    real_set(chunk, shape, type);
    done();
}

static ML_NOINLINE void *borrow(space_function *real, const void *resource, uint64_t bytes)
{
    void *ret;

    ML_TELL_UNWOUND(ml_mxnet_array_unwound);
    thread_outputs.is_for_resource = true;
    ret = real(resource, bytes);
    done();
    return ret;
}

static void *space(const void *resource, uint64_t bytes)
{
    return borrow(real_space, resource, bytes);
}

static void *host_space(const void *resource, uint64_t bytes)
{
    return borrow(real_host_space, resource, bytes);
}

#define CHUNK "_ZN5mxnet7NDArray5Chunk"
#define RESOURCE "_ZNK5mxnet8Resource"

const struct ml_mxnet_feature *ml_mxnet_outputs_feature(const struct ml_mxnet_layout *layout)
{
    enum { SET = 4, SPACE, HOST_SPACE };
    static struct ml_mxnet_feature feature = {
        .exchanges = {{NULL, CHUNK "D1Ev", (void *)destroy, (void **)&real_destroy},
                      {NULL, CHUNK "13CheckAndAllocEm", (void *)alloc, (void **)&real_alloc},
                      {NULL, CHUNK "17CheckAndAllocDataERKNS_6TShapeEi", (void *)alloc_data,
                       (void **)&real_alloc_data},
                      {NULL, CHUNK "20CheckAndAllocAuxDataEmRKNS_6TShapeE", (void *)alloc_aux,
                       (void **)&real_alloc_aux},
                      [SET] = {NULL, CHUNK "9SetMKLMemERKNS_6TShapeEi", (void *)set,
                               (void **)&real_set},
                      [SPACE] = {NULL, RESOURCE "18get_space_internalEm", (void *)space,
                                 (void **)&real_space},
                      [HOST_SPACE] = {NULL, RESOURCE "23get_host_space_internalEm",
                                      (void *)host_space, (void **)&real_host_space}},
        .is_on = &is_on,
    };

    /* 2.0 names borrowed memory itself, and its handles identify the chunk. */
    for (unsigned i = SET; layout->version >= 20000 && i <= HOST_SPACE; i++)
        feature.exchanges[i].function = NULL;
    asks_with_copies = layout->version < 20000;
    array_bytes = layout->array_bytes;
    storage_type_at = layout->storage_type_at;
    return &feature;
}
