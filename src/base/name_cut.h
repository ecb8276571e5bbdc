/* name_cut.h: which part of a name is shown where its column has no room for all of it.
 *
 * Names of a column often begin alike ("model.encoder.layers.0.attention"), end alike, or both.
 * Their common start is told once instead of in each row, and a cut leaves what sets a name
 * apart: different names never look the same if the width allows it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_BASE_NAME_CUT_H
#define ML_BASE_NAME_CUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "table.h"
#include "vec.h"

/* The bytes that are shown: [0, head), an ellipsis if from > head, [from, to), and an ellipsis
 * if to is before the end. */
struct ml_name_cut {
    size_t head, from, to;
};

/* The bytes that all names begin with, up to the end of one of `separators`. Names that are
 * empty or in parentheses, like "(no scope)", do not take part.
 * @return 0 when nothing worth dropping is common, or fewer than two different names take part */
size_t ml_names_common(const struct ml_table_text *names, size_t count, const char *separators);

/* Whether ml_names_common has left the name out. */
bool ml_name_is_apart(const struct ml_table_text *name);

/* The first `head` columns of a name and the last of `width`; the whole name if that fits.
 * @head   less than width */
struct ml_name_cut ml_name_cut_after(const struct ml_table_text *name, size_t width, size_t head);

/* Decides how each name is shown in `width` columns, which is at least 3.
 * @ret    `count` cuts; a name that fits is whole: head is its length
 * @return 0 or -ENOMEM */
int ml_names_cut(const struct ml_table_text *names, size_t count, size_t width,
                 struct ml_name_cut *ret);

/* For names that were cut in another way: those that look alike and are not get a cut that shows
 * where they differ.
 * @looks  a hash of what is shown of each name
 * @ret    `count` cuts; only those of such names are written
 * @return 0 or -ENOMEM */
int ml_names_tell_apart(const struct ml_table_text *names, size_t count, size_t width,
                        const uint64_t *looks, struct ml_name_cut *ret);

/* Hashes what is shown, for ml_names_tell_apart. */
uint64_t ml_name_look(const void *shown, size_t len);

/* Appends what a cut shows. @return 0 or -ENOMEM */
int ml_name_cut_put(const struct ml_table_text *name, const struct ml_name_cut *cut,
                    struct ml_buf *out);

#endif
