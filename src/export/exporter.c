/* exporter.c: the list of formats.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "exporter.h"

#include <string.h>

/* Written by memledger.ranks, since Parquet's library has no interface for C. */
const struct ml_exporter ml_exporter_parquet = {
    .name = "parquet",
    .suffix = ".parquet",
    .help = "all tables by job and rank; needs pyarrow",
    .needs_file = true,
    .whole_run = true,
    .all_devices = true,
    .has_tables = true,
};

const struct ml_exporter *const ml_exporters[] = {
    &ml_exporter_mxnet_csv,    &ml_exporter_mxnet_pool_csv,
    &ml_exporter_mxnet_log,    &ml_exporter_tbd_log,
    &ml_exporter_tbd_analysis, &ml_exporter_nvidia_smi,
    &ml_exporter_chrome,       &ml_exporter_csv,
    &ml_exporter_json,         &ml_exporter_sqlite,
    &ml_exporter_parquet,      &ml_exporter_pprof,
    &ml_exporter_speedscope,   &ml_exporter_torch_snapshot,
    &ml_exporter_html,         NULL,
};

const struct ml_exporter *ml_exporter_find(const char *name)
{
    for (size_t i = 0; ml_exporters[i]; i++)
        if (strcmp(ml_exporters[i]->name, name) == 0)
            return ml_exporters[i];
    return NULL;
}

static bool ends_with(const char *path, const char *suffix)
{
    size_t len = strlen(path), suffix_len = strlen(suffix);

    return len > suffix_len && strcmp(path + len - suffix_len, suffix) == 0;
}

const struct ml_exporter *ml_exporter_of_path(const char *path)
{
    const struct ml_exporter *best = NULL;

    for (size_t i = 0; ml_exporters[i]; i++) {
        const struct ml_exporter *e = ml_exporters[i];

        if (ends_with(path, e->suffix) && (!best || strlen(e->suffix) > strlen(best->suffix)))
            best = e;
    }
    return best;
}
