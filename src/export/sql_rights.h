/* sql_rights.h: what a question to `memledger sql` may do: read, and nothing else.
 *
 * Statements, pragmas and functions are allowed by name; what is not named here is refused, so
 * that a new version of SQLite allows no more than the one that this was written for.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_SQL_RIGHTS_H
#define ML_SQL_RIGHTS_H

#include <stddef.h>

struct sqlite3;

/* Bounds for statements and values, and no extensions, once for a connection. */
void ml_sql_limit(struct sqlite3 *db);

/* An action as SQLite's authorizer names it.
 * @denied  set to its name when it is not allowed, unless it has one already
 * @return SQLITE_OK or SQLITE_DENY */
int ml_sql_may(int action, const char *first, const char *second, char *denied, size_t room);

#endif
