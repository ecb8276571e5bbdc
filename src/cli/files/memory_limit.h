/* memory_limit.h: the memory limit of commands that read files.
 *
 * A file of a few kilobytes can need gigabytes: equal events are compressed to almost
 * nothing. The process therefore gets a limit from the kernel, by default from the size
 * of the files; an allocation above it fails like any other, and the command ends with an
 * error that names --max-memory.
 *
 * State of the process: for commands only, in one thread. Children would inherit the
 * limit, so commands that start programs have none.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CLI_MEMORY_LIMIT_H
#define ML_CLI_MEMORY_LIMIT_H

#include <stdint.h>

#include "error.h"

/* Without --max-memory: a base, and a factor for the bytes of all files.
 * A recorded event takes a byte or two in a trace and 40 to 400 in memory. */
#define ML_MEMORY_LEAST_BYTES (UINT64_C(1) << 30)
#define ML_MEMORY_PER_FILE_BYTE 256

/* The option of every command that reads files.
 * @opts, @field  its uint64_t in the struct of that type */
#define ML_OPTION_MAX_MEMORY(opts, field)                                                          \
    {                                                                                              \
        .name = "max-memory", .type = ML_OPT_BYTES, .offset = offsetof(opts, field),               \
        .value_name = "SIZE", .help = "use at most SIZE of memory (1 GiB + 256 x file size)"       \
    }

/* Sets the limit, before the file is read; with several files it rises with each.
 * @path   must stay valid; "-" is standard input
 * @asked  from --max-memory; 0: by the files' sizes */
void ml_memory_limit(const char *path, uint64_t asked);

/* If memory ran out, probably because of the limit, replaces the error by one that says
 * so. An error without a text means that memory ran out. */
void ml_memory_explain(struct ml_error *err);

#endif
