/* pyramid_head.h: what the last section says about the pyramid of a device.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_PYRAMID_HEAD_H
#define ML_PYRAMID_HEAD_H

#include "bands.h"
#include "number_rows.h"

struct ml_pyramid_head {
    const char *device; /* "": all together */
    uint64_t span_ns;
    unsigned last_level;
    const ml_numbers *tiles, *pages; /* rows of the tables */
    const struct ml_bands *bands;    /* of each sort */
};

/* Appends its records. @return 0 or -ENOMEM */
int ml_pyramid_head_put(const struct ml_pyramid_head *head, struct ml_buf *out);

#endif
