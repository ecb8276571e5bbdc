/* digest_modules.h: the modules of a digest: the deepest level of the tree that has few enough of
 * them. Only this room includes it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_DIGEST_MODULES_H
#define ML_ANALYZE_DIGEST_MODULES_H

#include "digest.h"
#include "modules.h"

struct ml_digest_modules {
    struct ml_modules all;
    ML_VEC(uint32_t) kept; /* by module of the trace: 1 + its module in the digest; 0: not yet */
    unsigned depth;        /* modules below this level are folded into those around them */
};

/* Fills in the modules of the digest. A zeroed one may be released.
 * @return 0 or -ENOMEM */
int ml_digest_modules_init(struct ml_digest_modules *m, const struct ml_trace *trace,
                           struct ml_digest *digest);
void ml_digest_modules_release(struct ml_digest_modules *m);

/* The module of a block in the digest, or -ENOMEM. */
int64_t ml_digest_modules_of(struct ml_digest_modules *m, const struct ml_block *block);

#endif
