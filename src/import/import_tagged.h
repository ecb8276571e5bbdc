/* import_tagged.h: allocations that a source tells by size and tag alone.
 *
 * MXNet's memory profilers gave every allocation a tag, such as "in_arg:fc1_weight",
 * and told neither its address nor its end. Here each becomes an allocation at an
 * address of its own, with the tag as its label, at a time that is its number.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_IMPORT_TAGGED_H
#define ML_IMPORT_TAGGED_H

#include "slice.h"
#include "import_sink.h"

struct ml_import_tagged {
    struct ml_import_sink *sink;
    uint32_t process, thread;
    uint64_t time_ns; /* of the last allocation; the first has 1 */
};

struct ml_tagged_block {
    uint32_t space;
    uint32_t scope, stack; /* 0: none */
    uint64_t bytes;
    uint64_t requested; /* bytes; used if has_requested */
    bool has_requested;
    struct ml_slice tag; /* empty: no label */
};

/* Marks addresses, frees and times unknown, and makes the one process. */
void ml_import_tagged_init(struct ml_import_tagged *t, struct ml_import_sink *sink);

void ml_import_tagged_put(struct ml_import_tagged *t, const struct ml_tagged_block *block);

/* A line of the source that is no allocation, as a marker. */
void ml_import_tagged_note(struct ml_import_tagged *t, struct ml_slice text);

/* What a tag says the memory is for: enum memledger_category. */
uint32_t ml_tag_category(struct ml_slice tag);

/* How much a tag looks like one of MXNet's: 0 or 1. */
bool ml_tag_is_known(struct ml_slice tag);

/* Mebibytes as bytes, to the nearest. @return false for what cannot be a size */
bool ml_mib_to_bytes(double mib, uint64_t *ret);

#endif
