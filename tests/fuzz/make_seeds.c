/* make_seeds.c: writes the small traces that fuzzing starts from.
 *
 *     make_seeds tests/fuzz/corpus/trace
 *
 * The files are kept with the sources, so that a reader is tested on what older
 * versions wrote; run this again only when the format changes. The number in a
 * name is the format's minor version; a name without one is of version 0.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "gpu_seed.h"
#include "io.h"
#include "trace_sample.h"

static int write_file(const char *dir, const char *name, const struct ml_buf *bytes)
{
    char path[4096];
    int fd, code;

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0)
        return -1;
    code = ml_write_all(fd, bytes->data, bytes->len);
    return close(fd) || code ? -1 : 0;
}

static int write_sample(const char *dir, const char *name, struct ml_maker_opts opts, size_t cut)
{
    struct ml_buf bytes = {0};
    int code = ml_sample_make(&opts, &bytes);

    if (!code) {
        bytes.len -= cut;
        code = write_file(dir, name, &bytes);
    }
    ml_buf_release(&bytes);
    return code;
}

/* Blocks that a reader skips, and one event. */
static int write_odd(const char *dir)
{
    char path[4096];
    struct ml_maker *m;

    snprintf(path, sizeof(path), "%s/odd-blocks-2.mled", dir);
    m = ml_maker_create(path, &(struct ml_maker_opts){.stored = true});
    ml_maker_block(m, &(struct ml_block_header){.type = ML_BLOCK_CHECKPOINT}, "\0", 1);
    ml_maker_block(m, &(struct ml_block_header){.type = 200, .events = 3}, "later", 5);
    ml_maker_event(m, &(struct ml_event){.kind = ML_ALLOC, .time_ns = 7, .addr = 64, .size = 9});
    return ml_maker_close(m);
}

static int write_gpu(const char *dir)
{
    char path[4096];

    snprintf(path, sizeof(path), "%s/gpu-2.mled", dir);
    return gpu_seed_write(path);
}

int main(int argc, char **argv)
{
    const char *dir = argv[1];

    if (argc != 2) {
        fputs("make_seeds DIR\n", stderr);
        return 2;
    }
    if (write_sample(dir, "zstd-2.mled", (struct ml_maker_opts){.zstd_level = 3}, 0) ||
        write_sample(dir, "stored-2.mled", (struct ml_maker_opts){.stored = true}, 0) ||
        write_sample(dir, "cut-short-2.mled", (struct ml_maker_opts){.no_index = true}, 100) ||
        write_odd(dir) || write_gpu(dir)) {
        fprintf(stderr, "make_seeds: cannot write to %s\n", dir);
        return 1;
    }
    return 0;
}
