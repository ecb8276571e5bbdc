/* run_symbols.c: see run_symbols.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "run_symbols.h"

#include <errno.h>
#include <sys/stat.h>

#include "progress_line.h"
#include "say.h"
#include "symbolize.h"

static bool is_asked_to_end(void *ctx)
{
    return ml_launch_asked(ctx);
}

/* A trace may go to a pipe, or be gone. */
static bool is_regular(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0;
}

void ml_run_symbols(const char *trace, bool quiet, const struct ml_launch *launch,
                    struct ml_session *page)
{
    struct ml_symbolize_opts opts = {.stops = is_asked_to_end, .ctx = (void *)launch};
    struct ml_progress_line line;
    struct ml_symbolized done;
    struct ml_error err = {0};
    int r;

    if (!is_regular(trace))
        return;
    ml_progress_line_init(&line, "looking up functions");
    if (!quiet)
        opts.progress = &line.progress;
    r = ml_symbolize(trace, &opts, &done, &err);
    ml_progress_line_end(&line);
    if (r == 0 && done.file_bytes > 0)
        atomic_store(&page->file_bytes, done.file_bytes);
    else if (r == -EINTR)
        ml_say("source lines were not looked up to the end; memledger symbolize does it later");
    else if (r < 0)
        ml_say("no source lines: %s", err.text);
    ml_symbolized_release(&done);
}
