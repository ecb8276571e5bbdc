/* code_file.h: an executable or library and its debug information: the functions and source lines
 * of addresses.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CODE_FILE_H
#define ML_CODE_FILE_H

#include <stdint.h>

#include "symbol_places.h"
#include "symbolize.h"

/* Where the code of a place is in the source. Strings are valid in the call only. */
struct ml_code_line {
    const char *function; /* as the compiler spelled it; NULL: unknown */
    const char *file;     /* NULL: unknown */
    uint32_t line;        /* 0: unknown */
};

struct ml_code_search {
    const char *sysroot, *debug_dir; /* NULL: none */
    void (*found)(void *ctx, const struct ml_symbol_place *place, const struct ml_code_line *line);
    void *ctx;
};

/* Looks up places of one file, ordered by address, in its debug information. Calls `found` for each
 * function of a place, innermost first: the inlined ones, then the one that contains the code. Only
 * in a build with libdw. */
enum ml_symbol_depth ml_code_lines(const struct ml_code_search *search,
                                   const struct ml_symbol_place *places, uint32_t count);

/* The same in its symbol table, once for each place. */
enum ml_symbol_depth ml_code_symbols(const struct ml_code_search *search,
                                     const struct ml_symbol_place *places, uint32_t count);

#endif
