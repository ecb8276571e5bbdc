/* profile_output.h: the files for the profile of this process and of the servers that it controls;
 * opens them and passes them to the collector.
 *
 * A file is opened when the profile starts to run, so that it is written even if the program is
 * killed. No locks: if two threads pass one on at once, it is the same file, and the collector
 * keeps the first. Async-signal-safe, keeps errno.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_PROFILE_OUTPUT_H
#define ML_PROFILE_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

/* The string number of that file name, relative to the current directory. */
uint32_t ml_profile_output_name(const char *value);

/* Notes that "filename" was set to that string, which is not 0; the collector knows it. */
void ml_profile_output_named(uint32_t name, bool servers);

/* Call before the state is announced as running. */
void ml_profile_output_run(bool servers);

/* Call before asking for a dump: tries again to open files that could not be opened. */
void ml_profile_output_retry(bool servers);

/* Call after a dump of this process's profile: it ended the file; or it failed, and the next one
 * must pass the file on again, in case the collector has none. */
void ml_profile_output_ended(void);
void ml_profile_output_failed(void);

#endif
