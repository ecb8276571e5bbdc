/* net_read.h: the follower's side of net_board.h: nets of blocks of a trace that a collector on
 * this machine is writing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TRACE_NET_READ_H
#define ML_TRACE_NET_READ_H

#include "index.h"
#include "net_board.h"
#include "trace.h"
#include "vec.h"

struct ml_net_reader {
    int fd;         /* negative: not found */
    unsigned tries; /* to find it */
    uint64_t inode; /* of the trace */
    bool looked;    /* `board` is of this poll */
    struct ml_net_board board;
    struct ml_buf bytes;
};

void ml_net_reader_init(struct ml_net_reader *r);
void ml_net_reader_release(struct ml_net_reader *r);

/* Before new blocks are read: says that nets are wanted, and looks for the collector's board the
 * first few times. @classes  with what a classification needs */
void ml_net_reader_poll(struct ml_net_reader *r, const struct ml_trace *t, bool classes);

/* Asks for a new series of nets. */
void ml_net_reader_ask(struct ml_net_reader *r);

/* The net of a block, valid until the next call here.
 * @return false if there is none */
bool ml_net_read(struct ml_net_reader *r, const struct ml_index_entry *block, struct ml_net *ret);

#endif
