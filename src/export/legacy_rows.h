/* legacy_rows.h: the allocations that the old profilers listed: what MXNet asked the GPU's
 * driver for, where the trace has it; else blocks, since an allocation that other pools
 * cut up has no name. Frees are not theirs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_EXPORT_LEGACY_ROWS_H
#define ML_EXPORT_LEGACY_ROWS_H

#include "exporter.h"
#include "tag_list.h"

/* @ret    to be released, after a failure too
 * @return 0 or negative errno */
int ml_legacy_rows(const struct ml_trace *trace, const struct ml_export_opts *opts,
                   struct ml_tag_list *ret, struct ml_error *err);

#endif
