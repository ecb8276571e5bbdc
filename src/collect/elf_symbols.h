/* elf_symbols.h: names for addresses in an ELF file, from its symbol tables.
 *
 * Only symbol and string tables are read, in one pass for all addresses, however
 * large the file is.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ELF_SYMBOLS_H
#define ML_ELF_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

/* An address of a file, and the function that holds it. */
struct ml_elf_query {
    uint64_t address; /* as the file counts */
    uint32_t tag;     /* the caller's */
    const char *name; /* out: valid inside the call to `found` only; NULL: not known */

    uint64_t value; /* where the function begins */

    /* The last symbol that begins before the address. */
    uint64_t nearest;
    uint64_t nearest_end; /* what it reaches to if it has no size, else 0 */
    const char *nearest_name;
};

/* Looks all queries up, which are sorted by address, in the file if it has that
 * build-id (hexadecimal, "" for none), with the help of a separate file of debug
 * symbols where the machine has one. Calls `found` for each that has a name. A
 * file that cannot be read gives no names.
 * @beat  called now and then in long work */
void ml_elf_symbols(const char *path, const char *build_id, struct ml_elf_query *queries, size_t n,
                    void (*found)(void *ctx, const struct ml_elf_query *query),
                    void (*beat)(void *ctx), void *ctx);

#endif
