/* run_facts.c: see run_facts.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "run_facts.h"

#include "compiler.h"

bool ml_run_fact(const struct ml_trace *trace, size_t i, struct ml_run_fact *ret)
{
    const struct ml_trace_info *info = ml_trace_info(trace);
    const struct ml_run_fact numbers[] = {
        {"start_wall_ns", NULL, info->start_wall_ns},
        {"end_ns", NULL, info->end_ns},
        {"events", NULL, info->events},
        {"cut_short", NULL, !info->has_index},
        {"damaged_blocks", NULL, info->damaged_blocks},
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
                                ml_trace_string(trace, config->value, NULL), 0};
    return true;
}
