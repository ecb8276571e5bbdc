/* surroundings.h: what a trace says about the machine: the memory limit of the control group, and
 * how far its clock may be off. Reports on several hosts need both.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_COLLECT_SURROUNDINGS_H
#define ML_COLLECT_SURROUNDINGS_H

#include "dict.h"

/* Adds the settings of host_settings.h. */
void ml_surroundings_note(struct ml_dict *dict);

#endif
