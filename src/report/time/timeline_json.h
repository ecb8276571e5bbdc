/* timeline_json.h: a timeline in numbers: what `memledger plot --json` prints.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REPORT_TIMELINE_JSON_H
#define ML_REPORT_TIMELINE_JSON_H

#include "bands.h"
#include "job_bands.h"
#include "occasions.h"
#include "reserved_curves.h"
#include "sample_curves.h"

struct ml_timeline_numbers {
    const char *file;
    const char *device; /* the only one; NULL: all */
    uint32_t pid;       /* of the only process; 0: all */
    size_t depth;       /* of the modules; 0: as fits */
    size_t buckets;     /* of the bands and of the curves */
    const struct ml_trace *trace;
    const struct ml_bands *bands;
    const struct ml_sample_curves *sampled;
    const struct ml_reserved_curves *reserved;
    const struct ml_occasions *occasions;
    const struct ml_job_bands *job; /* of several traces by rank; NULL: of one */
    const char *const *names;       /* of these traces */
};

/* @return 0 or negative errno */
int ml_timeline_json(const struct ml_timeline_numbers *numbers, struct ml_buf *out);

#endif
