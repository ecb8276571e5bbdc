/* sql_rights.h: what a query of `memledger sql` may do: only read.
 *
 * Statements, pragmas and functions are allowed by name and everything else is rejected, so
 * that a new version of SQLite does not allow more.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_SQL_RIGHTS_H
#define ML_SQL_RIGHTS_H

#include <stddef.h>

struct sqlite3;

/* Sets limits for statements and values, and turns extensions off. Once per connection. */
void ml_sql_limit(struct sqlite3 *db);

/* An action as SQLite's authorizer names it.
 * @denied  set to the action's name if it is denied and no name is set yet
 * @return SQLITE_OK or SQLITE_DENY */
int ml_sql_may(int action, const char *first, const char *second, char *denied, size_t room);

#endif
