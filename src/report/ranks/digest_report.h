/* digest_report.h: a digest as JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REPORT_DIGEST_REPORT_H
#define ML_REPORT_DIGEST_REPORT_H

#include "digest.h"

/* @return 0 or -ENOMEM */
int ml_digest_json(const struct ml_digest *digest, const char *file, struct ml_buf *out);

#endif
