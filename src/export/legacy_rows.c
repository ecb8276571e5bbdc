/* legacy_rows.c: see legacy_rows.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "legacy_rows.h"

#include "memledger/memledger.h"

int ml_legacy_rows(const struct ml_trace *trace, const struct ml_export_opts *opts,
                   struct ml_tag_list *ret, struct ml_error *err)
{
    struct ml_tag_list_opts list = {
        .device = opts->device,
        .level = opts->level,
        .gross = true,
        .progress = opts->progress,
    };

    if (list.level == 0 && ml_trace_has_mxnet_pool(trace, opts->device))
        list.level = MEMLEDGER_DRIVER;
    return ml_tag_list(trace, &list, ret, err);
}
