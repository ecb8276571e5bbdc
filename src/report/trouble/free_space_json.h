/* free_space_json.h: free memory inside segments, as keys of an open JSON object.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REPORT_FREE_SPACE_JSON_H
#define ML_REPORT_FREE_SPACE_JSON_H

#include "free_space.h"
#include "json.h"

/* A number, or null if it is not known. */
void ml_json_seen(struct ml_json *json, const char *key, const struct ml_seen *seen);

/* The keys from "allocator" to "largest_request_bytes". */
void ml_free_place_json(const struct ml_free_place *place, struct ml_json *json);

#endif
