/* digest_file.h: a digest as bytes, and back. docs/digest-format.md describes them.
 *
 * A file of a digest has the frame of a trace, with one section: ml_block_writer writes it,
 * ml_trace_open opens it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_DIGEST_FILE_H
#define ML_ANALYZE_DIGEST_FILE_H

#include "digest.h"

/* Appends the records of the section. @return 0 or -ENOMEM */
int ml_digest_put(const struct ml_digest *digest, struct ml_buf *out);

/* Reads the digest in a file. Every number is checked.
 * @file   may be any trace
 * @ret    to be released, after a failure too
 * @return 0, -ENOENT if the file has no digest, -EBADMSG, -EPROTONOSUPPORT if it is of a later
 *         version, or another negative errno, with the reason in `err` */
int ml_digest_get(const struct ml_trace *file, struct ml_digest *ret, struct ml_error *err);

#endif
