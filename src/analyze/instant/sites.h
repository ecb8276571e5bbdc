/* sites.h: allocation sites: blocks with the same stack, module, category and device, with their
 * live bytes at an instant and their allocated bytes in the whole run. For formats of flame
 * graphs and profiles.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_SITES_H
#define ML_ANALYZE_SITES_H

#include "modules.h"
#include "snapshot.h"

struct ml_site {
    uint32_t stack;  /* 0: none was recorded */
    uint32_t module; /* in ml_sites.modules */
    uint32_t device; /* in ml_sites.devices */
    uint8_t category;
    uint64_t live_bytes, live_blocks;   /* at the instant */
    uint64_t total_bytes, total_blocks; /* in the run, if requested */
};

struct ml_sites {
    struct ml_snapshot at;
    struct ml_modules modules;
    struct ml_intern devices; /* names */
    struct ml_intern keys;    /* of the sites, by number */
    ML_VEC(struct ml_site) list;
};

struct ml_sites_opts {
    struct ml_snapshot_opts snapshot;
    bool totals; /* read the whole run as well */
};

/* Only counted spaces, as in all totals.
 * @ret    to be released, after a failure too
 * @return 0 or negative errno, see ml_snapshot */
int ml_sites(const struct ml_trace *trace, const struct ml_sites_opts *opts, struct ml_sites *ret,
             struct ml_error *err);
void ml_sites_release(struct ml_sites *sites);

#endif
