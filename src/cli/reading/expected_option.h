/* expected_option.h: --expected: the total that a grouping is compared with, given by
 * the user or taken from the samples.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CLI_EXPECTED_OPTION_H
#define ML_CLI_EXPECTED_OPTION_H

#include "grouping.h"
#include "options.h"

struct ml_expected_total {
    bool known, from_samples;
    uint64_t bytes;
};

/* "4GiB", "auto", or NULL for none. @return negative to continue, else the exit code */
int ml_expected_total_parse(const struct ml_verb *verb, const char *text,
                            struct ml_expected_total *ret);

/* Sets the expected total of the list, for that device or for all. @return 0 or negative
 * errno, with the reason in `err` */
int ml_expected_total_find(const struct ml_expected_total *expected, const struct ml_trace *trace,
                           const struct ml_tag_list *list, const char *device,
                           struct ml_grouping_opts *ret, struct ml_error *err);

#endif
