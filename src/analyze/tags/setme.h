/* setme.h: SETME.py of MXNet's memory analysis, as dictionaries.
 *
 * The file is Python, and is never run: the two dictionaries and the expected sum are read as
 * literals. Other statements do not matter, unless they change one of the three.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_SETME_H
#define ML_ANALYZE_SETME_H

#include "dictionary.h"

#define ML_SETME_DICTIONARIES 2

/* Whether a text is such a file: it assigns to one of the two dictionaries. */
bool ml_setme_recognise(const char *text);

/* Reads layer_kw_dict, then data_struct_kw_dict; those without keywords are left out.
 * @file       for messages
 * @ret        to be released up to *ret_count, after a failure too
 * @return 0, -EINVAL with the line in `err`, or -ENOMEM */
int ml_setme_parse(const char *file, const char *text,
                   struct ml_dictionary ret[ML_SETME_DICTIONARIES], size_t *ret_count,
                   struct ml_error *err);

#endif
