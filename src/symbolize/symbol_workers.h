/* symbol_workers.h: processes that read libraries, several at once. A library that crashes its
 * reader ends one of these, not the command.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_SYMBOL_WORKERS_H
#define ML_SYMBOL_WORKERS_H

#include "symbol_places.h"
#include "symbolize.h"

/* One function of a place; in the order in which they were found, those of a place together. */
struct ml_symbol_row {
    uint32_t place;
    uint32_t function, file; /* offsets of texts; 0: unknown */
    uint32_t line;
};

struct ml_symbol_rows {
    ML_VEC(struct ml_symbol_row) list;
    struct ml_buf texts;   /* NUL-terminated, after a first empty one */
    ML_VEC(uint8_t) found; /* enum ml_symbol_depth by file */
};

/* Looks up all places.
 * @ret    to be released, after a failure too
 * @return 0; -EINTR if it was stopped; or another negative errno */
int ml_symbol_workers(const struct ml_symbol_places *places, const struct ml_symbolize_opts *opts,
                      struct ml_symbol_rows *ret);
void ml_symbol_rows_release(struct ml_symbol_rows *rows);

#endif
