/* vec4.h: vectors of four floats, which every x86-64 and arm64 supports, through the vector
 * extension of GCC and Clang. Loads and stores need no alignment.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef VGG19_VEC4_H
#define VGG19_VEC4_H

#include <string.h>

enum { VEC4 = 4 };

typedef float vec4 __attribute__((vector_size(16)));

static inline vec4 vec4_load(const float *from)
{
    vec4 v;
    memcpy(&v, from, sizeof(v));
    return v;
}

static inline void vec4_store(float *to, vec4 v)
{
    memcpy(to, &v, sizeof(v));
}

/* The first `count` (1 to 4) lanes; the others are 0. All four is the usual
 * case, and one instruction. */
static inline vec4 vec4_load_part(const float *from, int count)
{
    vec4 v = {0};

    if (count == VEC4)
        return vec4_load(from);
    memcpy(&v, from, (size_t)count * sizeof(float));
    return v;
}

static inline void vec4_store_part(float *to, vec4 v, int count)
{
    if (count == VEC4)
        vec4_store(to, v);
    else
        memcpy(to, &v, (size_t)count * sizeof(float));
}

static inline float vec4_sum(vec4 v)
{
    return (v[0] + v[1]) + (v[2] + v[3]);
}

#endif
