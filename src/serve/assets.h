/* assets.h: the files of the page, which web/embed.py makes part of the command.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_SERVE_ASSETS_H
#define ML_SERVE_ASSETS_H

#include <stddef.h>

struct ml_asset {
    const char *path; /* as in a request: "/index.html"; NULL at the end of the list */
    const char *type; /* its media type */
    const unsigned char *data;
    size_t bytes;
};

extern const struct ml_asset ml_assets[];

/* The page as one document, which contains its style and script; data goes between the two parts.
 */
struct ml_page_file {
    const unsigned char *head;
    size_t head_bytes;
    const unsigned char *tail;
    size_t tail_bytes;
};

extern const struct ml_page_file ml_page_file;

#endif
