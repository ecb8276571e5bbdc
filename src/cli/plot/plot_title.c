/* plot_title.c: see plot_title.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "plot_title.h"

#include <ctype.h>
#include <string.h>

static const char *join(const char *name, const char *title, struct ml_arena *arena)
{
    const char *joined = NULL;
    struct ml_buf text = {0};

    if (ml_buf_printf(&text, "%s: %s", name, title) == 0)
        joined = ml_arena_dup(arena, text.data, text.len);
    ml_buf_release(&text);
    return joined;
}

const char *ml_plot_title_of_run(const struct ml_trace *trace, const char *name, const char *title,
                                 bool of_several, struct ml_arena *arena)
{
    if (!title)
        title = ml_trace_setting(trace, "command");
    if (!title || !*title)
        return name;
    return of_several ? join(name, title, arena) : title;
}

const char *ml_plot_title_of_runs(const struct ml_plot_request *request, struct ml_canvas *canvas,
                                  const char *words)
{
    if (request->picture.title)
        return request->picture.title;
    if (*request->common_name)
        return ml_canvas_printf(canvas, "%s: %s", request->common_name, words);
    return ml_canvas_printf(canvas, "%c%s", toupper((unsigned char)words[0]), words + 1);
}
