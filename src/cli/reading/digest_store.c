/* digest_store.c: see digest_store.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "digest_store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "block_write.h"
#include "digest_file.h"
#include "digest_maker.h"
#include "part_file.h"
#include "part_guard.h"

#define ROWS_LEAST 4 /* of a rank, however large the digest is */

/* @ret_bytes  of the whole file */
static int write_once(const struct ml_digest *digest, int fd, uint64_t *ret_bytes)
{
    struct ml_block_writer writer;
    struct ml_buf bytes = {0};
    int r = ml_digest_put(digest, &bytes);

    ml_block_writer_open(&writer, fd, digest->start_wall_ns);
    if (r == 0)
        r = ml_block_writer_setting(&writer, "digest", "memledger " MEMLEDGER_VERSION);
    if (r == 0)
        r = ml_block_writer_section(&writer, ML_BLOCK_DIGEST, 0, bytes.data, bytes.len);
    if (r == 0)
        r = ml_block_writer_finish(&writer);
    *ret_bytes = writer.offset;
    ml_block_writer_release(&writer);
    ml_buf_release(&bytes);
    return r;
}

/* @return whether it became smaller */
static bool shrink(struct ml_digest *digest)
{
    bool smaller = false;

    for (size_t i = 0; i < digest->ranks.len; i++)
        if (digest->ranks.items[i].rows.len > ROWS_LEAST) {
            ml_digest_rank_halve(&digest->ranks.items[i]);
            smaller = true;
        }
    return smaller;
}

static int write_all(struct ml_digest *digest, int fd)
{
    uint64_t bytes;
    int r = write_once(digest, fd, &bytes);

    while (r == 0 && bytes > ML_DIGEST_MAX_BYTES && shrink(digest)) {
        if (ftruncate(fd, 0) < 0 || lseek(fd, 0, SEEK_SET) < 0)
            return -errno;
        r = write_once(digest, fd, &bytes);
    }
    return r;
}

int ml_digest_store_write(struct ml_digest *digest, const char *path, bool force,
                          struct ml_error *err)
{
    char *part = NULL;
    int fd, r;

    ml_part_hold(path);
    fd = ml_part_make(path, &part);
    ml_part_guard(part);
    r = fd < 0 ? fd : write_all(digest, fd);
    if (fd >= 0)
        close(fd);
    if (r == 0)
        r = ml_part_place(part, path, force);
    if (r < 0 && part)
        unlink(part);
    ml_part_guard(NULL);
    free(part);
    if (r == -EEXIST)
        return ml_part_exists(path, err);
    return r < 0 ? ml_error_set(err, r, "%s: cannot write: %s", path, strerror(-r)) : 0;
}

int ml_digest_store_read(const char *path, struct ml_digest *ret, struct ml_error *err)
{
    struct ml_trace *file = NULL;
    int r = ml_trace_open(path, &(struct ml_trace_opts){0}, &file, err);

    *ret = (struct ml_digest){0};
    if (r < 0)
        return r;
    r = ml_digest_get(file, ret, err);
    ml_trace_free(file);
    return r < 0 ? ml_error_set(err, r, "%s: %s", path, err ? err->text : "") : 0;
}

int ml_digest_store_make(const char *path, bool salvage, struct ml_digest *ret,
                         struct ml_error *err)
{
    struct ml_trace *trace = NULL;
    int r = ml_trace_open(path, &(struct ml_trace_opts){.salvage = salvage}, &trace, err);

    *ret = (struct ml_digest){0};
    if (r == 0)
        r = ml_digest_make(trace, ret, err);
    ml_trace_free(trace);
    return r;
}
