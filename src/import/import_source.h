/* import_source.h: the bytes of a foreign file, read once from front to back.
 *
 * A file, standard input or memory; gzip, zstd and LZ4 data are decompressed while reading. Only a
 * window is kept in memory, which grows to what a caller peeks at. Positions count unpacked bytes.
 * Not thread-safe.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_IMPORT_SOURCE_H
#define ML_IMPORT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

/* The longest line that is accepted. */
#define ML_IMPORT_LINE_BYTES (1u << 20)

/* What the user said about the file, because the file does not contain it. */
struct ml_import_opts {
    uint64_t interval_ns; /* between two rows; 0: not given */
    const char *columns;  /* names for a table without them; NULL: not given */
};

struct z_stream_s;

struct ml_import_source {
    const char *name; /* for messages; owned by the caller */
    struct ml_import_opts opts;

    /* The window: bytes [at, len) have not been taken yet. */
    uint8_t *data;
    size_t at, len, cap;
    bool ended;        /* the source ends at `len` */
    bool borrowed;     /* `data` belongs to the caller and is the whole source */
    uint64_t position; /* of data[0] in the unpacked bytes */
    uint64_t line;     /* of the line that was read last, from 1; 0: not read by lines */
    bool line_cut;     /* it has no line break: the source may be cut off in it */

    int fd;
    bool close_fd;
    uint64_t file_bytes;      /* of the file on disk; 0: unknown */
    uint64_t read_bytes;      /* of these so far */
    struct z_stream_s *gzip;  /* NULL: not gzip */
    struct ZSTD_DCtx_s *zstd; /* NULL: not zstd */
    struct LZ4F_dctx_s *lz4;  /* NULL: not LZ4 */
    uint8_t *packed;
    size_t packed_at, packed_len; /* of zstd and LZ4: not taken yet */
    bool between_frames;          /* of zstd and LZ4: the file may end here */

    /* Called now and then with the bytes read and the total. */
    void (*on_progress)(void *ctx, uint64_t done, uint64_t total);
    void *progress_ctx;
};

/* @path  "-": standard input. Must outlive the source, as its name
 * @return 0 or negative with the reason; release it only after success */
int ml_import_source_open(struct ml_import_source *s, const char *path, struct ml_error *err);

/* Reads the caller's bytes, which must outlive the source, without decompressing them. */
void ml_import_source_memory(struct ml_import_source *s, const uint8_t *bytes, size_t len);

void ml_import_source_release(struct ml_import_source *s);

/* At least the next `want` bytes, fewer only at the end of the source, without taking them.
 * Valid until the next call.
 * @return 0 or negative */
int ml_import_peek(struct ml_import_source *s, size_t want, const uint8_t **ret, size_t *ret_len,
                   struct ml_error *err);

/* Takes bytes that ml_import_peek has returned. */
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
 * @return 1; 0 at the end; negative when it is unreadable or too long */
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
