/* metrics_server.h: answers GET /metrics with a text that a function makes. For Prometheus, which
 * asks every few seconds.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_SERVE_METRICS_SERVER_H
#define ML_SERVE_METRICS_SERVER_H

#include "error.h"
#include "vec.h"

/* Appends the text. Called by one thread, one call at a time. @return 0 or negative errno */
typedef int ml_metrics_fn(void *ctx, struct ml_buf *out);

struct ml_metrics_server;

/* Listens on "ADDRESS:PORT"; an IPv4 address. On a loopback address only requests to such a host
 * are answered, so that pages in a browser cannot read the numbers by a name that points here.
 * @return NULL with a reason; its code is -EINVAL only if `listen` is not such an address */
struct ml_metrics_server *ml_metrics_server_start(const char *listen, ml_metrics_fn *text,
                                                  void *ctx, struct ml_error *err);
void ml_metrics_server_stop(struct ml_metrics_server *server);

#endif
