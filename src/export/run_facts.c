/* run_facts.c: see run_facts.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "run_facts.h"

#include "compiler.h"
#include "unknowns.h"

static bool lacks_times(const struct ml_trace *trace)
{
    return ml_unknowns_parse(ml_trace_setting(trace, ML_SETTING_IMPORT_UNKNOWN)) & ML_UNKNOWN_TIMES;
}

bool ml_run_fact(const struct ml_trace *trace, size_t i, struct ml_run_fact *ret)
{
    const struct ml_trace_info *info = ml_trace_info(trace);
    const struct ml_run_fact numbers[] = {
        {"start_wall_ns", NULL, info->start_wall_ns, info->start_wall_ns == 0},
        {"end_ns", NULL, info->end_ns, lacks_times(trace)},
        {"events", NULL, info->events, false},
        {"cut_short", NULL, !info->has_index, false},
        {"damaged_blocks", NULL, info->damaged_blocks, false},
    };
    const struct ml_config *config;

    if (i < ML_ARRAY_SIZE(numbers)) {
        *ret = numbers[i];
        return true;
    }
    i -= ML_ARRAY_SIZE(numbers);
    if (i >= ml_trace_configs(trace))
        return false;
    config = ml_trace_config(trace, (uint32_t)i);
    *ret = (struct ml_run_fact){ml_trace_string(trace, config->key, NULL),
                                ml_trace_string(trace, config->value, NULL), 0, false};
    return true;
}
