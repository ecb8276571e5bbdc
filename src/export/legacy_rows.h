/* legacy_rows.h: the allocations that the old profilers listed: MXNet's allocations from the
 * GPU's driver if the trace has them; else blocks, because an allocation that a pool splits up
 * has no name. The old profilers did not list frees.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_EXPORT_LEGACY_ROWS_H
#define ML_EXPORT_LEGACY_ROWS_H

#include "exporter.h"
#include "tag_list.h"

/* @ret    the caller releases it, also after a failure
 * @return 0 or negative errno */
int ml_legacy_rows(const struct ml_trace *trace, const struct ml_export_opts *opts,
                   struct ml_tag_list *ret, struct ml_error *err);

#endif
