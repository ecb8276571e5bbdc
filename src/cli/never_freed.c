/* never_freed.c: see never_freed.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "never_freed.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "costs.h"
#include "io.h"
#include "never_freed_report.h"
#include "say.h"
#include "suppressions.h"

#define SUPPRESSIONS_MAX_BYTES (16u << 20)

static int read_text(const char *path, struct ml_buf *ret, struct ml_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), r = fd < 0 ? -errno : 0;
    struct stat st;

    if (r == 0 && fstat(fd, &st))
        r = -errno;
    if (r == 0 && (!S_ISREG(st.st_mode) || st.st_size > SUPPRESSIONS_MAX_BYTES))
        r = -EINVAL;
    if (r == 0)
        r = ml_buf_reserve(ret, (size_t)st.st_size);
    if (r == 0)
        r = ml_pread_all(fd, ret->data, (size_t)st.st_size, 0);
    if (r == 0) {
        ret->len = (size_t)st.st_size;
        ret->data[ret->len] = '\0';
    }
    if (fd >= 0)
        close(fd);
    return r < 0 ? ml_error_set(err, r, "--suppressions: %s: %s", path, strerror(-r)) : 0;
}

static int load(const char *path, struct ml_suppressions *ret, struct ml_error *err)
{
    struct ml_buf text = {0};
    int r = path ? read_text(path, &text, err) : 0;

    if (r == 0 && text.data)
        r = ml_suppressions_parse(ret, path, (const char *)text.data, err);
    ml_buf_release(&text);
    return r;
}

static bool is_suppressed(const void *ctx, const struct ml_trace *trace, uint32_t stack)
{
    return ml_suppressions_match(ctx, trace, stack);
}

/* An incomplete trace must not pass for one without leaks. */
static int judge(const struct ml_cost_report *costs)
{
    const struct ml_health *h = &costs->at.instant.health;
    char bytes[32];

    if (ml_cost_lost_blocks(&costs->total) > 0)
        ml_say("%s %s",
               ml_format_bytes(bytes, (int64_t)ml_cost_lost_bytes(&costs->total), ML_UNIT_AUTO),
               costs->reach.is_there ? "lost" : "never freed");
    else if (h->empty || h->lost > 0 || h->damaged_blocks > 0 || h->cut_short)
        ml_say("cannot judge this run: %s",
               h->empty ? "no allocation was recorded" : "events are missing");
    else
        return ML_EXIT_OK;
    return ML_EXIT_FAILURE;
}

static int print(const struct ml_trace *trace, const char *file,
                 const struct ml_never_freed_opts *opts, const struct ml_cost_report *costs)
{
    struct ml_style style = ml_report_style(opts->report);
    struct ml_buf out = {0};
    int status, r = opts->report->json ? ml_never_freed_json(trace, costs, file, &out)
                                       : ml_never_freed_text(trace, costs, file, &style, &out);

    status = r < 0 ? ml_report_fail(&(struct ml_error){0}) : ml_report_write(&out);
    ml_buf_release(&out);
    return status == ML_EXIT_OK && opts->fail ? judge(costs) : status;
}

int ml_never_freed(const struct ml_trace *trace, const char *file,
                   const struct ml_never_freed_opts *opts)
{
    struct ml_suppressions suppressions = {0};
    const struct ml_costs_opts costs_opts = {
        .snapshot = {.device = opts->device},
        .by = {ML_KEY_STACK},
        .by_count = 1,
        .limit = ML_TEMPORARY_LIMIT,
        .of = ML_COST_LEAKED,
        .top = opts->top,
        .without_names = true,
        .leaves_out = is_suppressed,
        .ctx = &suppressions,
    };
    struct ml_cost_report costs = {0};
    struct ml_error err = {0};
    int status, r = load(opts->suppressions, &suppressions, &err);

    if (r == 0)
        r = ml_costs(trace, &costs_opts, &costs, &err);
    status = r < 0 ? ml_report_fail(&err) : print(trace, file, opts, &costs);
    ml_cost_report_release(&costs);
    ml_suppressions_release(&suppressions);
    return status;
}
