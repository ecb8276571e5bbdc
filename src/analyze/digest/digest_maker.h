/* digest_maker.h: makes the digest of a trace.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_DIGEST_MAKER_H
#define ML_ANALYZE_DIGEST_MAKER_H

#include "digest.h"

/* Reads the trace six times or less: for categories, peaks, modules and the ledger.
 * @ret    to be released, after a failure too
 * @return 0 or negative errno */
int ml_digest_make(const struct ml_trace *trace, struct ml_digest *ret, struct ml_error *err);

#endif
