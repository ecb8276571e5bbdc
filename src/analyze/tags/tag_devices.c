/* tag_devices.c: names the devices of a list of tags, if the trace has several.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tag_list.h"

#include <errno.h>

#include "intern.h"
#include "text.h"

/* Finds the devices of the entries in the list, in the order of their blocks. */
static int find_listed(const struct ml_trace *trace, const struct ml_tag_list *list,
                       struct ml_intern *ret)
{
    uint32_t last = UINT32_MAX;
    int64_t r = 0;

    for (size_t i = 0; r >= 0 && i < list->list.len; i++) {
        uint32_t space = list->list.items[i].space, len;
        const char *name;

        if (space == last)
            continue;
        last = space;
        name = ml_trace_string(trace, ml_trace_space(trace, space)->device, &len);
        r = ml_intern_put(ret, name, len, NULL);
    }
    return r < 0 ? -ENOMEM : 0;
}

static int find_others(const struct ml_trace *trace, struct ml_intern *ret)
{
    int64_t r = 0;

    for (uint32_t i = 0; r >= 0 && i < ml_trace_spaces(trace); i++) {
        uint32_t len;
        const char *name = ml_trace_string(trace, ml_trace_space(trace, i)->device, &len);

        r = ml_intern_put(ret, name, len, NULL);
    }
    return r < 0 ? -ENOMEM : 0;
}

/* "cuda:0, cuda:1 alone" */
static int put_names(const struct ml_intern *devices, uint32_t listed, struct ml_buf *text)
{
    int r = 0;

    for (uint32_t i = 0; r == 0 && i < listed; i++)
        r = ml_buf_printf(text, "%s%s", i > 0 ? ", " : "", ml_intern_get(devices, i, NULL));
    return r == 0 && listed < ml_intern_len(devices) ? ml_buf_puts(text, " alone") : r;
}

int ml_tag_list_name_devices(const struct ml_trace *trace, struct ml_tag_list *list)
{
    struct ml_intern devices = {0};
    struct ml_buf text;
    int r = find_listed(trace, list, &devices);
    uint32_t listed = ml_intern_len(&devices);

    ml_buf_init(&text);
    if (r == 0)
        r = find_others(trace, &devices);
    if (r == 0 && listed > 0 && ml_intern_len(&devices) > 1) {
        r = put_names(&devices, listed, &text);
        if (r == 0)
            list->devices = ml_arena_dup(&list->at.arena, text.data, text.len);
        r = list->devices ? r : -ENOMEM;
    }
    ml_buf_release(&text);
    ml_intern_release(&devices);
    return r;
}
