/* trace_defs.h: the definitions of a trace, by number.
 *
 * Filled block by block while the trace is opened, immutable afterwards. Memory grows with the
 * definitions that the file really contains: numbers must ascend by one, and the file's size
 * limits what all definition blocks unpack to.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TRACE_DEFS_H
#define ML_TRACE_DEFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "defs.h"
#include "id_table.h"

/* The limit for settings, whose numbers do not limit them. */
#define ML_TRACE_CONFIGS_MAX 65536u

/* The limit on what all definition blocks of a file, or the blocks of one section, unpack to. Real
 * ones compress to a third or a fifth, so it affects only a file crafted to fill memory. */
#define ML_TRACE_RAW_LEAST (32u << 20)
#define ML_TRACE_RAW_PER_FILE_BYTE 32

static inline uint64_t ml_trace_most_raw(uint64_t file_bytes)
{
    return ML_TRACE_RAW_LEAST + file_bytes * ML_TRACE_RAW_PER_FILE_BYTE;
}

struct ml_trace_text {
    const char *bytes; /* in the arena, NUL-terminated */
    uint32_t len;
};

struct ml_trace_defs {
    struct ml_arena arena;
    struct ml_id_table tables[ML_DEF_TAGS]; /* by tag; 0 is not used */
    bool salvage;                           /* numbers may be missing */
    uint64_t raw_left;                      /* bytes that definition blocks may still unpack to */
    uint64_t gaps_left;                     /* numbers that may still be missing */
    uint32_t inlined_stacks;                /* the last of the stacks: the file lacks them */
};

/* Empty except for string 0, scope 0 and stack 0, which every trace has.
 * @return 0 or -ENOMEM; release in either case */
int ml_trace_defs_init(struct ml_trace_defs *d, uint64_t file_bytes, bool salvage);
void ml_trace_defs_release(struct ml_trace_defs *d);

/* A record of a library, frame, stack or symbol; the caller has checked that its values fit 32
 * bits where they must.
 * @return 0, -ENOMEM, or -EBADMSG */
int ml_trace_defs_add_stack_part(struct ml_trace_defs *d, const struct ml_def *def);

/* Whether a block that unpacks to so many bytes may be read; counts the bytes. */
bool ml_trace_defs_admit(struct ml_trace_defs *d, uint32_t raw_bytes);

/* The file has grown by that many bytes. */
void ml_trace_defs_allow(struct ml_trace_defs *d, uint64_t file_bytes);

/* Add the records of an unpacked block.
 * @ret_reason  set with -EBADMSG: what is wrong; the records before it were added
 * @return 0, -ENOMEM, or -EBADMSG */
int ml_trace_defs_add(struct ml_trace_defs *d, const uint8_t *raw, size_t raw_bytes,
                      const char **ret_reason);

#endif
