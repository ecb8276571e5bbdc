/* unknowns.h: the facts that an imported trace lacks, as settings of the trace.
 *
 * The source of a trace may lack addresses, frees or times. The importer then fills in numbers
 * and marks them in the setting; reports leave out figures that depend on them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_FORMAT_UNKNOWNS_H
#define ML_FORMAT_UNKNOWNS_H

#include <stddef.h>

#define ML_SETTING_IMPORT_FORMAT "import.format"   /* "tbd-log" */
#define ML_SETTING_IMPORT_UNKNOWN "import.unknown" /* "addresses,frees,times" */

/* "categories": the source has no modules and phases. The importer made them from the stacks, and
 * the analysis infers more from them than from recorded ones. */
#define ML_SETTING_IMPORT_INFERRED "import.inferred"
#define ML_INFERRED_CATEGORIES "categories"

enum ml_unknown {
    ML_UNKNOWN_ADDRESSES = 1,    /* numbers, each used once */
    ML_UNKNOWN_FREES = 2,        /* nothing is ever freed */
    ML_UNKNOWN_TIMES = 4,        /* numbers that keep the order */
    ML_UNKNOWN_SIZES = 8,        /* rounded by the source */
    ML_UNKNOWN_ORDER = 16,       /* the source has another order */
    ML_UNKNOWN_ALLOCATIONS = 32, /* several are summed up at the first */
    ML_UNKNOWN_START = 64,       /* the memory in use when the source began */
    ML_UNKNOWN_OTHERS = 128,     /* the source has only some allocations */
    ML_UNKNOWN_BIRTHS = 256,     /* blocks at time 0 were allocated earlier */
    ML_UNKNOWN_BLOCKS = 512,     /* the source has no allocations at all */
};

#define ML_UNKNOWN_COUNT 10
#define ML_UNKNOWN_TEXT_BYTES 192

/* By bit number. */
extern const char *const ml_unknown_names[ML_UNKNOWN_COUNT];

/* "addresses,frees"; "" for none. @return buf */
const char *ml_unknowns_text(unsigned bits, char buf[ML_UNKNOWN_TEXT_BYTES]);

/* The bits of such a text; ignores unknown names. NULL: 0 */
unsigned ml_unknowns_parse(const char *text);

#endif
