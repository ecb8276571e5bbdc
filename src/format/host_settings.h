/* host_settings.h: settings of a trace that describe the machine it was recorded on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_FORMAT_HOST_SETTINGS_H
#define ML_FORMAT_HOST_SETTINGS_H

/* The memory limit of the control group, in digits; not there if it has none. */
#define ML_SETTING_MEMORY_LIMIT "memory_limit_bytes"

/* The most that the wall clock may differ from that of its time servers, as the kernel estimates
 * it; not there if the clock is not synchronised. */
#define ML_SETTING_CLOCK_ERROR "clock_error_ns"

#endif
