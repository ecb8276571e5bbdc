/* trace_impl.h: the parts of an open trace; private to this folder.
 *
 *     trace_open.c     header, then the list of blocks, then the definitions
 *     trace_index.c    the list of blocks from the index
 *     trace_walk.c     the list of blocks by walking, where there is no index
 *     resync.c         where the next block begins, after a damaged one
 *     trace_salvage.c  which listed blocks can really be read
 *     trace_names.c    definitions by number
 *     trace_stack_defs.c  of them libraries, frames, stacks and symbols
 *     cursor.c         events, block after block
 *     follow.c         blocks that were added since
 *     trace_identity.c which file it is
 *     own_checkpoints.c  checkpoints in the file of the trace
 *     trace_end.c      adds blocks to a finished trace
 *     sections.c       checkpoints and other blocks that continue each other
 *     trace_symbols.c  source lines and inlined functions of native frames
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TRACE_IMPL_H
#define ML_TRACE_IMPL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "block_read.h"
#include "error.h"
#include "trace.h"
#include "trace_defs.h"
#include "vec.h"

struct ml_trace {
    char *path; /* for messages */
    int fd;
    bool salvage;
    const char *salvage_by; /* for messages: the option, or a command that has it */
    bool without_symbols;
    bool opened;                          /* and immutable from then on */
    uint8_t header[ML_FILE_HEADER_BYTES]; /* of the file, as it was when it was opened */
    struct ml_trace_info info;
    struct ml_trace_defs defs;
    struct ml_index_totals totals;        /* of the index; zeros without one */
    ML_VEC(struct ml_index_entry) blocks; /* all that can be read, in file order */
    struct ml_block_copy last_block;      /* of a trace that is being written: see follow.c */
    uint64_t forgotten_events;            /* in blocks that are no longer listed: see follow.h */
    uint64_t next_offset;                 /* of the block to come; 0: after the last listed one */
    unsigned stuck_polls;                 /* in a row that found the same unreadable block */
    struct ml_trace *checkpoints;         /* NULL: none */
};

/* A reader of the blocks of t, which must outlive it. */
static inline void ml_trace_reader_init(const struct ml_trace *t, struct ml_block_reader *r)
{
    ml_block_reader_init(r, t->fd, t->info.file_bytes);
    r->copy = &t->last_block;
}

/* If the recording goes on, its last events block may be replaced by a longer one at any time:
 * keeps a copy of it, so that each pass over the trace reads the same events.
 * @return 0 or negative errno; if the block has been replaced already, it is removed from the list
 */
int ml_trace_keep_last_block(struct ml_trace *t, struct ml_block_reader *r, struct ml_error *err);

/* Adds the events blocks from that one on to the figures in t->info. */
void ml_trace_sum_up(struct ml_trace *t, size_t first_block);

/* Reads a definitions block.
 * @return 0 or negative errno; a reason in r */
int ml_trace_load_def_block(struct ml_trace *t, struct ml_block_reader *r,
                            const struct ml_index_entry *e);

/* Whether a new recording has begun in the same file: it writes its header first. */
bool ml_trace_is_replaced(const struct ml_trace *t);

/* Set the message for this. @return -ESTALE */
int ml_trace_replaced_error(const struct ml_trace *t, struct ml_error *err);

/* Open a trace from a descriptor. Takes ownership of the descriptor, also on failure. Otherwise
 * as ml_trace_open.
 * @return -ESTALE: it was replaced meanwhile */
int ml_trace_open_fd(int fd, const char *path, const struct ml_trace_opts *opts,
                     struct ml_trace **ret, struct ml_error *err);

/* Fill t->blocks from the index at the end of the file.
 * @return 1, 0 when the file has no trailer, -EBADMSG when the index is damaged,
 *         or another negative errno; t->blocks is empty unless 1 */
int ml_trace_load_index(struct ml_trace *t, struct ml_block_reader *r, struct ml_error *err);

/* Fill t->blocks by walking from the file header to the last whole block.
 * @return 0 or negative errno */
int ml_trace_walk(struct ml_trace *t, struct ml_block_reader *r, struct ml_error *err);

/* Read all definition blocks.
 * @return 0 or negative errno */
int ml_trace_load_defs(struct ml_trace *t, struct ml_block_reader *r, struct ml_error *err);

/* Read the symbols section, if there is one, and insert its inlined functions into the stacks.
 * @return 0 or negative errno */
int ml_trace_load_symbols(struct ml_trace *t, struct ml_block_reader *r, struct ml_error *err);

/* Decode every events block and remove those that fail from the list, so that a cursor never
 * reads them.
 * @return 0 or negative errno */
int ml_trace_sift(struct ml_trace *t, struct ml_block_reader *r, struct ml_error *err);

/* Limits the bytes that a search may read without success. Otherwise the time for a file of
 * false block headers would grow with the square of its size. */
struct ml_resync {
    uint64_t budget_bytes;
};

/* The block after the damaged one at `offset`, which r tried last.
 * @return 1 and *ret, 0 when there is none, or negative errno */
int ml_resync(struct ml_resync *s, struct ml_block_reader *r, uint64_t offset, uint64_t *ret);

/* Whether salvage may continue after this failure of a block. */
bool ml_trace_may_pass(const struct ml_trace *t, int code);

/* Count a skipped block. `events`: how many events it contained. */
void ml_trace_count_damage(struct ml_trace *t, uint8_t type, uint32_t events);

/* Set the message for the failure of the block at `offset`. @return code */
int ml_trace_block_error(const struct ml_trace *t, uint64_t offset, int code, const char *reason,
                         struct ml_error *err);

#endif
