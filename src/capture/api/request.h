/* request.h: asks the collector for something and waits for its answer.
 *
 * The question is a record in this thread's ring, so the collector reads it after everything that
 * this thread recorded before. One question at a time per process. A collector that is stopped or
 * gone costs the caller a second, one whose state is unknown three (collector_watch.h); one that
 * does not answer for another reason, half a minute.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REQUEST_H
#define ML_REQUEST_H

#include <stdint.h>

#include "ring.h"

/* @ret_text  set on success to the answer, which stays valid until this
 *            thread's next request; may be NULL
 * @return 0, or -1 with the reason in ml_last_error() */
int ml_request(enum ml_request what, uint64_t argument, const char **ret_text);

/* Likewise, but waits no longer than that for the collector; 0: as ml_request. */
int ml_request_within(uint64_t patience_ns, enum ml_request what, uint64_t argument,
                      const char **ret_text);

#endif
