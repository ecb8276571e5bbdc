/* recorder_tables.h: the recorder's tables of functions, for the parts of the
 * extension.
 *
 * memledger.h looks once and keeps the result, even if it found nothing; here ml_native_load
 * may load the recorder later.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_RECORDER_TABLES_H
#define ML_RECORDER_TABLES_H

#include <stdbool.h>

#include "extension_api.h"
#include "live_api.h"
#include "memledger/memledger.h"

/* NULL while there is no recorder in this process. Cheap once there is. */
const struct memledger_api *ml_native_api(void);
const struct ml_live_api *ml_native_live(void);
const struct ml_extension_api *ml_native_recorder(void);

/* Loads the recorder if there is none. False with *ret_why, which stays valid until the next
 * call. */
bool ml_native_load(const char *path, const char **ret_why);

#endif
