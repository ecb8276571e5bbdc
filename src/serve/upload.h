/* upload.h: a file that was dropped on the page, received part by part into the private folder.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_SERVE_UPLOAD_H
#define ML_SERVE_UPLOAD_H

#include <stddef.h>
#include <stdint.h>

#include "private_folder.h"

#define ML_UPLOAD_MAX_BYTES (UINT64_C(4) << 30)

struct ml_upload {
    char path[PATH_MAX];
    int fd;
    uint64_t bytes;
    int r; /* the first failure, explained in `err` */
    struct ml_error err;
};

/* @name   of the file at its sender
 * @return NULL: no memory; a failure to make the file is in `r`. The caller frees it */
struct ml_upload *ml_upload_begin(struct ml_private_folder *folder, const char *name);

/* Appends a part; after a failure does nothing. */
void ml_upload_put(struct ml_upload *upload, const void *bytes, size_t len);

/* Call after the last part. @return `r` */
int ml_upload_end(struct ml_upload *upload);

/* Removes the file, which has been imported or is not wanted. */
void ml_upload_discard(struct ml_upload *upload);

/* The file stays. */
void ml_upload_free(struct ml_upload *upload);

#endif
