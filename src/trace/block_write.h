/* block_write.h: writes a file of checkpoints, block by block.
 *
 * The file has the frame of a trace: header, settings, blocks, index, trailer. It has no events.
 * The collector writes traces themselves (trace_writer.h), which must be valid at any moment and
 * survive a full disk; a file of checkpoints can be made again.
 *
 *     ml_block_writer_open(&w, fd, wall_ns);
 *     r = ml_block_writer_setting(&w, "key", "value");
 *     r = ml_block_writer_section(&w, ML_BLOCK_CHECKPOINT, time_ns, bytes, len);
 *     r = ml_block_writer_finish(&w);
 *     ml_block_writer_release(&w);
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TRACE_BLOCK_WRITE_H
#define ML_TRACE_BLOCK_WRITE_H

#include <stdint.h>

#include "block.h"
#include "index.h"
#include "vec.h"

struct ml_block_writer {
    int fd; /* not owned */
    uint64_t start_wall_ns;
    uint64_t offset;
    uint32_t strings; /* defined so far */
    struct ZSTD_CCtx_s *zstd;
    int level; /* of compression; set it after opening. 0: a quick one */
    struct ml_buf packed, columns;
    uint64_t definition_bytes, definition_stored; /* before and after compression */
    ML_VEC(struct ml_index_entry) index;
    struct ml_index_totals totals; /* of events; zeros in a file of checkpoints */
};

/* Writes to the start of an empty file. Nothing is written yet. */
void ml_block_writer_open(struct ml_block_writer *w, int fd, uint64_t start_wall_ns);
void ml_block_writer_release(struct ml_block_writer *w);

/* Continues a file that has these blocks and ends after them; its position is there.
 * @totals  of the events in them
 * @return  0 or -ENOMEM */
int ml_block_writer_continue(struct ml_block_writer *w, int fd, const struct ml_index_entry *blocks,
                             size_t count, const struct ml_index_totals *totals);

/* Adds a block as it is in another file, except for its sequence number.
 * @return 0 or negative errno */
int ml_block_writer_copy(struct ml_block_writer *w, const struct ml_block_header *header,
                         const uint8_t *stored);

/* Adds a block of so many definitions, which are records. @return 0 or negative errno */
int ml_block_writer_definitions(struct ml_block_writer *w, uint32_t count, const uint8_t *records,
                                size_t len);

/* Adds a setting, which ml_trace_setting finds in the file. @return 0 or negative errno */
int ml_block_writer_setting(struct ml_block_writer *w, const char *key, const char *value);

/* Adds a section, which ml_trace_read_section reads: as many blocks as its bytes need.
 * @return 0 or negative errno */
int ml_block_writer_section(struct ml_block_writer *w, uint8_t type, uint64_t time_ns,
                            const uint8_t *bytes, size_t len);

/* Adds a block of encoded events, of that type. @return 0 or negative errno */
int ml_block_writer_events(struct ml_block_writer *w, uint8_t type,
                           const struct ml_block_header *header, const uint8_t *bytes, size_t len);

/* The number that the next block will have, for ml_trace_read_section. */
size_t ml_block_writer_next(const struct ml_block_writer *w);

/* Adds index and trailer. @return 0 or negative errno */
int ml_block_writer_finish(struct ml_block_writer *w);

#endif
