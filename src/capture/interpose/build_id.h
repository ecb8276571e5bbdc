/* build_id.h: the build-id of a loaded object, which identifies one build of a library.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_BUILD_ID_H
#define ML_BUILD_ID_H

#include <link.h>
#include <stdbool.h>

#define ML_BUILD_ID_MAX_BYTES 64
#define ML_BUILD_ID_TEXT_BYTES (2 * ML_BUILD_ID_MAX_BYTES + 1)

/* Reads it from the notes that the loader has mapped, as hexadecimal digits.
 * @return whether the object has one */
bool ml_build_id(const struct dl_phdr_info *info, char ret[ML_BUILD_ID_TEXT_BYTES]);

#endif
