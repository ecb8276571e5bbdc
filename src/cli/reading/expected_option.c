/* expected_option.c: see expected_option.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "expected_option.h"

#include <string.h>

#include "sampled_total.h"
#include "text.h"

int ml_expected_total_parse(const struct ml_verb *verb, const char *text,
                            struct ml_expected_total *ret)
{
    *ret = (struct ml_expected_total){.known = text, .from_samples = text && !strcmp(text, "auto")};
    if (!text || ret->from_samples || ml_parse_bytes(text, &ret->bytes) == 0)
        return -1;
    return ml_verb_usage_error(verb, "--expected: '%s' is neither auto nor a size (4GiB)", text);
}

int ml_expected_total_find(const struct ml_expected_total *expected, const struct ml_trace *trace,
                           const struct ml_tag_list *list, const char *device,
                           struct ml_grouping_opts *ret, struct ml_error *err)
{
    struct ml_sampled_total_opts opts = {
        .device = device,
        .at_peak = list->gross,
        .time_ns = list->at.instant.time_ns,
    };

    ret->has_expected = expected->known;
    ret->expected_bytes = expected->bytes;
    return expected->from_samples ? ml_sampled_total(trace, &opts, &ret->expected_bytes, err) : 0;
}
