/* fuzz_digest.c: any bytes as the file of a digest. It is refused with a reason, or a report on the
 * job is made of it, and it can be written again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz.h"

#include "digest_file.h"
#include "ranks.h"
#include "ranks_report.h"
#include "trace_sample.h"

static void report(const struct ml_digest *digest)
{
    const struct ml_rank_source sources[] = {{digest, "a.mled", false}, {digest, "b.mled", true}};
    const struct ml_style style = {.width = 80};
    struct ml_error err = {0};
    struct ml_buf out = {0};
    struct ml_ranks ranks;

    if (ml_ranks(sources, 2, NULL, &ranks, &err) == 0) {
        FUZZ_REQUIRE(ml_ranks_text(&ranks, 10, &style, &out) == 0);
        FUZZ_REQUIRE(ml_ranks_json(&ranks, &out) == 0);
    } else {
        FUZZ_REQUIRE(err.text[0]);
    }
    ml_buf_release(&out);
    ml_ranks_release(&ranks);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct ml_trace *file = NULL;
    struct ml_digest digest;
    struct ml_error err = {0};
    struct ml_buf out = {0};

    if (ml_bytes_open(data, len, false, &file, NULL) < 0)
        return 0;
    if (ml_digest_get(file, &digest, &err) == 0) {
        report(&digest);
        FUZZ_REQUIRE(ml_digest_put(&digest, &out) == 0);
    } else {
        FUZZ_REQUIRE(err.text[0]);
    }
    ml_buf_release(&out);
    ml_digest_release(&digest);
    ml_trace_free(file);
    return 0;
}
