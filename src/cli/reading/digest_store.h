/* digest_store.h: digests as files: beside the trace that they belong to, or alone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CLI_DIGEST_STORE_H
#define ML_CLI_DIGEST_STORE_H

#include "digest.h"

/* Writes the digest of a trace to a file, completely or not at all. A digest that would be too
 * large gets fewer rows.
 * @digest  may lose rows
 * @force   replace an existing file
 * @return 0, -EEXIST or another negative errno, with the reason in `err` */
int ml_digest_store_write(struct ml_digest *digest, const char *path, bool force,
                          struct ml_error *err);

/* Reads the digest in a file.
 * @ret    to be released, after a failure too
 * @return 0; -ENOENT if the file is a trace or another file in its format; or another negative
 *         errno, with the reason in `err` */
int ml_digest_store_read(const char *path, struct ml_digest *ret, struct ml_error *err);

/* Makes the digest of the trace at `path`.
 * @salvage  skip damaged blocks
 * @return 0 or negative errno, with the reason in `err` */
int ml_digest_store_make(const char *path, bool salvage, struct ml_digest *ret,
                         struct ml_error *err);

#endif
