/* torch_types.c: see torch_types.h.
 *
 * The hooked functions take sizes (two words: place and number), an allocator, a set of keys, the
 * type and a format. All of them are words for the processor, whatever they are in C++, and the
 * result is written to where the first one points.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "torch_types.h"

#include "names.h"
#include "torch_hook.h"
#include "unwound.h"

typedef uintptr_t word;

typedef void *empty_function(void *ret, word sizes, word dimensions, word allocator, word keys,
                             int8_t type, word format);
typedef void *empty_strided_function(void *ret, word sizes, word dimensions, word strides,
                                     word strides_count, word allocator, word keys, int8_t type);

/* One type for each role, in all versions of PyTorch. */
typedef empty_function empty_torch_1_function;
typedef empty_strided_function empty_strided_symint_function;

ML_TORCH_TENSOR_ENTRIES(ML_TORCH_DECLARE_HOOK)

__thread struct ml_torch_types ml_torch_types;

/* ---- The mark ---------------------------------------------------------------------- */

/* In the order of c10::ScalarType. Only names of types that can hold a weight or its quantized form
 * matter; a type that is not here has an empty name, like none. */
static const char *const type_names[] = {
    "uint8",   "int8",      "int16",       "int32",         "int64",   "float16", "float32",
    "float64", "complex32", "complex64",   "complex128",    "bool",    "qint8",   "quint8",
    "qint32",  "bfloat16",  "quint4x2",    "quint2x4",      "bits1x8", "bits2x4", "bits4x2",
    "bits8",   "bits16",    "float8_e5m2", "float8_e4m3fn",
};

static const char *name_of(unsigned type)
{
    return type && type <= sizeof(type_names) / sizeof(*type_names) ? type_names[type - 1] : "";
}

static void record_type(unsigned type)
{
    const char *name = name_of(type);
    uint32_t number = *name ? ml_name(name) : 0;
    uint64_t words[] = {ml_record_word(ML_MARK, 0, ml_now_unfenced()), ML_MARK_TYPE, 0, number};

    ml_record(words, 4);
}

/* A thread's blocks have no type until a mark gives them one, in each recording. */
ML_NOINLINE void ml_torch_type_changed(void)
{
    struct ml_torch_types *t = &ml_torch_types;
    uint8_t said = t->recording == ml_record_place() ? t->recorded : 0;

    if (t->now != said)
        record_type(t->now);
    /* A pause drops the mark: the thread says it again after it. */
    t->recorded = !ml_writer->ring || ml_turn_is_current() ? t->now : said;
    t->recording = ml_record_place();
    if (!t->making)
        t->now = 0; /* the block was that of a tensor made without memory */
}

/* ---- The hooks --------------------------------------------------------------------- */

static void begin(int8_t type)
{
    ml_torch_types.now = (uint8_t)(type + 1);
    ml_torch_types.making = true;
    ml_torch_types.used = false;
}

static void end(void)
{
    if (ml_torch_types.used)
        ml_torch_types.now = 0;
    ml_torch_types.making = false;
}

static void give_up(void)
{
    ml_torch_types.now = 0;
    ml_torch_types.making = false;
}

/* The exception of a tensor for which there is no memory passes through. */
ML_UNWOUND(ml_torch_empty_unwound, give_up)

static ML_NOINLINE void *make(empty_function *real, void *ret, word sizes, word dimensions,
                              word allocator, word keys, int8_t type, word format)
{
    ML_TELL_UNWOUND(ml_torch_empty_unwound);
    begin(type);
    ret = real(ret, sizes, dimensions, allocator, keys, type, format);
    end();
    return ret;
}

static ML_NOINLINE void *make_strided(empty_strided_function *real, void *ret, word sizes,
                                      word dimensions, word strides, word strides_count,
                                      word allocator, word keys, int8_t type)
{
    ML_TELL_UNWOUND(ml_torch_empty_unwound);
    begin(type);
    ret = real(ret, sizes, dimensions, strides, strides_count, allocator, keys, type);
    end();
    return ret;
}

void *empty(void *ret, word sizes, word dimensions, word allocator, word keys, int8_t type,
            word format)
{
    return make(ML_TORCH_REAL(empty), ret, sizes, dimensions, allocator, keys, type, format);
}

void *empty_torch_1(void *ret, word sizes, word dimensions, word allocator, word keys, int8_t type,
                    word format)
{
    return make(ML_TORCH_REAL(empty_torch_1), ret, sizes, dimensions, allocator, keys, type,
                format);
}

void *empty_strided(void *ret, word sizes, word dimensions, word strides, word strides_count,
                    word allocator, word keys, int8_t type)
{
    return make_strided(ML_TORCH_REAL(empty_strided), ret, sizes, dimensions, strides,
                        strides_count, allocator, keys, type);
}

void *empty_strided_symint(void *ret, word sizes, word dimensions, word strides, word strides_count,
                           word allocator, word keys, int8_t type)
{
    return make_strided(ML_TORCH_REAL(empty_strided_symint), ret, sizes, dimensions, strides,
                        strides_count, allocator, keys, type);
}
