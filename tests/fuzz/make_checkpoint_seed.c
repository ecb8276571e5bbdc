/* make_checkpoint_seed.c: writes the sections of the small traces, from which fuzzing starts.
 *
 *     make_checkpoint_seed tests/fuzz/corpus/checkpoints
 *
 * Blocks are not compressed, so that damage reaches the numbers in them. The number in a name is
 * the version of the pyramid (pyramid_tags.h). Files of older versions stay in the corpus, because
 * they must remain readable.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "checkpoint_bytes.h"
#include "section_traces.h"
#include "trace_impl.h"
#include "trace_maker.h"
#include "trace_sample.h"

static const char *const names[SECTION_TRACES] = {"sample-3", "training-3", "malloc-3"};

/* Events from one checkpoint to the next. */
static const uint64_t every[SECTION_TRACES] = {24, 40, 16};

static int copy_block(struct ml_block_reader *reader, const struct ml_index_entry *entry,
                      struct ml_maker *to)
{
    const uint8_t *raw;
    int r = ml_block_load_entry(reader, entry);

    if (r == 0)
        r = ml_block_unpack(reader, &raw);
    if (r == 0)
        ml_maker_block(to, &reader->header, raw, reader->header.raw_bytes);
    return r;
}

static int write_copy(const struct ml_trace *from, enum section_trace which, const char *path)
{
    const struct ml_maker_opts opts = {.stored = true, .start_wall_ns = which};
    struct ml_maker *to = ml_maker_create(path, &opts);
    struct ml_block_reader reader;
    int closed, r = 0;

    ml_trace_reader_init(from, &reader);
    for (size_t i = 0; r == 0 && i < from->blocks.len; i++)
        r = copy_block(&reader, &from->blocks.items[i], to);
    ml_block_reader_release(&reader);
    closed = ml_maker_close(to);
    return r < 0 ? r : closed;
}

static int write_seed(enum section_trace which, const char *folder)
{
    struct ml_trace *trace = NULL, *sections = NULL;
    struct ml_buf bytes = {0};
    char path[4096];
    int r = section_trace_open(which, &trace);

    snprintf(path, sizeof(path), "%s/%s.mled", folder, names[which]);
    if (r == 0)
        r = ml_section_bytes(trace, every[which], &bytes);
    if (r == 0)
        r = ml_bytes_open(bytes.data, bytes.len, false, &sections, NULL);
    if (r == 0)
        r = write_copy(sections, which, path);
    ml_trace_free(sections);
    ml_trace_free(trace);
    ml_buf_release(&bytes);
    return r;
}

int main(int argc, char **argv)
{
    int r = argc == 2 ? 0 : -1;

    for (int i = 0; r == 0 && i < SECTION_TRACES; i++)
        r = write_seed((enum section_trace)i, argv[1]);
    if (r < 0)
        fputs("make_checkpoint_seed FOLDER\n", stderr);
    return r < 0;
}
