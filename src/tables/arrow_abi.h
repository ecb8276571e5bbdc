/* arrow_abi.h: the structs of Arrow's C data and C stream interfaces, with which pyarrow,
 * polars, pandas and DuckDB import tables without a copy. Arrow guarantees their layout and
 * names, so its library and headers are not needed.
 *
 * The receiver of a struct calls its `release` when done, from any thread; a struct whose
 * release is NULL is empty.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ARROW_ABI_H
#define ML_ARROW_ABI_H

#include <stdint.h>

enum { ARROW_FLAG_NULLABLE = 2 };

struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags;
    int64_t n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length, null_count, offset;
    int64_t n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

/* Functions return 0 or a positive errno. */
struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *ret);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *ret);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

#endif
