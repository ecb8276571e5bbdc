/* html_blob.h: bytes as text that means nothing to HTML: compressed with gzip, then base64.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_EXPORT_HTML_BLOB_H
#define ML_EXPORT_HTML_BLOB_H

#include "vec.h"

/* Appends the text of `bytes` to `out`. @return 0 or -ENOMEM */
int ml_html_blob(const void *bytes, size_t len, struct ml_buf *out);

#endif
