/* import_source.c: see import_source.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "import_source.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef ML_WITH_LZ4
#include <lz4frame.h>
#endif
#include <zlib.h>
#include <zstd.h>

#include "import_limits.h"
#include "text.h"

#define CHUNK_BYTES (256u << 10)
#define GZIP_OR_ZLIB_WINDOW (15 + 16)

/* ---- Opening ------------------------------------------------------------ */

static int open_path(struct ml_import_source *s, const char *path, struct ml_error *err)
{
    struct stat st;

    s->fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (s->fd < 0)
        return ml_error_set(err, -errno, "%s: %s", path, strerror(errno));
    s->close_fd = s->fd != STDIN_FILENO;
    if (fstat(s->fd, &st) < 0)
        return ml_error_set(err, -errno, "%s: %s", path, strerror(errno));
    if (S_ISDIR(st.st_mode))
        return ml_error_set(err, -EISDIR, "%s is a directory; name a file", path);
    s->file_bytes = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
    return 0;
}

static int start_gzip(struct ml_import_source *s, struct ml_error *err)
{
    uint8_t *unpacked = malloc(CHUNK_BYTES);

    s->gzip = calloc(1, sizeof(*s->gzip));
    if (!unpacked || !s->gzip || inflateInit2(s->gzip, GZIP_OR_ZLIB_WINDOW) != Z_OK) {
        free(unpacked);
        free(s->gzip);
        s->gzip = NULL;
        return ml_error_set(err, -ENOMEM, "%s: not enough memory", s->name);
    }
    s->packed = s->data;
    s->gzip->next_in = s->packed;
    s->gzip->avail_in = (uInt)s->len;
    s->data = unpacked;
    s->cap = CHUNK_BYTES;
    s->len = 0;
    s->ended = false;
    return 0;
}

/* What was read so far is packed: the window becomes what it unpacks to. */
static int start_frames(struct ml_import_source *s, const void *unpacker, struct ml_error *err)
{
    uint8_t *unpacked = malloc(CHUNK_BYTES);

    if (!unpacked || !unpacker) {
        free(unpacked);
        return ml_error_set(err, -ENOMEM, "%s: not enough memory", s->name);
    }
    s->packed = s->data;
    s->packed_at = 0;
    s->packed_len = s->len;
    s->between_frames = true;
    s->data = unpacked;
    s->cap = CHUNK_BYTES;
    s->len = 0;
    s->ended = false;
    return 0;
}

static int start_zstd(struct ml_import_source *s, struct ml_error *err)
{
    s->zstd = ZSTD_createDCtx();
    return start_frames(s, s->zstd, err);
}

#ifdef ML_WITH_LZ4
static int start_lz4(struct ml_import_source *s, struct ml_error *err)
{
    if (LZ4F_isError(LZ4F_createDecompressionContext(&s->lz4, LZ4F_VERSION)))
        s->lz4 = NULL;
    return start_frames(s, s->lz4, err);
}
#else
static int start_lz4(struct ml_import_source *s, struct ml_error *err)
{
    return ml_error_set(err, -ENOTSUP,
                        "%s: compressed with LZ4, and this memledger was built without liblz4; "
                        "unpack it with lz4 -d and import that",
                        s->name);
}
#endif

int ml_import_source_open(struct ml_import_source *s, const char *path, struct ml_error *err)
{
    static const uint8_t zstd_magic[] = {0x28, 0xb5, 0x2f, 0xfd};
    static const uint8_t lz4_magic[] = {0x04, 0x22, 0x4d, 0x18};
    const uint8_t *head;
    size_t len;
    int r;

    *s = (struct ml_import_source){.name = strcmp(path, "-") == 0 ? "standard input" : path,
                                   .fd = -1};
    r = open_path(s, path, err);
    if (r == 0)
        r = ml_import_peek(s, sizeof(zstd_magic), &head, &len, err);
    if (r == 0 && len >= 2 && head[0] == 0x1f && head[1] == 0x8b)
        r = start_gzip(s, err);
    else if (r == 0 && len >= sizeof(zstd_magic) && !memcmp(head, zstd_magic, sizeof(zstd_magic)))
        r = start_zstd(s, err);
    else if (r == 0 && len >= sizeof(lz4_magic) && !memcmp(head, lz4_magic, sizeof(lz4_magic)))
        r = start_lz4(s, err);
    if (r < 0)
        ml_import_source_release(s);
    return r;
}

void ml_import_source_memory(struct ml_import_source *s, const uint8_t *bytes, size_t len)
{
    *s = (struct ml_import_source){
        .name = "memory",
        .data = (uint8_t *)bytes,
        .len = len,
        .cap = len,
        .ended = true,
        .borrowed = true,
        .fd = -1,
    };
}

void ml_import_source_release(struct ml_import_source *s)
{
    if (s->close_fd)
        close(s->fd);
    if (s->gzip)
        inflateEnd(s->gzip);
    free(s->gzip);
    ZSTD_freeDCtx(s->zstd);
#ifdef ML_WITH_LZ4
    if (s->lz4)
        LZ4F_freeDecompressionContext(s->lz4);
#endif
    free(s->packed);
    if (!s->borrowed)
        free(s->data);
    *s = (struct ml_import_source){.fd = -1};
}

/* ---- Reading ------------------------------------------------------------ */

/* The number of bytes read into `to`, 0 at the end. */
static int64_t read_file(struct ml_import_source *s, uint8_t *to, size_t room, struct ml_error *err)
{
    ssize_t n;

    do
        n = read(s->fd, to, room);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return ml_error_set(err, -errno, "%s: cannot be read: %s", s->name, strerror(errno));
    s->read_bytes += (uint64_t)n;
    if (s->on_progress)
        s->on_progress(s->progress_ctx, s->read_bytes, s->file_bytes);
    return n;
}

/* A gzip file may consist of several members. */
static int next_member(struct ml_import_source *s, struct ml_error *err)
{
    if (inflateReset(s->gzip) != Z_OK)
        return ml_error_set(err, -EINVAL, "%s: the gzip data is damaged", s->name);
    return 0;
}

/* The number of bytes unpacked into `to`, 0 at the end. */
static int64_t read_gzip(struct ml_import_source *s, uint8_t *to, size_t room, struct ml_error *err)
{
    z_stream *z = s->gzip;
    bool between = z->total_in == 0; /* members: the file may end here */

    z->next_out = to;
    z->avail_out = (uInt)room;
    while (z->avail_out == room) {
        int code;

        if (z->avail_in == 0) {
            int64_t n = read_file(s, s->packed, CHUNK_BYTES, err);

            if (n < 0)
                return n;
            if (n == 0 && !between)
                return ml_error_set(err, -EINVAL, "%s: the gzip data is truncated", s->name);
            if (n == 0)
                return 0;
            z->next_in = s->packed;
            z->avail_in = (uInt)n;
        }
        code = inflate(z, Z_NO_FLUSH);
        if (code == Z_MEM_ERROR)
            return ml_error_set(err, -ENOMEM, "%s: not enough memory", s->name);
        if (code != Z_OK && code != Z_STREAM_END)
            return ml_error_set(err, -EINVAL, "%s: the gzip data is damaged near byte %" PRIu64,
                                s->name, s->read_bytes - z->avail_in);
        between = code == Z_STREAM_END;
        if (between && next_member(s, err) < 0)
            return -EINVAL;
    }
    return (int64_t)(room - z->avail_out);
}

/* Reads packed bytes if none are left. @return 0 at the end of the file, or negative; 1 */
static int64_t fill_packed(struct ml_import_source *s, const char *what, struct ml_error *err)
{
    int64_t n;

    if (s->packed_at < s->packed_len)
        return 1;
    n = read_file(s, s->packed, CHUNK_BYTES, err);
    if (n == 0 && !s->between_frames)
        return ml_error_set(err, -EINVAL, "%s: the %s data is truncated", s->name, what);
    if (n <= 0)
        return n;
    s->packed_at = 0;
    s->packed_len = (size_t)n;
    return 1;
}

static int damaged_frame(const struct ml_import_source *s, const char *what, struct ml_error *err)
{
    return ml_error_set(err, -EINVAL, "%s: the %s data is damaged near byte %" PRIu64, s->name,
                        what, s->read_bytes - (s->packed_len - s->packed_at));
}

/* The same for zstd. */
static int64_t read_zstd(struct ml_import_source *s, uint8_t *to, size_t room, struct ml_error *err)
{
    ZSTD_outBuffer out = {to, room, 0};

    while (out.pos == 0) {
        int64_t n = fill_packed(s, "zstd", err);
        ZSTD_inBuffer in = {s->packed, s->packed_len, s->packed_at};
        size_t code;

        if (n <= 0)
            return n;
        code = ZSTD_decompressStream(s->zstd, &out, &in);
        if (ZSTD_isError(code))
            return damaged_frame(s, "zstd", err);
        s->packed_at = in.pos;
        s->between_frames = code == 0;
    }
    return (int64_t)out.pos;
}

#ifdef ML_WITH_LZ4
static int64_t read_lz4(struct ml_import_source *s, uint8_t *to, size_t room, struct ml_error *err)
{
    size_t made = 0;

    while (made == 0) {
        int64_t n = fill_packed(s, "LZ4", err);
        size_t taken, code;

        if (n <= 0)
            return n;
        made = room;
        taken = s->packed_len - s->packed_at;
        code = LZ4F_decompress(s->lz4, to, &made, s->packed + s->packed_at, &taken, NULL);
        if (LZ4F_isError(code))
            return damaged_frame(s, "LZ4", err);
        s->packed_at += taken;
        s->between_frames = code == 0;
    }
    return (int64_t)made;
}
#else
static int64_t read_lz4(struct ml_import_source *s, uint8_t *to, size_t room, struct ml_error *err)
{
    (void)s, (void)to, (void)room, (void)err;
    return 0; /* such a source cannot be opened */
}
#endif

static int make_room(struct ml_import_source *s, size_t want, struct ml_error *err)
{
    size_t held = s->len - s->at;
    size_t cap = s->cap ? s->cap : CHUNK_BYTES;
    uint8_t *data;

    if (s->at) {
        memmove(s->data, s->data + s->at, held);
        s->position += s->at;
        s->at = 0;
        s->len = held;
    }
    while (cap < want || cap == held)
        cap *= 2;
    if (cap == s->cap)
        return 0;
    data = realloc(s->data, cap);
    if (!data)
        return ml_error_set(err, -ENOMEM, "%s: not enough memory", s->name);
    s->data = data;
    s->cap = cap;
    return 0;
}

/* A small file that unpacks to terabytes would fill the disk with its trace. */
static int check_unpacked(const struct ml_import_source *s, struct ml_error *err)
{
    uint64_t most = ML_UNPACKED_LEAST_BYTES + s->read_bytes * ML_UNPACKED_PER_BYTE;
    char size[32];

    if (s->position + s->len <= most)
        return 0;
    ml_format_bytes(size, (int64_t)most, ML_UNIT_AUTO);
    return ml_error_set(err, -EFBIG,
                        "%s: the first %" PRIu64 " bytes unpack to more than %s: it may be "
                        "crafted to fill the disk; if not, unpack it with %s and import that",
                        s->name, s->read_bytes, size,
                        s->lz4    ? "lz4 -d"
                        : s->zstd ? "unzstd"
                                  : "gunzip");
}

static int read_more(struct ml_import_source *s, size_t want, struct ml_error *err)
{
    int64_t n = make_room(s, want, err);

    if (n == 0)
        n = s->gzip   ? read_gzip(s, s->data + s->len, s->cap - s->len, err)
            : s->zstd ? read_zstd(s, s->data + s->len, s->cap - s->len, err)
            : s->lz4  ? read_lz4(s, s->data + s->len, s->cap - s->len, err)
                      : read_file(s, s->data + s->len, s->cap - s->len, err);
    if (n < 0)
        return (int)n;
    s->len += (size_t)n;
    s->ended = n == 0;
    return s->gzip || s->zstd || s->lz4 ? check_unpacked(s, err) : 0;
}

int ml_import_peek(struct ml_import_source *s, size_t want, const uint8_t **ret, size_t *ret_len,
                   struct ml_error *err)
{
    while (s->len - s->at < want && !s->ended) {
        int r = read_more(s, want, err);

        if (r < 0)
            return r;
    }
    *ret = s->data + s->at;
    *ret_len = s->len - s->at;
    return 0;
}

int ml_import_next_window(struct ml_import_source *s, struct ml_error *err)
{
    const uint8_t *bytes;
    size_t len;
    int r = ml_import_peek(s, 1, &bytes, &len, err);

    return r < 0 ? r : len > 0;
}

int ml_import_line(struct ml_import_source *s, const char **ret, size_t *ret_len,
                   struct ml_error *err)
{
    const uint8_t *bytes, *end = NULL;
    size_t len, seen = 0, taken;

    for (;;) {
        int r = ml_import_peek(s, seen + 1, &bytes, &len, err);

        if (r < 0)
            return r;
        end = len > seen ? memchr(bytes + seen, '\n', len - seen) : NULL;
        if (end || len == seen)
            break;
        seen = len;
        if (seen > ML_IMPORT_LINE_BYTES)
            break;
    }
    if (len == 0)
        return 0;
    s->line++;
    s->line_cut = !end;
    taken = end ? (size_t)(end - bytes) : len;
    if (taken > ML_IMPORT_LINE_BYTES)
        return ml_import_bad(s, err, "a line of more than %u bytes; this is another format",
                             ML_IMPORT_LINE_BYTES);
    ml_import_take(s, taken + (end != NULL));
    if (taken > 0 && bytes[taken - 1] == '\r')
        taken--;
    *ret = (const char *)bytes;
    *ret_len = taken;
    return 1;
}

int ml_import_bad(const struct ml_import_source *s, struct ml_error *err, const char *fmt, ...)
{
    char text[384];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    return ml_error_set(err, -EINVAL, "%s: %s %" PRIu64 ": %s", s->name, s->line ? "line" : "byte",
                        s->line ? s->line : ml_import_offset(s), text);
}
