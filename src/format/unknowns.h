/* unknowns.h: what an imported trace does not know, as settings of the trace.
 *
 * The file that a trace was made of may tell no addresses, no frees, no times. The
 * events then have numbers of the importer's own in these places, and the setting says
 * so; reports leave out what rests on them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_FORMAT_UNKNOWNS_H
#define ML_FORMAT_UNKNOWNS_H

#include <stddef.h>

#define ML_SETTING_IMPORT_FORMAT "import.format"   /* "tbd-log" */
#define ML_SETTING_IMPORT_UNKNOWN "import.unknown" /* "addresses,frees,times" */

enum ml_unknown {
    ML_UNKNOWN_ADDRESSES = 1,    /* numbers, each used once */
    ML_UNKNOWN_FREES = 2,        /* nothing is ever freed */
    ML_UNKNOWN_TIMES = 4,        /* numbers that keep the order */
    ML_UNKNOWN_SIZES = 8,        /* rounded by the source */
    ML_UNKNOWN_ORDER = 16,       /* the source has another one */
    ML_UNKNOWN_ALLOCATIONS = 32, /* sums of several are, at the first of them */
    ML_UNKNOWN_START = 64,       /* what was there when the source began */
    ML_UNKNOWN_OTHERS = 128,     /* the source tells of some allocations alone */
};

#define ML_UNKNOWN_COUNT 8
#define ML_UNKNOWN_TEXT_BYTES 160

/* By bit number. */
extern const char *const ml_unknown_names[ML_UNKNOWN_COUNT];

/* "addresses,frees"; "" for none. @return buf */
const char *ml_unknowns_text(unsigned bits, char buf[ML_UNKNOWN_TEXT_BYTES]);

/* The bits of such a text; names that are not known are passed over. NULL: 0 */
unsigned ml_unknowns_parse(const char *text);

#endif
