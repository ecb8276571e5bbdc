/* trace_identity.c: what tells a trace from others, and from itself after a change.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "trace_impl.h"

#include <errno.h>
#include <sys/stat.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "io.h"

#define END_BYTES 4096 /* the index, or its end: it lists every block */

int ml_trace_identify(const struct ml_trace *t, struct ml_trace_identity *ret)
{
    uint8_t header[ML_FILE_HEADER_BYTES], end[END_BYTES];
    size_t len = (size_t)ml_min_u64(END_BYTES, t->info.file_bytes);
    struct stat st;
    int r = fstat(t->fd, &st) < 0 ? -errno : 0;

    if (r == 0)
        r = ml_pread_all(t->fd, header, sizeof(header), 0);
    if (r == 0)
        r = ml_pread_all(t->fd, end, len, t->info.file_bytes - len);
    if (r < 0)
        return r;
    *ret = (struct ml_trace_identity){
        .device = (uint64_t)st.st_dev,
        .inode = (uint64_t)st.st_ino,
        .file_bytes = t->info.file_bytes,
        .changed_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec,
        .hash = XXH3_64bits_withSeed(end, len, XXH3_64bits(header, sizeof(header))),
    };
    return 0;
}
