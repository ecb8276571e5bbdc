/* category_columns.h: a column for each category that occurs, as many as
 * fit; the smallest of the others share one column, "rest". All have one unit, so
 * that cells need not repeat it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REPORT_CATEGORY_COLUMNS_H
#define ML_REPORT_CATEGORY_COLUMNS_H

#include "cells.h"
#include "json.h"
#include "module_tree.h"

struct ml_category_columns {
    enum ml_unit unit;
    unsigned shown;               /* a bit for each category */
    unsigned left_out;            /* likewise; there was no room for them */
    bool rest;                    /* which share a column */
    size_t widths[ML_CATEGORIES]; /* of the widest cells so far */
    size_t rest_width;
};

/* All categories that the whole has. The unit is the style's, else one that suits `all`. */
struct ml_category_columns ml_category_columns(const struct ml_holding *all,
                                               const struct ml_style *style);

/* To be called for every row, then ml_category_fit once.
 * @room   columns of the terminal, gaps included; SIZE_MAX: unlimited */
void ml_category_measure(struct ml_category_columns *columns, const struct ml_holding *row);
void ml_category_fit(struct ml_category_columns *columns, const struct ml_holding *all,
                     size_t room);

/* A line that names the categories without a column, and how to see them; nothing if
 * all have one. @return 0 or -ENOMEM */
int ml_category_left_out(const struct ml_category_columns *columns, struct ml_buf *out);

/* A short form of the category's name, the name itself if it has none. */
const char *ml_category_short(const char *name);

/* The categories in the order of the columns. */
extern const uint8_t ml_category_order[ML_CATEGORIES];

void ml_category_titles(struct ml_table *table, const struct ml_category_columns *columns);
void ml_category_cells(struct ml_table *table, const struct ml_category_columns *columns,
                       const struct ml_holding *holding);

/* A number in the unit of the columns, empty if there are no bytes. */
void ml_category_cell(struct ml_table *table, const struct ml_category_columns *columns,
                      uint64_t bytes);
const char *ml_category_number(char buf[32], uint64_t bytes, enum ml_unit unit);

/* "MiB"; "" for ML_UNIT_AUTO. */
const char *ml_unit_name(enum ml_unit unit);

/* The key and an object with every category, including those without bytes. */
void ml_category_json(struct ml_json *json, const char *key, const struct ml_holding *holding);

#endif
