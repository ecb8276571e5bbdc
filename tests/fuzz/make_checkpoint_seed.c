/* make_checkpoint_seed.c: writes the checkpoints of the sample trace, from which fuzzing starts.
 *
 *     make_checkpoint_seed tests/fuzz/corpus/checkpoints/stored-1.mled
 *
 * Blocks are not compressed, so that damage reaches the numbers in them. The number in the name is
 * the version of the state (replay_state.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "checkpoint_bytes.h"
#include "trace_sample.h"

static const uint8_t types[] = {ML_BLOCK_CHECKPOINT, ML_BLOCK_CLASSES, ML_BLOCK_DIRECTORY};

/* Copies one section, which fits into one block. @return whether there is one */
static bool copy_section(const struct ml_trace *from, size_t block, struct ml_maker *to)
{
    struct ml_buf bytes = {0};
    bool found = false;

    for (size_t i = 0; !found && i < sizeof(types); i++) {
        found = ml_trace_read_section(from, block, types[i], &bytes) == 0;
        if (found)
            ml_maker_block(to, &(struct ml_block_header){.type = types[i]}, bytes.data, bytes.len);
    }
    ml_buf_release(&bytes);
    return found;
}

/* Blocks have the same numbers in the copy: the first has a setting. */
static int write_copy(const struct ml_trace *from, const char *path)
{
    struct ml_maker *to = ml_maker_create(path, &(struct ml_maker_opts){.stored = true});

    ml_maker_setting(to, "key", "value");
    ml_maker_flush(to);
    for (size_t block = 1; copy_section(from, block, to); block++)
        ;
    return ml_maker_close(to);
}

int main(int argc, char **argv)
{
    struct ml_trace *trace = NULL;
    struct ml_buf sample = {0}, checkpoints = {0};
    int r = argc == 2 ? ml_sample_make(NULL, &sample) : -1;

    if (r == 0)
        r = ml_bytes_open(sample.data, sample.len, false, &trace, NULL);
    if (r == 0)
        r = ml_checkpoint_bytes(trace, 1, &checkpoints);
    if (r == 0 && ml_checkpoint_attach(trace, &checkpoints))
        r = write_copy(ml_trace_checkpoints(trace), argv[1]);
    if (r < 0)
        fputs("make_checkpoint_seed FILE\n", stderr);
    ml_trace_free(trace);
    ml_buf_release(&sample);
    ml_buf_release(&checkpoints);
    return r < 0;
}
