/* metrics_server.c: see metrics_server.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "metrics_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http_answer.h"

#define PATH "/metrics"
#define OPENMETRICS_TYPE "application/openmetrics-text; version=1.0.0; charset=utf-8"
#define CONNECTIONS_MAX 16
#define IDLE_SECONDS 30

struct ml_metrics_server {
    struct MHD_Daemon *daemon;
    ml_metrics_fn *text;
    void *ctx;
    bool loopback;
};

/* "127.0.0.1:9469" or "localhost": any name could lead here, such as 127.0.0.1.example.com. */
static bool is_loopback(const char *host)
{
    char name[sizeof("localhost") + 8];
    size_t len = host ? strcspn(host, ":") : 0;
    struct in_addr address;

    if (!len || len >= sizeof(name))
        return false;
    memcpy(name, host, len);
    name[len] = '\0';
    return strcmp(name, "localhost") == 0 || (inet_pton(AF_INET, name, &address) == 1 &&
                                              ntohl(address.s_addr) >> 24 == IN_LOOPBACKNET);
}

static bool is_for_us(const struct ml_metrics_server *s, struct MHD_Connection *connection)
{
    return !s->loopback || is_loopback(MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
                                                                   MHD_HTTP_HEADER_HOST));
}

static enum MHD_Result send_text(const struct ml_metrics_server *s,
                                 struct MHD_Connection *connection)
{
    struct ml_buf text = {0};
    enum MHD_Result sent;
    int r = s->text(s->ctx, &text);

    if (r < 0)
        sent = ml_answer_error(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, strerror(-r));
    else
        sent = ml_answer(connection, MHD_HTTP_OK, ml_response_of(text.data, text.len),
                         OPENMETRICS_TYPE);
    ml_buf_release(&text);
    return sent;
}

static enum MHD_Result on_request(void *ctx, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *data,
                                  size_t *data_bytes, void **request)
{
    const struct ml_metrics_server *s = ctx;

    (void)version;
    (void)data;
    (void)request;
    if (*data_bytes > 0) {
        *data_bytes = 0;
        return MHD_YES;
    }
    if (strcmp(method, "GET") != 0)
        return ml_answer_error(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET");
    if (!is_for_us(s, connection))
        return ml_answer_error(connection, MHD_HTTP_FORBIDDEN, "this host is not served");
    if (strcmp(url, PATH) != 0)
        return ml_answer_error(connection, MHD_HTTP_NOT_FOUND, "see " PATH);
    return send_text(s, connection);
}

static int parse_address(const char *listen, struct sockaddr_in *ret)
{
    char host[64];
    const char *colon = strrchr(listen, ':');
    char *end;
    unsigned long port = colon ? strtoul(colon + 1, &end, 10) : 0;

    if (!colon || *end || port == 0 || port > 65535 || (size_t)(colon - listen) >= sizeof(host))
        return -EINVAL;
    memcpy(host, listen, (size_t)(colon - listen));
    host[colon - listen] = '\0';
    *ret = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    return inet_pton(AF_INET, strcmp(host, "localhost") ? host : "127.0.0.1", &ret->sin_addr) == 1
               ? 0
               : -EINVAL;
}

struct ml_metrics_server *ml_metrics_server_start(const char *listen, ml_metrics_fn *text,
                                                  void *ctx, struct ml_error *err)
{
    struct ml_metrics_server *s = calloc(1, sizeof(*s));
    struct sockaddr_in address;

    if (parse_address(listen, &address) < 0) {
        ml_error_set(err, -EINVAL, "'%s' is not an IPv4 address with a port from 1 to 65535",
                     listen);
        free(s);
        return NULL;
    }
    if (!s) {
        ml_error_set(err, -ENOMEM, "out of memory");
        return NULL;
    }
    s->text = text;
    s->ctx = ctx;
    s->loopback = ntohl(address.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
    errno = 0;
    s->daemon = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_AUTO, 0, NULL, NULL,
                                 on_request, s, MHD_OPTION_SOCK_ADDR, &address,
                                 MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS_MAX,
                                 MHD_OPTION_CONNECTION_TIMEOUT, IDLE_SECONDS, MHD_OPTION_END);
    if (s->daemon)
        return s;
    ml_error_set(err, errno && errno != EINVAL ? -errno : -EIO,
                 "cannot listen on %s: %s; choose another with --listen", listen,
                 errno ? strerror(errno) : "the address is in use");
    free(s);
    return NULL;
}

void ml_metrics_server_stop(struct ml_metrics_server *server)
{
    if (!server)
        return;
    MHD_stop_daemon(server->daemon);
    free(server);
}
