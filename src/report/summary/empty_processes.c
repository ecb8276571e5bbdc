/* empty_processes.c: see empty_processes.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "empty_processes.h"

#include <string.h>

#include "command_line.h"
#include "utf8.h"

#define MORE " \xe2\x80\xa6"
#define MORE_WIDTH 2

bool ml_process_is_empty(const struct ml_summary_process *process)
{
    return process->counted.allocations == 0 && process->signal == 0;
}

size_t ml_empty_processes(const struct ml_summary *summary)
{
    size_t n = 0;

    for (size_t i = 0; i < summary->processes.len; i++)
        n += ml_process_is_empty(&summary->processes.items[i]);
    return n;
}

/* Another image took the place of one that ended with exec(): the process is told once. */
static bool is_reported(const struct ml_summary_process *process)
{
    return ml_process_is_empty(process) && process->ending != ML_ENDING_EXEC;
}

static size_t count_told(const struct ml_summary *summary)
{
    size_t n = 0;

    for (size_t i = 0; i < summary->processes.len; i++)
        n += is_reported(&summary->processes.items[i]);
    return n;
}

static bool same_program(const char *a, const char *b)
{
    const char *x, *y;
    size_t len = ml_command_line_program(a, &x);

    return len == ml_command_line_program(b, &y) && memcmp(x, y, len) == 0;
}

/* Whether an earlier empty process ran the same program. */
static bool is_named(const struct ml_summary *summary, size_t process)
{
    for (size_t i = 0; i < process; i++)
        if (is_reported(&summary->processes.items[i]) &&
            same_program(summary->processes.items[i].command,
                         summary->processes.items[process].command))
            return true;
    return false;
}

/* Appends as many names to the line as fit. */
static int put_names(const struct ml_summary *summary, size_t width, struct ml_buf *line)
{
    const char *before = ": ";
    int r = 0;

    for (size_t i = 0; r == 0 && i < summary->processes.len; i++) {
        const struct ml_summary_process *process = &summary->processes.items[i];
        const char *name;
        size_t len = ml_command_line_program(process->command, &name), taken;

        if (len == 0 || !is_reported(process) || is_named(summary, i))
            continue;
        taken = ml_utf8_width((const char *)line->data, line->len);
        if (width && taken + strlen(before) + ml_utf8_width(name, len) + MORE_WIDTH > width)
            return ml_buf_puts(line, MORE);
        r = ml_buf_printf(line, "%s%.*s", before, (int)len, name);
        before = ", ";
    }
    return r;
}

int ml_empty_processes_text(const struct ml_summary *summary, const struct ml_style *style,
                            struct ml_buf *out)
{
    size_t count = count_told(summary);
    bool more = ml_empty_processes(summary) < summary->processes.len;
    struct ml_buf line = {0};
    char number[32];
    int r;

    if (count == 0)
        return 0;
    r = ml_buf_printf(&line, "%s%s process%s recorded nothing",
                      ml_format_count(number, (int64_t)count), more ? " more" : "",
                      count == 1 ? "" : "es");
    if (r == 0)
        r = put_names(summary, ml_prose_width(style), &line);
    if (r == 0)
        r = ml_report_safe(out, (const char *)line.data);
    ml_buf_release(&line);
    return r < 0 ? r : ml_buf_puts(out, "\n");
}
