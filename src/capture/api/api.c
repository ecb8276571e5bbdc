/* api.c: the table that programs find by name: the only symbol this library
 * exports besides the allocation hooks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "api_control.h"
#include "api_objects.h"
#include "api_report.h"
#include "memledger/memledger.h"

extern const struct memledger_api memledger_api_v1;

__attribute__((visibility("default"))) const struct memledger_api memledger_api_v1 = {
    .version = MEMLEDGER_API_VERSION,
    .struct_bytes = sizeof(struct memledger_api),
    .space_open = ml_api_space_open,
    .alloc = ml_api_alloc,
    .alloc_ex = ml_api_alloc_ex,
    .free = ml_api_free,
    .free_range = ml_api_free_range,
    .resize = ml_api_resize,
    .label = ml_api_label,
    .push = ml_api_push,
    .pop = ml_api_pop,
    .mark = ml_api_mark,
    .set_config = ml_api_set_config,
    .set_state = ml_api_set_state,
    .pause = ml_api_pause,
    .dump = ml_api_dump,
    .stats = ml_api_stats,
    .last_error = ml_api_last_error,
    .create = ml_api_create,
    .destroy = ml_api_destroy,
    .start = ml_api_start,
    .stop = ml_api_stop,
    .counter_set = ml_api_counter_set,
    .counter_adjust = ml_api_counter_adjust,
    .marker = ml_api_marker,
};
