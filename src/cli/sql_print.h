/* sql_print.h: the rows of an SQL statement as text, CSV or JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CLI_SQL_PRINT_H
#define ML_CLI_SQL_PRINT_H

#include "error.h"
#include "style.h"

struct sqlite3_stmt;

/* ML_SQL_SAFE_CSV: see ml_csv_name. */
enum ml_sql_form { ML_SQL_TEXT, ML_SQL_CSV, ML_SQL_SAFE_CSV, ML_SQL_JSON };

/* Steps through the statement and writes to standard output; CSV and JSON row by row.
 * @return 0, or negative with the reason in `err`; -EPIPE: reported already */
int ml_sql_print(struct sqlite3_stmt *stmt, enum ml_sql_form form, const struct ml_style *style,
                 struct ml_error *err);

/* The same for ml_sql_prepare_list: a name, then its columns, wrapped to the width. */
int ml_sql_print_list(struct sqlite3_stmt *stmt, const struct ml_style *style,
                      struct ml_error *err);

#endif
