/* memray_stacks.h: the stacks of a file of memray: Python frames, native frames, and the two in
 * one.
 *
 * memray has a stack of Python frames and one of return addresses for an allocation. The frames of
 * the interpreter's loop in the native one stand for the Python frames: each is replaced by those
 * that it runs. Without the interpreter's file that cannot be seen, and the Python frames are the
 * stack.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_MEMRAY_STACKS_H
#define ML_MEMRAY_STACKS_H

#include "eval_loop.h"
#include "import_sink.h"
#include "map.h"
#include "memray_records.h"

struct ml_memray_code {
    uint32_t name, file; /* strings */
    int32_t first_line;
    size_t table, table_len; /* in tables */
};

/* A Python frame, or a native one. */
struct ml_memray_frame {
    int64_t frame; /* of the dictionary */
    bool is_entry; /* the interpreter's loop was entered for it; native: it is in that loop */
};

/* A Python stack. */
struct ml_memray_node {
    uint32_t parent, frame, depth;
    uint32_t stack[2]; /* of the dictionary: whole, and without the frames of memray itself */
    bool made[2];
};

struct ml_memray_native {
    uint64_t address;
    uint32_t parent;
};

struct ml_memray_library {
    uint64_t base, end;
    uint32_t path;   /* string */
    uint32_t number; /* of the dictionary + 1; 0: no frame in it yet */
    struct ml_eval_loop loop;
};

struct ml_memray_segment {
    uint64_t begin, end;
    uint32_t library;
};

/* The segments of one set of libraries. */
struct ml_memray_maps {
    size_t first;
    bool sorted;
};

struct ml_memray_stacks {
    const struct ml_memray_file *file;
    struct ml_import_sink *sink;
    uint32_t process;
    bool native_frames; /* some were made: their functions are not named yet */

    /* Private. */
    struct ml_map codes; /* number -> index */
    ML_VEC(struct ml_memray_code) code;
    struct ml_buf tables;
    struct ml_map frame_numbers; /* memray's -> index */
    struct ml_intern frame_keys, node_keys, library_keys, stack_keys, native_keys;
    ML_VEC(struct ml_memray_frame) frames;
    ML_VEC(struct ml_memray_node) nodes; /* from 1 */
    ML_VEC(struct ml_memray_native) natives;
    ML_VEC(struct ml_memray_library) libraries;
    ML_VEC(struct ml_memray_segment) segments;
    ML_VEC(struct ml_memray_maps) maps;
    ML_VEC(uint32_t) stacks;                     /* by stack_keys */
    ML_VEC(struct ml_memray_frame) native_frame; /* by native_keys; entry: the interpreter's loop */
    ML_VEC(uint32_t) python, path;               /* scratch */
    ML_VEC(struct ml_memray_frame) merged;
};

/* @return 0 or -ENOMEM; release it after a failure too */
int ml_memray_stacks_init(struct ml_memray_stacks *s, const struct ml_memray_file *file,
                          struct ml_import_sink *sink, uint32_t process);
void ml_memray_stacks_release(struct ml_memray_stacks *s);

/* Takes a record that defines frames, stacks or libraries; others are ignored.
 * @return 0; -EINVAL: it refers to what is not defined; -ENOMEM */
int ml_memray_define(struct ml_memray_stacks *s, const struct ml_memray_record *record);

/* The Python stack in which `record`, a push, enters a function from `caller` (0: none).
 * @return its number, or negative as above */
int64_t ml_memray_push(struct ml_memray_stacks *s, uint32_t caller,
                       const struct ml_memray_record *record);

/* The stack of an allocation in the dictionary, 0: none.
 * @node    the Python stack; unknown numbers count as none
 * @maps    the set of libraries, from 1; 0: the last one
 * @main    in the thread that memray was started in, whose outermost frames are memray's own
 * @return  0 or negative as above */
int ml_memray_stack(struct ml_memray_stacks *s, uint64_t node, uint64_t native, uint64_t maps,
                    bool main, uint32_t *ret);

#endif
