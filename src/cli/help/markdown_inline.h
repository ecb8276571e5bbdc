/* markdown_inline.h: a line of Markdown as plain text.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CLI_MARKDOWN_INLINE_H
#define ML_CLI_MARKDOWN_INLINE_H

#include "vec.h"

/* Appends `len` bytes of Markdown without their marks: code, emphasis and escapes become their
 * text. A link to another page of the documentation becomes "memledger help TOPIC", a link to
 * a web site shows its address, and a picture shows its description.
 * @return 0 or -ENOMEM */
int ml_markdown_inline(const char *text, size_t len, struct ml_buf *out);

#endif
