/* file_answers.h: answers about the files themselves: their list, and how they change.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_SERVE_FILE_ANSWERS_H
#define ML_SERVE_FILE_ANSWERS_H

#include "http_answer.h"
#include "served_files.h"

/* {"files": [{"id": 0, "name": ..., "path": ..., "bytes": ..., "modified_ns": ...,
 * "listed": false}, ...]}; null: the file is gone */
enum MHD_Result ml_answer_files(struct MHD_Connection *connection,
                                const struct ml_served_files *files);

/* {"bytes": ..., "modified_ns": ..., "inode": ..., "recording": true}: cheap enough to ask often.
 * @number  of the request; NULL: it had none */
enum MHD_Result ml_answer_state(struct MHD_Connection *connection,
                                const struct ml_served_files *files, const char *number);

#endif
