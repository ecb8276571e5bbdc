/* import_tagged.h: allocations of which a source has only size and tag.
 *
 * MXNet's memory profilers gave every allocation a tag, such as "in_arg:fc1_weight", and
 * recorded neither its address nor its free. Here each becomes an allocation with a unique
 * address, the tag as its label, and its number as its time.
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

/* Marks addresses, frees and times unknown, and defines the only process. */
void ml_import_tagged_init(struct ml_import_tagged *t, struct ml_import_sink *sink);

void ml_import_tagged_put(struct ml_import_tagged *t, const struct ml_tagged_block *block);

/* Adds a line of the source that is not an allocation, as a marker. */
void ml_import_tagged_note(struct ml_import_tagged *t, struct ml_slice text);

/* The category that a tag implies: enum memledger_category. */
uint32_t ml_tag_category(struct ml_slice tag);

/* Whether a tag looks like one of MXNet's. */
bool ml_tag_is_known(struct ml_slice tag);

/* Mebibytes as bytes, rounded to nearest. @return false for an invalid size */
bool ml_mib_to_bytes(double mib, uint64_t *ret);

#endif
