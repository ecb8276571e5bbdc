/* unwind_shapes.c: see unwind_shapes.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "unwind_shapes.h"

#include <alloca.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local volatile int sink;

static int deep(shape_leaf *leaf, int depth)
{
    if (!depth) {
        leaf();
        return 1;
    }
    return 1 + deep(leaf, depth - 1);
}

static int on_stack(shape_leaf *leaf, int bytes)
{
    char *room = alloca((size_t)bytes);

    memset(room, bytes, (size_t)bytes);
    sink += room[bytes / 2];
    return deep(leaf, 2) + room[0];
}

static int aligned(shape_leaf *leaf, int bytes)
{
    alignas(64) char local[128];
    char *room = alloca((size_t)bytes);

    memset(local, bytes, sizeof(local));
    memset(room, bytes, (size_t)bytes);
    bytes = deep(leaf, 1);
    sink += local[bytes] + room[0];
    return bytes;
}

static int variadic(shape_leaf *leaf, int n, ...)
{
    va_list args;
    double sum = 0;

    va_start(args, n);
    for (int i = 0; i < n; i++)
        sum += va_arg(args, double);
    va_end(args);
    return (int)sum + deep(leaf, 1);
}

static __attribute__((noinline)) int take_many(shape_leaf *leaf, int a, int b, int c, int d, int e,
                                               int f, int g, int h)
{
    leaf();
    return a + b + c + d + e + f + g + h + sink;
}

static int many_arguments(shape_leaf *leaf, int a, int b, int c, int d, int e, int f, int g, int h)
{
    int sum = take_many(leaf, h, g, f, e, d, c, b, a);

    return sum + take_many(leaf, a, c, e, g, b, d, f, h) +
           take_many(leaf, sum, 2, 3, 4, 5, 6, 7, 8);
}

static _Thread_local shape_leaf *compared;

static int compare(const void *a, const void *b)
{
    int result = *(const int *)a - *(const int *)b;

    compared();
    return result + 0 * sink;
}

static int through_libc(shape_leaf *leaf)
{
    int numbers[] = {3, 1, 2};

    compared = leaf;
    qsort(numbers, 3, sizeof(*numbers), compare);
    return numbers[0];
}

static int large(shape_leaf *leaf)
{
    char room[100000];

    memset(room, 1, sizeof(room));
    leaf();
    return room[sink & 0xff];
}

const struct shapes SHAPES = {
    SHAPES_OPTIONS, deep, on_stack, aligned, variadic, many_arguments, through_libc, large,
};
