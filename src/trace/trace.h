/* trace.h: an open trace file.
 *
 * Opening reads the index (or, in a file that was cut short, walks the blocks) and all
 * definitions; events are read block by block through a cursor, so memory stays small for a
 * file of any size. An open trace is immutable: any number of cursors, in any threads, may read
 * it at once.
 *
 * Files are not trusted. A damaged one gives an error that names the byte offset; with salvage,
 * damaged blocks are skipped and counted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TRACE_H
#define ML_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "error.h"
#include "event.h"
#include "index.h"
#include "vec.h"

struct ml_trace;

struct ml_trace_opts {
    bool salvage;         /* skip damaged blocks instead of failing */
    bool no_option;       /* the user cannot ask for that: errors name a command that does it */
    bool without_symbols; /* frames and stacks as they were recorded, see ML_BLOCK_SYMBOLS */
};

struct ml_trace_info {
    uint64_t start_wall_ns; /* wall clock at time 0 */
    uint64_t end_ns;        /* time of the last event */
    uint64_t file_bytes;
    uint64_t event_bytes; /* of these, in events blocks, headers included */
    uint64_t events;      /* in all events blocks */
    uint32_t event_blocks;
    bool has_index;          /* false: cut short, recovered by walking */
    bool being_written;      /* cut short because its recording goes on */
    uint64_t read_wall_ns;   /* the wall clock when the list of blocks was read */
    uint64_t ignored_bytes;  /* of an incomplete block at the end, when cut short */
    uint32_t damaged_blocks; /* skipped; only with salvage */
    uint64_t damaged_events; /* the number in their headers, if readable */
};

struct ml_process {
    uint32_t pid;
    int64_t parent; /* process number, -1: none */
    uint32_t how;   /* enum ml_process_how */
    uint64_t start_ns;
    uint32_t command; /* string */
    uint32_t role;    /* string: its role among several processes, 0: none */
    uint32_t place;   /* string: its place in a distributed job, "rank=3 world_size=8", 0: none */
};

struct ml_thread {
    uint32_t process;
    uint32_t tid;
    uint64_t start_ns;
    uint32_t name; /* string */
};

struct ml_space {
    uint32_t process;
    uint32_t device;        /* string */
    uint32_t level;         /* enum memledger_level */
    uint32_t name;          /* string */
    uint64_t sampled_bytes; /* between two samples on average, at most ML_SAMPLE_BYTES_MAX; 0: all
                               blocks are recorded. See sampled.h */
    uint64_t least_bytes;   /* of a block that is recorded */
};

struct ml_scope {
    uint32_t parent;     /* always a lower number; 0 is the root */
    uint32_t kind;       /* enum memledger_scope_kind */
    uint32_t name;       /* string */
    uint32_t class_name; /* string: the module's class, 0: none */
    uint32_t depth;      /* 0 for the root */
};

struct ml_object {
    uint32_t process;
    uint32_t kind;  /* enum memledger_object_kind */
    int64_t domain; /* object number, -1: none */
    uint32_t name;  /* string */
};

struct ml_library {
    uint32_t process;
    uint64_t base, end;
    uint32_t path;     /* string */
    uint32_t build_id; /* string, hexadecimal */
};

/* A native frame has an address, and a library if known; its names come from its symbol, if it
 * has one. A Python frame always has names. A function that the compiler inlined is a frame too:
 * it has the address of the function that contains its code. */
struct ml_frame {
    uint32_t kind;     /* enum ml_frame_kind */
    int64_t library;   /* number, -1: none known */
    uint64_t address;  /* in the library, else in the process */
    uint32_t function; /* string, 0: unknown */
    uint32_t file;
    uint32_t line; /* 0: unknown */
};

struct ml_stack {
    uint32_t caller; /* 0: none */
    uint32_t frame;  /* the innermost */
    uint32_t depth;  /* number of frames; 0 for stack 0 and for a missing stack */
};

struct ml_config {
    uint32_t key; /* string */
    uint32_t value;
};

/* The error for a path that cannot be opened, with the way out. @return -code */
int ml_trace_absent(const char *path, int code, struct ml_error *err);

/* Opens and checks a trace. On success the caller owns *ret. */
int ml_trace_open(const char *path, const struct ml_trace_opts *opts, struct ml_trace **ret,
                  struct ml_error *err);
void ml_trace_free(struct ml_trace *t);

const struct ml_trace_info *ml_trace_info(const struct ml_trace *t);

/* The time of the run when the trace was read, in ns since it began: while it is recorded, that of
 * the clock, else that of the last event. */
uint64_t ml_trace_now_ns(const struct ml_trace *t);

/* Definitions by number. A number that the file does not define gives a
 * placeholder, never NULL: string "?", and zeros for the rest. */
const char *ml_trace_string(const struct ml_trace *t, uint32_t id, uint32_t *ret_len);
const struct ml_process *ml_trace_process(const struct ml_trace *t, uint32_t id);
const struct ml_thread *ml_trace_thread(const struct ml_trace *t, uint32_t id);
const struct ml_space *ml_trace_space(const struct ml_trace *t, uint32_t id);
const struct ml_scope *ml_trace_scope(const struct ml_trace *t, uint32_t id);
const struct ml_object *ml_trace_object(const struct ml_trace *t, uint32_t id);
const struct ml_library *ml_trace_library(const struct ml_trace *t, uint32_t id);
const struct ml_frame *ml_trace_frame(const struct ml_trace *t, uint32_t id);
const struct ml_stack *ml_trace_stack(const struct ml_trace *t, uint32_t id);
const struct ml_config *ml_trace_config(const struct ml_trace *t, uint32_t i);

/* One more than the highest number defined. */
uint32_t ml_trace_strings(const struct ml_trace *t);
uint32_t ml_trace_processes(const struct ml_trace *t);
uint32_t ml_trace_threads(const struct ml_trace *t);
uint32_t ml_trace_spaces(const struct ml_trace *t);
uint32_t ml_trace_scopes(const struct ml_trace *t);
uint32_t ml_trace_objects(const struct ml_trace *t);
uint32_t ml_trace_libraries(const struct ml_trace *t);
uint32_t ml_trace_frames(const struct ml_trace *t);
uint32_t ml_trace_stacks(const struct ml_trace *t);
uint32_t ml_trace_configs(const struct ml_trace *t);

/* The value of a setting of the run ("version", "command", "host", "heap", …), NULL if the
 * trace lacks it. */
const char *ml_trace_setting(const struct ml_trace *t, const char *key);

/* The file of a trace. A file with the same numbers has the same contents. */
struct ml_trace_identity {
    uint64_t device, inode;
    uint64_t file_bytes; /* when it was opened */
    uint64_t changed_ns; /* when it was last written to */
    uint64_t hash;       /* of the file's header and end */
};

/* @return 0 or negative errno */
int ml_trace_identify(const struct ml_trace *t, struct ml_trace_identity *ret);

/* ---- Checkpoints --------------------------------------------------------- */

/* Attaches the checkpoints of a trace, a file of their own in the same format, which the trace
 * then owns. Call it right after opening, before other threads use the trace. */
void ml_trace_attach_checkpoints(struct ml_trace *t, struct ml_trace *checkpoints);

/* NULL: the trace has none. */
const struct ml_trace *ml_trace_checkpoints(const struct ml_trace *t);

/* The checkpoints in the file of the trace itself, to be attached to it or freed by the caller.
 * @return 0, -ENOENT if it has none, or another negative errno */
int ml_trace_own_checkpoints(const struct ml_trace *t, struct ml_trace **ret);

/* Copies a file of checkpoints into the file of the trace, which must have an index. A failure
 * leaves the file as it was; a crash leaves one without index, in which all events can be read.
 * @return 0 or negative errno */
int ml_trace_embed_checkpoints(const struct ml_trace *t, const struct ml_trace *checkpoints);

/* ---- Blocks that are neither definitions nor events ---------------------- */

/* Reads the section that starts at block `first` of the file: one or more blocks of that type
 * that continue each other, see docs/trace-format.md.
 * @ret    its bytes are replaced
 * @return 0, -EBADMSG if the section is damaged or of another type, or another negative errno */
int ml_trace_read_section(const struct ml_trace *t, size_t first, uint8_t type, struct ml_buf *ret);

/* The block that a section of this type starts with, the last one of the file.
 * @return -ENOENT if there is none */
int64_t ml_trace_last_section(const struct ml_trace *t, uint8_t type);

/* Compares every block, or each of a type, with its checksum.
 * @type   0: any
 * @return 0, -EBADMSG, or another negative errno */
int ml_trace_check_blocks(const struct ml_trace *t, uint8_t type);

/* ---- Events ------------------------------------------------------------ */

struct ml_cursor;

/* A cursor over the events with from_ns <= time <= to_ns. The trace must
 * outlive it; the caller owns *ret. */
int ml_cursor_open(const struct ml_trace *t, uint64_t from_ns, uint64_t to_ns,
                   struct ml_cursor **ret, struct ml_error *err);
void ml_cursor_free(struct ml_cursor *c);

/* A cursor over the events in blocks of another type: copies in a file of checkpoints. */
int ml_cursor_open_copies(const struct ml_trace *checkpoints, uint8_t type, uint64_t from_ns,
                          uint64_t to_ns, struct ml_cursor **ret, struct ml_error *err);

/* Skips the first `events` events of the trace. Blocks that contain none of the others are not
 * read. Call it before the first ml_cursor_next, on a cursor that starts at time 0. */
void ml_cursor_skip(struct ml_cursor *c, uint64_t events);

/* The number of events in the blocks that end by a time, in a trace whose times ascend. Further
 * events up to that time are in the next block only. */
uint64_t ml_trace_events_by(const struct ml_trace *t, uint64_t time_ns);

/* The next batch of events, in order; valid until the next call. Returns their
 * number, 0 at the end, a negative errno on a damaged block. */
int ml_cursor_next(struct ml_cursor *c, const struct ml_event **ret, struct ml_error *err);

/* The block whose first event comes next; NULL if the cursor is within a block, or at the end. The
 * second goes on behind it without reading it. */
const struct ml_index_entry *ml_cursor_block(struct ml_cursor *c);
void ml_cursor_pass(struct ml_cursor *c);

/* Whether no block of the trace comes after this one, so far. */
bool ml_trace_is_last(const struct ml_trace *t, const struct ml_index_entry *block);

#endif
