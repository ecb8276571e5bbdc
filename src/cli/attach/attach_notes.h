/* attach_notes.h: what `memledger attach` says about the process that it has recorded.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CLI_ATTACH_NOTES_H
#define ML_CLI_ATTACH_NOTES_H

#include "attach_recording.h"

/* Processes that it started before are not recorded, if there are any. */
void ml_attach_note_children(pid_t pid);

/* The process has ended, but others that it started meanwhile are still recorded. */
void ml_attach_note_left(pid_t pid, const struct ml_session *page);

/* How the process ended, or that it goes on; then the closing note of `memledger run`. */
void ml_attach_note_end(pid_t pid, const struct ml_attach_opts *opts,
                        const struct ml_attach_recording *r, enum ml_attach_trace trace);

#endif
