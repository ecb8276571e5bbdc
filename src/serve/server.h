/* server.h: the server behind `memledger view`: the page, and the numbers that it asks for. Listens
 * on this machine's own address only.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_SERVE_SERVER_H
#define ML_SERVE_SERVER_H

#include <stddef.h>
#include <stdint.h>

#include "error.h"

struct ml_server;

/* @port   0: any that is free
 * @files  traces; the strings must outlive the server
 * @return NULL with a reason */
struct ml_server *ml_server_start(uint16_t port, const char *const *files, size_t file_count,
                                  struct ml_error *err);

/* The address to open, with the token. */
const char *ml_server_address(const struct ml_server *server);

/* Finishes the requests that are being answered. */
void ml_server_stop(struct ml_server *server);

#endif
