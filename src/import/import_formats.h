/* import_formats.h: the supported formats, for the table in importer.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_IMPORT_FORMATS_H
#define ML_IMPORT_FORMATS_H

#include "importer.h"

extern const struct ml_import_format ml_import_chrome;
extern const struct ml_import_format ml_import_smi;
extern const struct ml_import_format ml_import_tbd_log;
extern const struct ml_import_format ml_import_tbd_analysis;
extern const struct ml_import_format ml_import_mxnet_csv;
extern const struct ml_import_format ml_import_mxnet_pool_csv;
extern const struct ml_import_format ml_import_mxnet_log;
extern const struct ml_import_format ml_import_torch;
extern const struct ml_import_format ml_import_pprof;
extern const struct ml_import_format ml_import_heaptrack;
extern const struct ml_import_format ml_import_memray;

#endif
