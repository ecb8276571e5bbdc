/* checkpoint_bytes.c: see checkpoint_bytes.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "checkpoint_bytes.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "checkpoint_maker.h"
#include "pyramid_maker.h"
#include "trace_sample.h"

static int make_bytes(const struct ml_trace *trace, uint64_t every, bool pyramids,
                      struct ml_buf *ret)
{
    const struct ml_checkpoint_opts opts = {.every_events = every};
    int r, fd = memfd_create("checkpoints", MFD_CLOEXEC);
    struct ml_block_writer writer;
    struct ml_error err = {0};

    if (fd < 0)
        return -errno;
    ml_block_writer_open(&writer, fd, 0);
    r = ml_block_writer_setting(&writer, "key", "value");
    if (r == 0)
        r = ml_checkpoints_make(trace, &opts, &writer, &err);
    if (r == 0 && pyramids)
        r = ml_pyramids_make(trace, NULL, &writer, &err);
    if (r == 0)
        r = ml_block_writer_finish(&writer);
    if (r == 0)
        r = ml_bytes_of_fd(fd, ret);
    ml_block_writer_release(&writer);
    close(fd);
    return r;
}

int ml_checkpoint_bytes(const struct ml_trace *trace, uint64_t every, struct ml_buf *ret)
{
    return make_bytes(trace, every, false, ret);
}

int ml_section_bytes(const struct ml_trace *trace, uint64_t every, struct ml_buf *ret)
{
    return make_bytes(trace, every, true, ret);
}

bool ml_checkpoint_attach(struct ml_trace *trace, const struct ml_buf *bytes)
{
    struct ml_trace *file = NULL;
    bool opened = ml_bytes_open(bytes->data, bytes->len, false, &file, NULL) == 0;

    ml_trace_attach_checkpoints(trace, opened ? file : NULL);
    return opened;
}
