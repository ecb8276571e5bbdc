/* memray_records.h: the records of a file that `memray run` writes.
 *
 *     "memray" NUL, u32 version, the header's fields, then records to the end
 *
 * The first byte of a record is its kind, with flags in some of its bits:
 *
 *                     version 9 to 11     from 12 on
 *     allocation      aaaa0001            1ppppaaa    p: one of 15 recent addresses, 15: a new one
 *     frame pushed    ....0100            01.....e    a: allocator; 0: in the next byte
 *     frames popped   nnnn1001            0001nnnn    n + 1 frames
 *
 * Numbers are LEB128; most are differences to the last one of their sort, in zigzag. Version 9 is
 * of memray 1.4, 10 of 1.7, 11 of 1.11, 12 of 1.19, 13 of 1.20. An aggregated file (from 10 on) has
 * sums by stack instead of events.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_MEMRAY_RECORDS_H
#define ML_MEMRAY_RECORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "import_source.h"
#include "vec.h"

#define ML_MEMRAY_OLDEST 9
#define ML_MEMRAY_NEWEST 13
#define ML_MEMRAY_MAGIC "memray" /* with its NUL */

enum ml_memray_kind {
    ML_MEMRAY_ALLOCATION = 1,
    ML_MEMRAY_FREE,
    ML_MEMRAY_MAP,
    ML_MEMRAY_UNMAP,
    ML_MEMRAY_SUM,         /* of an aggregated file */
    ML_MEMRAY_FRAME,       /* a Python frame by its number */
    ML_MEMRAY_CODE,        /* a code object, from 12 on */
    ML_MEMRAY_PUSH,        /* the thread enters a function */
    ML_MEMRAY_POP,         /* it leaves some */
    ML_MEMRAY_NODE,        /* of an aggregated file: the next Python stack */
    ML_MEMRAY_NATIVE,      /* the next native stack */
    ML_MEMRAY_MAPS_BEGIN,  /* libraries from now on */
    ML_MEMRAY_LIBRARY,     /* one of them; its segments follow */
    ML_MEMRAY_SEGMENT,     /* a part of the library before */
    ML_MEMRAY_THREAD,      /* what follows is this thread's */
    ML_MEMRAY_THREAD_NAME, /* of this thread */
    ML_MEMRAY_MEMORY,      /* the resident size */
};

struct ml_memray_sum {
    uint64_t peak_count, left_count, peak_bytes, left_bytes;
};

/* One record; each kind uses some of the fields. */
struct ml_memray_record {
    enum ml_memray_kind kind;
    uint64_t address; /* of a block, an instruction, a library or a segment (relative) */
    uint64_t bytes;   /* of a block or a segment; the resident size */
    uint64_t number;  /* of a frame or code object; a thread; how many are popped */
    uint64_t parent;  /* the caller's stack */
    uint64_t native;  /* a native stack, 0: none */
    uint64_t stack;   /* of a sum: a Python stack, 0: none */
    uint64_t maps;    /* of a sum: which set of libraries, from 1 */
    uint64_t time_ms; /* of the resident size, since the start */
    int64_t heap;     /* of an aggregated file, at that time; -1: not given */
    int32_t line;     /* of a frame; the first one of a code object */
    int32_t offset;   /* of an instruction; -1: unknown, the line is given */
    bool is_entry;    /* the interpreter's C function was called for this frame */
    bool from_python; /* a block of Python's own allocator */
    struct ml_memray_sum sum;
    const char *name, *file; /* valid until the next record */
    const uint8_t *table;
    size_t table_len;
};

struct ml_memray_file {
    struct ml_import_source *source;
    uint32_t version, python, pid;
    bool native, aggregated;
    uint64_t start_ms, end_ms; /* since 1970 */
    uint64_t main_thread, skipped_frames;
    struct ml_buf command;

    /* Private: what differences refer to. */
    uint64_t thread, pointer, native_id, instruction, frame, line;
    uint64_t recent[15];
    struct ml_buf text, table;
};

/* Reads the header; release the file after a failure too.
 * @return 0, or negative with the reason */
int ml_memray_open(struct ml_memray_file *f, struct ml_import_source *source, struct ml_error *err);
void ml_memray_release(struct ml_memray_file *f);

/* The next record. A file that ends in the middle of one is of a program that was killed.
 * @return 1; 0 at the end; negative with the reason */
int ml_memray_next(struct ml_memray_file *f, struct ml_memray_record *ret, struct ml_error *err);

#endif
