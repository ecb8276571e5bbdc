/* chrome_flows.h: the lifetimes of large blocks in a Chrome trace: a short slice at the
 * allocation, one at the free, and an arrow between them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_EXPORT_CHROME_FLOWS_H
#define ML_EXPORT_CHROME_FLOWS_H

#include "chrome_writer.h"
#include "map.h"
#include "replay.h"

/* A block is large if it has at least 1/ML_FLOW_SHARE of the peak; at most so many get
 * arrows. */
#define ML_FLOW_SHARE 100
#define ML_FLOWS_MAX 100000

struct ml_chrome_flows {
    struct ml_chrome *chrome;
    const struct ml_replay *replay;
    uint64_t min_bytes, count;
    struct ml_map open; /* block -> flow */
    int error;          /* the first failure */
};

void ml_chrome_flows_init(struct ml_chrome_flows *f, struct ml_chrome *chrome,
                          const struct ml_replay *replay, uint64_t peak_bytes);
void ml_chrome_flows_release(struct ml_chrome_flows *f);

/* For the replay's on_open and on_close. */
void ml_chrome_flows_open(struct ml_chrome_flows *f, const struct ml_block *block);
void ml_chrome_flows_close(struct ml_chrome_flows *f, const struct ml_block *block,
                           const struct ml_event *event);

#endif
