/* tag_devices.h: of which devices a list of tags is, where the trace has several.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_TAG_DEVICES_H
#define ML_ANALYZE_TAG_DEVICES_H

#include "tag_list.h"

/* Sets list->devices. @return 0 or -ENOMEM */
int ml_tag_list_name_devices(const struct ml_trace *trace, struct ml_tag_list *list);

#endif
