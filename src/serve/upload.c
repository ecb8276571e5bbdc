/* upload.c: see upload.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "upload.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io.h"

static int fail(struct ml_upload *upload, int r)
{
    return ml_error_set(&upload->err, r, "the file could not be stored in TMPDIR: %s",
                        strerror(-r));
}

struct ml_upload *ml_upload_begin(struct ml_private_folder *folder, const char *name)
{
    struct ml_upload *upload = calloc(1, sizeof(*upload));

    if (!upload)
        return NULL;
    upload->fd = -1;
    upload->r = ml_private_folder_place(folder, name, upload->path, &upload->err);
    if (upload->r < 0)
        return upload;
    upload->fd = open(upload->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (upload->fd < 0)
        upload->r = fail(upload, -errno);
    return upload;
}

void ml_upload_put(struct ml_upload *upload, const void *bytes, size_t len)
{
    int r;

    if (upload->r < 0)
        return;
    upload->bytes += len;
    if (upload->bytes > ML_UPLOAD_MAX_BYTES) {
        upload->r = ml_error_set(&upload->err, -EFBIG,
                                 "the file has more than 4 GiB; name it on the command line");
        return;
    }
    r = ml_write_all(upload->fd, bytes, len);
    if (r < 0)
        upload->r = fail(upload, r);
}

int ml_upload_end(struct ml_upload *upload)
{
    if (upload->fd >= 0 && close(upload->fd) && upload->r == 0)
        upload->r = fail(upload, -errno);
    upload->fd = -1;
    return upload->r;
}

void ml_upload_discard(struct ml_upload *upload)
{
    if (upload->path[0])
        unlink(upload->path);
}

void ml_upload_free(struct ml_upload *upload)
{
    if (upload && upload->fd >= 0)
        close(upload->fd);
    free(upload);
}
