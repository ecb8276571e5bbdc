/* keep_option.c: see keep_option.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "keep_option.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "text.h"

#define PART_MAX 64

static int parse_part(const char *text, struct ml_window_limits *limits)
{
    size_t len = strlen(text);
    uint64_t value;

    /* A plain number could be either. 10m are minutes, 10M is a size. */
    if (len == 0 || strchr("0123456789.", text[len - 1]))
        return -EINVAL;
    if (text[len - 1] != 'M' && ml_parse_duration_ns(text, &value) == 0) {
        limits->ns = value;
    } else if (ml_parse_bytes(text, &value) == 0) {
        limits->bytes = value;
    } else {
        return -EINVAL;
    }
    return value > 0 ? 0 : -EINVAL;
}

int ml_keep_parse(const char *text, struct ml_window_limits *ret, struct ml_error *err)
{
    const char *comma = strchr(text, ',');
    size_t len = comma ? (size_t)(comma - text) : strlen(text);
    struct ml_window_limits limits = {0};
    char first[PART_MAX];
    int r;

    snprintf(first, sizeof(first), "%.*s", (int)ml_min_u64(len, sizeof(first) - 1), text);
    r = parse_part(first, &limits);
    if (r == 0 && comma)
        r = parse_part(comma + 1, &limits);
    if (r < 0 || (comma && !(limits.bytes && limits.ns)))
        return ml_error_set(err, -EINVAL,
                            "--keep: '%s' is neither a time nor a size; write 10m, 500MB or "
                            "10m,500MB",
                            text);
    if (limits.bytes && limits.bytes < ML_WINDOW_BYTES_MIN)
        return ml_error_set(err, -EINVAL, "--keep: %s is too little; keep at least 16MiB", text);
    *ret = limits;
    return 0;
}
