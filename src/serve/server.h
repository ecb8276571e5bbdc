/* server.h: the server behind `memledger view`: the page, and the numbers that it asks for. Listens
 * on this machine's own address only.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_SERVE_SERVER_H
#define ML_SERVE_SERVER_H

#include <stdint.h>

#include "error.h"
#include "private_folder.h"
#include "served_files.h"

struct ml_server;

struct ml_server_opts {
    uint16_t port;                    /* 0: any that is free */
    struct ml_served_files *files;    /* outlives the server, which adds those that are dropped */
    struct ml_private_folder *folder; /* for these */
};

/* @return NULL with a reason */
struct ml_server *ml_server_start(const struct ml_server_opts *opts, struct ml_error *err);

/* The address to open, with the token. */
const char *ml_server_address(const struct ml_server *server);

/* Ends the commands that are running; the requests for them get an error. */
void ml_server_stop(struct ml_server *server);

#endif
