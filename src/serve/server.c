/* server.c: see server.h.
 *
 * A thread for each connection: an answer comes from a command in a process of its own, and a page
 * asks for several at once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <microhttpd.h>

#include "assets.h"
#include "child_output.h"
#include "command_query.h"
#include "guard.h"
#include "json.h"

#define CONNECTIONS_MAX 32
#define IDLE_SECONDS 120
#define API "/api/"
#define JSON_TYPE "application/json"

static const struct ml_child_limits limits = {.output_bytes = 64u << 20, .seconds = 300};

struct ml_server {
    struct MHD_Daemon *daemon;
    struct ml_guard guard;
    const char *const *files;
    size_t file_count;
    char address[128];
};

/* ---- Answers ------------------------------------------------------------- */

/* Sent with everything. Nothing may be loaded from elsewhere, no script may be part of the page's
 * text, and no other site may show the page in a frame. */
static const struct {
    const char *name, *value;
} headers[] = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
     "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; "
     "frame-ancestors 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"X-Frame-Options", "DENY"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cache-Control", "no-store"},
};

static enum MHD_Result send_response(struct MHD_Connection *connection, unsigned status,
                                     struct MHD_Response *response, const char *type)
{
    enum MHD_Result sent = MHD_NO;

    if (!response)
        return MHD_NO;
    for (size_t i = 0; i < sizeof(headers) / sizeof(*headers); i++)
        MHD_add_response_header(response, headers[i].name, headers[i].value);
    if (MHD_add_response_header(response, "Content-Type", type) == MHD_YES)
        sent = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return sent;
}

static struct MHD_Response *copy_of(const void *data, size_t bytes)
{
    return MHD_create_response_from_buffer(bytes, (void *)(uintptr_t)data, MHD_RESPMEM_MUST_COPY);
}

/* Ends the document and releases its text. */
static enum MHD_Result send_json(struct MHD_Connection *connection, unsigned status,
                                 struct ml_json *json)
{
    enum MHD_Result sent = MHD_NO;

    if (ml_json_finish(json) == 0)
        sent =
            send_response(connection, status, copy_of(json->out->data, json->out->len), JSON_TYPE);
    ml_buf_release(json->out);
    return sent;
}

static enum MHD_Result send_error(struct MHD_Connection *connection, unsigned status,
                                  const char *reason)
{
    struct ml_buf text = {0};
    struct ml_json json;

    ml_json_init(&json, &text, false);
    ml_json_begin_object(&json);
    ml_json_kv_cstr(&json, "error", reason);
    ml_json_end_object(&json);
    return send_json(connection, status, &json);
}

/* ---- The list of files ----------------------------------------------------- */

static void put_file(struct ml_json *json, const char *path, size_t number)
{
    const char *slash = strrchr(path, '/');
    struct stat info;

    ml_json_begin_object(json);
    ml_json_kv_u64(json, "id", number);
    ml_json_kv_cstr(json, "name", slash ? slash + 1 : path);
    ml_json_kv_cstr(json, "path", path);
    if (stat(path, &info) == 0)
        ml_json_kv_u64(json, "bytes", (uint64_t)info.st_size);
    else
        ml_json_kv_null(json, "bytes");
    ml_json_end_object(json);
}

static enum MHD_Result send_files(const struct ml_server *server, struct MHD_Connection *connection)
{
    struct ml_buf text = {0};
    struct ml_json json;

    ml_json_init(&json, &text, false);
    ml_json_begin_object(&json);
    ml_json_key(&json, "files");
    ml_json_begin_array(&json);
    for (size_t i = 0; i < server->file_count; i++)
        put_file(&json, server->files[i], i);
    ml_json_end_array(&json);
    ml_json_end_object(&json);
    return send_json(connection, MHD_HTTP_OK, &json);
}

/* ---- Commands -------------------------------------------------------------- */

struct asked {
    const struct ml_server *server;
    struct ml_command_query query;
    struct ml_error err;
    int r; /* the first failure */
};

static enum MHD_Result add_argument(void *context, enum MHD_ValueKind kind, const char *name,
                                    const char *value)
{
    struct asked *asked = context;

    (void)kind;
    asked->r = ml_command_query_add(&asked->query, name, value, asked->server->files,
                                    asked->server->file_count, &asked->err);
    return asked->r == 0 ? MHD_YES : MHD_NO;
}

static enum MHD_Result send_output(struct MHD_Connection *connection, struct asked *asked,
                                   const struct ml_buf *output)
{
    struct MHD_Response *response = copy_of(output->data, output->len);
    const char *command = ml_command_query_text(&asked->query);

    if (response && command)
        MHD_add_response_header(response, "X-Memledger-Command", command);
    return send_response(connection, MHD_HTTP_OK, response, JSON_TYPE);
}

static enum MHD_Result run_command(struct MHD_Connection *connection, struct asked *asked)
{
    struct ml_buf output = {0};
    int code = ml_child_output(asked->query.argv.items, &limits, &output, &asked->err);
    enum MHD_Result sent;

    if (code < 0)
        sent = send_error(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, asked->err.text);
    else if (code > 0)
        sent = send_error(connection, MHD_HTTP_UNPROCESSABLE_CONTENT, ml_child_reason(&output));
    else
        sent = send_output(connection, asked, &output);
    ml_buf_release(&output);
    return sent;
}

static enum MHD_Result send_numbers(const struct ml_server *server,
                                    struct MHD_Connection *connection, const char *verb)
{
    struct asked asked = {.server = server};
    enum MHD_Result sent;

    asked.r = ml_command_query_begin(&asked.query, verb, &asked.err);
    if (asked.r == 0)
        MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, add_argument, &asked);
    if (asked.r == 0)
        asked.r = ml_command_query_end(&asked.query, &asked.err);
    sent = asked.r == 0 ? run_command(connection, &asked)
                        : send_error(connection,
                                     asked.r == -ENOENT ? MHD_HTTP_NOT_FOUND : MHD_HTTP_BAD_REQUEST,
                                     asked.err.text);
    ml_command_query_release(&asked.query);
    return sent;
}

/* ---- Pages ----------------------------------------------------------------- */

static enum MHD_Result send_asset(struct MHD_Connection *connection, const char *path)
{
    for (const struct ml_asset *a = ml_assets; a->path; a++)
        if (strcmp(a->path, path) == 0)
            return send_response(connection, MHD_HTTP_OK,
                                 MHD_create_response_from_buffer(
                                     a->bytes, (void *)(uintptr_t)a->data, MHD_RESPMEM_PERSISTENT),
                                 a->type);
    return send_error(connection, MHD_HTTP_NOT_FOUND, "there is no such page");
}

/* Exchanges the token in the address for a cookie, so that it does not stay in the history. */
static enum MHD_Result welcome(const struct ml_server *server, struct MHD_Connection *connection)
{
    struct MHD_Response *response = copy_of("", 0);
    char cookie[128];

    if (!response)
        return MHD_NO;
    snprintf(cookie, sizeof(cookie), "%s=%s; HttpOnly; SameSite=Strict; Path=/",
             server->guard.cookie_name, server->guard.token);
    MHD_add_response_header(response, "Set-Cookie", cookie);
    MHD_add_response_header(response, "Location", "/");
    return send_response(connection, MHD_HTTP_SEE_OTHER, response, "text/plain");
}

static enum MHD_Result route(const struct ml_server *server, struct MHD_Connection *connection,
                             const char *url)
{
    if (strcmp(url, API "files") == 0)
        return send_files(server, connection);
    if (strncmp(url, API, strlen(API)) == 0)
        return send_numbers(server, connection, url + strlen(API));
    return send_asset(connection, strcmp(url, "/") == 0 ? "/index.html" : url);
}

static enum MHD_Result answer(void *context, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *upload_data,
                              size_t *upload_bytes, void **request)
{
    static int first;
    const struct ml_server *server = context;
    const struct ml_visitor visitor = {
        .host = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Host"),
        .origin = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Origin"),
        .token = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "token"),
        .cookie =
            MHD_lookup_connection_value(connection, MHD_COOKIE_KIND, server->guard.cookie_name),
    };

    (void)version, (void)upload_data;
    if (!*request) { /* the headers alone; an answer is possible at the second call */
        *request = &first;
        return MHD_YES;
    }
    if (*upload_bytes) {
        *upload_bytes = 0;
        return MHD_YES;
    }
    if (!ml_guard_is_for_us(&server->guard, &visitor))
        return send_error(connection, MHD_HTTP_FORBIDDEN, "this address is not the server's");
    if (strcmp(method, "GET") && strcmp(method, "HEAD"))
        return send_error(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET is answered");
    if (strcmp(url, "/") == 0 && ml_guard_has_token(&server->guard, &visitor))
        return welcome(server, connection);
    if (!ml_guard_has_cookie(&server->guard, &visitor))
        return send_error(connection, MHD_HTTP_FORBIDDEN,
                          "open the address that memledger view printed");
    return route(server, connection, url);
}

/* ---- Start and stop ---------------------------------------------------------- */

/* A socket on this machine's own address; -errno. */
static int listen_here(uint16_t port, uint16_t *ret_port)
{
    struct sockaddr_in at = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof(at);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1, r;

    if (fd < 0)
        return -errno;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(fd, (const struct sockaddr *)&at, sizeof(at)) || listen(fd, CONNECTIONS_MAX) ||
        getsockname(fd, (struct sockaddr *)&at, &bytes)) {
        r = -errno;
        close(fd);
        return r;
    }
    *ret_port = ntohs(at.sin_port);
    return fd;
}

static struct MHD_Daemon *start_daemon(struct ml_server *server, int fd)
{
    return MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION, 0,
                            NULL, NULL, answer, server, MHD_OPTION_LISTEN_SOCKET, fd,
                            MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX,
                            MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS, MHD_OPTION_END);
}

struct ml_server *ml_server_start(uint16_t port, const char *const *files, size_t file_count,
                                  struct ml_error *err)
{
    struct ml_server *server = calloc(1, sizeof(*server));
    uint16_t taken = port;
    int fd = server ? listen_here(port, &taken) : -ENOMEM;

    if (fd < 0) {
        ml_error_set(err, fd, "cannot listen on port %u: %s", port, strerror(-fd));
        free(server);
        return NULL;
    }
    server->files = files;
    server->file_count = file_count;
    if (ml_guard_init(&server->guard, taken) == 0)
        server->daemon = start_daemon(server, fd);
    if (!server->daemon) {
        ml_error_set(err, -EIO, "the server could not be started");
        close(fd);
        free(server);
        return NULL;
    }
    snprintf(server->address, sizeof(server->address), "http://127.0.0.1:%u/?token=%s", taken,
             server->guard.token);
    return server;
}

const char *ml_server_address(const struct ml_server *server)
{
    return server->address;
}

void ml_server_stop(struct ml_server *server)
{
    MHD_stop_daemon(server->daemon);
    free(server);
}
