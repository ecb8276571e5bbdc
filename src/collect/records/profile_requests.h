/* profile_requests.h: the records by which a target controls its profile, or that
 * of all servers of the run, and requests its contents.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_PROFILE_REQUESTS_H
#define ML_PROFILE_REQUESTS_H

#include "stage.h"

/* ML_REC_CONFIG, ML_REC_STATE, ML_REC_REQUEST: the record that s is at. A
 * request is answered before this returns. */
void ml_profile_take_config(struct ml_stage *stage, struct ml_source *s);
void ml_profile_take_state(struct ml_stage *stage, struct ml_source *s, uint64_t time_ns);
void ml_profile_take_request(struct ml_stage *stage, struct ml_source *s);

/* ML_REC_FILE: the file of a profile, which the target has opened. */
void ml_profile_take_file(struct ml_stage *stage, struct ml_source *s);

#endif
