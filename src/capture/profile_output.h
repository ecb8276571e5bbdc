/* profile_output.h: which file the profile of this process goes to, and those of the servers
 * that it controls; opens them and hands them to the collector.
 *
 * A file is opened when the profile starts to run, so that it is written also when the program
 * is killed. No locks: what two threads hand over at once is one file, and the collector keeps
 * the first. Async-signal-safe, errno is kept.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_PROFILE_OUTPUT_H
#define ML_PROFILE_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

/* The string number of that file name, taken in the folder that this process is in now. */
uint32_t ml_profile_output_name(const char *value);

/* "filename" was set to that string, which is not 0; the collector knows. */
void ml_profile_output_named(uint32_t name, bool servers);

/* Before the state is told to be running. */
void ml_profile_output_run(bool servers);

/* Before a dump is asked for: what could not be opened is tried again. */
void ml_profile_output_retry(bool servers);

/* After a dump of this process's profile: it ended the file; or it failed, and the next one is to
 * hand the file over again, in case that the collector has none. */
void ml_profile_output_ended(void);
void ml_profile_output_failed(void);

#endif
