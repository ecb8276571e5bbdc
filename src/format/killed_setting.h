/* killed_setting.h: that the kernel killed a process to keep the memory limit of its control group,
 * as a setting of the trace.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_FORMAT_KILLED_SETTING_H
#define ML_FORMAT_KILLED_SETTING_H

#define ML_SETTING_KILLED_AT_LIMIT "killed_at_limit_bytes" /* the limit, in digits */

#endif
