/* view_files.h: the files of `memledger view`: those that were named, or recent ones to choose
 * from.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CLI_VIEW_FILES_H
#define ML_CLI_VIEW_FILES_H

#include "opened_file.h"
#include "served_files.h"

/* Adds a trace, or what an import makes of a file of another program, with progress on a terminal.
 * A file that cannot be read is an error now, not a page without numbers.
 * @ret_damaged  only a part of the trace can be read
 * @return an exit code, after a message */
int ml_view_add_file(struct ml_served_files *files, const struct ml_opening *opening,
                     const char *path, bool *ret_damaged);

/* Lists the traces of the current folder and those that were recorded lately. Number 0 stays
 * unused, so that the page begins with the list. */
void ml_view_add_recent(struct ml_served_files *files);

#endif
