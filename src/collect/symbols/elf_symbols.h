/* elf_symbols.h: names for addresses in an ELF file, from its symbol tables.
 *
 * Only symbol and string tables are read, in one pass for all addresses, however
 * large the file is. No content of a file can make that longer than its tables are,
 * and those have a limit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ELF_SYMBOLS_H
#define ML_ELF_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A symbol. Of those that contain an address, the one that begins last counts. */
struct ml_elf_holder {
    uint64_t value;
    uint32_t name;  /* offset in the table of names; 0: none */
    uint32_t order; /* of two that begin at one address, the first counts */
};

/* An address of a file, and the function that contains it. */
struct ml_elf_query {
    uint64_t address; /* in the file's numbering */
    uint32_t tag;     /* the caller's */
    const char *name; /* out: valid inside the call to `found` only; NULL: not known */

    /* Private to the search: each query is a node of a tree in which a symbol is entered at few
     * nodes for all the queries that it contains. */
    struct ml_elf_holder leaf, inner;

    /* The last symbol that begins before the address. */
    uint64_t nearest;
    uint64_t nearest_end; /* its assumed end if it has no size, else 0 */
    uint32_t nearest_name;
};

/* Looks up all queries, which are sorted by address, in the file if it has that
 * build-id (hexadecimal, "" for none), and in a separate file of debug
 * symbols if the machine has one. Calls `found` for each that has a name. A
 * file that cannot be read, or whose tables exceed the limits, gives none.
 * @root  of a process whose files they are, for both; -1: that of this process
 * @beat  called now and then in long work */
void ml_elf_symbols(int root, const char *path, const char *build_id, struct ml_elf_query *queries,
                    size_t n, void (*found)(void *ctx, const struct ml_elf_query *query),
                    void (*beat)(void *ctx), void *ctx);

/* The build-id of an ELF file in hexadecimal, "" if it has none. @return false: it is not a 64-bit
 * ELF file, or cannot be read */
#define ML_ELF_BUILD_ID_BYTES 129
bool ml_elf_build_id(const char *path, char ret[ML_ELF_BUILD_ID_BYTES]);

/* Opens an ELF file if it is a regular file and has that build-id ("": has none).
 * @return a descriptor, which the caller owns, or -1 */
int ml_elf_open(const char *path, const char *build_id);

#endif
