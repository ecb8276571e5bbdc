/* elf_symbols.h: names for addresses in an ELF file, from its symbol tables.
 *
 * Only symbol and string tables are read, in one pass for all addresses, however
 * large the file is. What a file says cannot make that longer than its tables are,
 * and those have a limit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ELF_SYMBOLS_H
#define ML_ELF_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

/* A symbol, of those that hold an address the one that begins last. */
struct ml_elf_holder {
    uint64_t value;
    uint32_t name;  /* where in the table of names; 0: none */
    uint32_t order; /* of two that begin together the first counts */
};

/* An address of a file, and the function that holds it. */
struct ml_elf_query {
    uint64_t address; /* as the file counts */
    uint32_t tag;     /* the caller's */
    const char *name; /* out: valid inside the call to `found` only; NULL: not known */

    /* The search's own: a node each of the tree in which a symbol is put at few
     * places for all the queries that it holds. */
    struct ml_elf_holder leaf, inner;

    /* The last symbol that begins before the address. */
    uint64_t nearest;
    uint64_t nearest_end; /* what it reaches to if it has no size, else 0 */
    uint32_t nearest_name;
};

/* Looks all queries up, which are sorted by address, in the file if it has that
 * build-id (hexadecimal, "" for none), with the help of a separate file of debug
 * symbols where the machine has one. Calls `found` for each that has a name. A
 * file that cannot be read, or whose tables are beyond all measure, gives none.
 * @beat  called now and then in long work */
void ml_elf_symbols(const char *path, const char *build_id, struct ml_elf_query *queries, size_t n,
                    void (*found)(void *ctx, const struct ml_elf_query *query),
                    void (*beat)(void *ctx), void *ctx);

#endif
