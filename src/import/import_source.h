/* import_source.h: the bytes of a foreign file, read once from front to back.
 *
 * A file, standard input or memory; what is compressed with gzip is unpacked on the
 * way. Only a window is held, which grows as far as a caller asks to see at once.
 * Positions are those of the unpacked bytes. Not thread-safe.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_IMPORT_SOURCE_H
#define ML_IMPORT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

/* The longest line that is taken for one. */
#define ML_IMPORT_LINE_BYTES (1u << 20)

/* What the user said about the file, since it does not say it itself. */
struct ml_import_opts {
    uint64_t interval_ns; /* between two rows; 0: not said */
    const char *columns;  /* their names where a table has none; NULL: not said */
};

struct z_stream_s;

struct ml_import_source {
    const char *name; /* for messages; owned by the caller */
    struct ml_import_opts opts;

    /* The window: bytes [at, len) were not taken yet. */
    uint8_t *data;
    size_t at, len, cap;
    bool ended;        /* nothing comes after `len` */
    bool borrowed;     /* `data` is the caller's, and all there is */
    uint64_t position; /* of data[0] in the unpacked bytes */
    uint64_t line;     /* of the line that was read last, from 1; 0: not read by lines */
    bool line_cut;     /* it has no end: the source may have been cut off in it */

    int fd;
    bool close_fd;
    uint64_t file_bytes;     /* of the file as it is; 0: unknown */
    uint64_t read_bytes;     /* of it so far */
    struct z_stream_s *gzip; /* NULL: not compressed */
    uint8_t *packed;

    /* Called now and then, with what was read and is to be read. */
    void (*on_progress)(void *ctx, uint64_t done, uint64_t total);
    void *progress_ctx;
};

/* @path  "-": standard input. Must outlive the source, as its name
 * @return 0 or negative with the reason; release it only after success */
int ml_import_source_open(struct ml_import_source *s, const char *path, struct ml_error *err);

/* Bytes of the caller's, which must outlive the source and are read as they are. */
void ml_import_source_memory(struct ml_import_source *s, const uint8_t *bytes, size_t len);

void ml_import_source_release(struct ml_import_source *s);

/* At least `want` of the next bytes, fewer only where the source ends; they are not
 * taken. Valid until the next call.
 * @return 0 or negative */
int ml_import_peek(struct ml_import_source *s, size_t want, const uint8_t **ret, size_t *ret_len,
                   struct ml_error *err);

/* Takes bytes that were seen by ml_import_peek. */
static inline void ml_import_take(struct ml_import_source *s, size_t len)
{
    s->at += len;
}

/* Takes the next byte.
 * @return it, -1 at the end; after a failure to read -1 too, with the reason in `err` */
int ml_import_next_window(struct ml_import_source *s, struct ml_error *err);
static inline int ml_import_byte(struct ml_import_source *s, struct ml_error *err)
{
    if (s->at == s->len && ml_import_next_window(s, err) <= 0)
        return -1;
    return s->data[s->at++];
}

/* Takes the next line, without its end ("\n" or "\r\n"). The text is not
 * NUL-terminated; valid until the next call.
 * @return 1; 0 at the end; negative when it cannot be read or is too long */
int ml_import_line(struct ml_import_source *s, const char **ret, size_t *ret_len,
                   struct ml_error *err);

/* Position of the next byte. */
static inline uint64_t ml_import_offset(const struct ml_import_source *s)
{
    return s->position + s->at;
}

/* "FILE: line 12: ..." or "FILE: byte 345: ...". @return -EINVAL */
int ml_import_bad(const struct ml_import_source *s, struct ml_error *err, const char *fmt, ...)
    ML_PRINTF(3, 4);

#endif
