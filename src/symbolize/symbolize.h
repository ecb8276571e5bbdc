/* symbolize.h: function, source file and line of each native frame of a trace, with the functions
 * that the compiler inlined, stored in the trace itself so that it can be read anywhere.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_SYMBOLIZE_H
#define ML_SYMBOLIZE_H

#include <stdbool.h>
#include <stdint.h>

#include "error.h"
#include "progress.h"
#include "vec.h"

/* Addresses of servers of debug files, which libdw asks. */
#define ML_SERVERS_VARIABLE "DEBUGINFOD_URLS"

/* What was found in a library. */
enum ml_symbol_depth {
    ML_SYMBOLS_NO_FILE, /* the file is not here, or is another version */
    ML_SYMBOLS_NONE,    /* it names none of the frames */
    ML_SYMBOLS_NAMES,   /* functions */
    ML_SYMBOLS_LINES,   /* source lines */
};

struct ml_symbolize_opts {
    const char *sysroot;   /* folder that contains the recorded machine's files; NULL: / */
    const char *debug_dir; /* folder with separate debug files; NULL: only the usual ones */
    struct ml_progress *progress;
    bool (*stops)(void *ctx); /* asked several times a second; NULL: never */
    void *ctx;
};

struct ml_symbolized_library {
    char *path;
    char *build_id;
    uint32_t frames;
    enum ml_symbol_depth found;
};

struct ml_symbolized {
    uint32_t frames;                                /* native ones in a library */
    uint32_t named;                                 /* whose function is known */
    uint32_t lines;                                 /* whose source line is known */
    uint32_t inlined;                               /* functions that were inlined into them */
    uint64_t file_bytes;                            /* of the trace, from now on */
    ML_VEC(struct ml_symbolized_library) libraries; /* most frames first */
};

/* Whether this build reads debug information. */
bool ml_symbolize_reads_lines(void);

/* Processes of their own read the libraries, several at once; one that crashes on a damaged library
 * costs only the lines of that library. Frames whose function is not found keep their name.
 * @ret    to be released, after a failure too
 * @return 0; -EINTR if it was stopped, and the trace is as it was; or another negative errno */
int ml_symbolize(const char *path, const struct ml_symbolize_opts *opts, struct ml_symbolized *ret,
                 struct ml_error *err);
void ml_symbolized_release(struct ml_symbolized *symbolized);

#endif
