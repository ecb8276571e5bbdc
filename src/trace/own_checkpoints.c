/* own_checkpoints.c: checkpoints in the file of the trace that they belong to.
 *
 * Their sections refer to each other by the numbers that their blocks have in a file of their own:
 * from 1, after a block of settings. In a trace they are all blocks of these types, in the same
 * order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace_end.h"

static bool is_of_checkpoints(const struct ml_index_entry *entry)
{
    switch (entry->type) {
    case ML_BLOCK_CHECKPOINT:
    case ML_BLOCK_CLASSES:
    case ML_BLOCK_PYRAMID:
    case ML_BLOCK_DIRECTORY:
    case ML_BLOCK_LANDMARKS:
    case ML_BLOCK_SAMPLES:
    case ML_BLOCK_SEGMENTS:
    case ML_BLOCK_OUTLINE: return true;
    default: return false;
    }
}

/* ---- Reading ----------------------------------------------------------------- */

static int take_blocks(const struct ml_trace *t, struct ml_trace *ret)
{
    int r = ml_vec_push(&ret->blocks, ((struct ml_index_entry){.type = ML_BLOCK_DEFS}));

    for (size_t i = 0; r == 0 && i < t->blocks.len; i++)
        if (is_of_checkpoints(&t->blocks.items[i]))
            r = ml_vec_push(&ret->blocks, t->blocks.items[i]);
    return r;
}

int ml_trace_own_checkpoints(const struct ml_trace *t, struct ml_trace **ret)
{
    struct ml_trace *own;
    int r;

    if (ml_trace_last_section(t, ML_BLOCK_DIRECTORY) < 0)
        return -ENOENT;
    own = calloc(1, sizeof(*own));
    if (!own)
        return -ENOMEM;
    own->info = t->info;
    own->path = strdup(t->path);
    own->fd = fcntl(t->fd, F_DUPFD_CLOEXEC, 0);
    r = own->fd < 0 ? -errno : own->path ? take_blocks(t, own) : -ENOMEM;
    if (r < 0)
        ml_trace_free(own);
    else
        *ret = own;
    return r;
}

/* ---- Writing ------------------------------------------------------------------ */

static int copy_blocks(struct ml_block_writer *w, const void *ctx)
{
    const struct ml_trace *checkpoints = ctx;
    struct ml_block_reader reader;
    int r = 0;

    ml_block_reader_init(&reader, checkpoints->fd, checkpoints->info.file_bytes);
    for (size_t i = 0; r == 0 && i < checkpoints->blocks.len; i++) {
        const struct ml_index_entry *entry = &checkpoints->blocks.items[i];

        if (!is_of_checkpoints(entry))
            continue;
        r = ml_block_load_entry(&reader, entry);
        if (r == 0)
            r = ml_block_writer_copy(w, &reader.header, reader.stored.data);
    }
    ml_block_reader_release(&reader);
    return r;
}

int ml_trace_embed_checkpoints(const struct ml_trace *t, const struct ml_trace *checkpoints)
{
    int r, fd = t->info.has_index ? open(t->path, O_RDWR | O_CLOEXEC | O_NOCTTY) : -1;

    if (fd < 0)
        return t->info.has_index ? -errno : -EINVAL;
    r = ml_trace_replace_end(t, fd, t->blocks.len, copy_blocks, checkpoints);
    close(fd);
    return r;
}
