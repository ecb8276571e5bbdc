/* gzip_output.h: compress bytes with gzip into an output file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_EXPORT_GZIP_OUTPUT_H
#define ML_EXPORT_GZIP_OUTPUT_H

#include <zlib.h>

#include "output_file.h"

struct ml_gzip {
    z_stream stream;
    struct ml_output *out;
};

/* @return 0 or -ENOMEM; release in both cases */
int ml_gzip_init(struct ml_gzip *gzip, struct ml_output *out);
void ml_gzip_release(struct ml_gzip *gzip);

/* @return 0 or negative errno */
int ml_gzip_put(struct ml_gzip *gzip, const void *bytes, size_t len);

/* Ends the gzip data. */
int ml_gzip_finish(struct ml_gzip *gzip);

#endif
