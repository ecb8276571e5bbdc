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
#include <fcntl.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "assets.h"
#include "child_output.h"
#include "command_query.h"
#include "file_answers.h"
#include "guard.h"
#include "opened_file.h"
#include "upload.h"

/* Browsers keep several for each tab, idle. */
#define CONNECTIONS_MAX 256
#define IDLE_SECONDS 20
#define ANSWER_SECONDS 300
#define ANSWER_BYTES (64u << 20)
#define API "/api/"
#define NAME_BYTES 200

struct ml_server {
    struct MHD_Daemon *daemon;
    struct ml_guard guard;
    struct ml_served_files *files;
    struct ml_private_folder *folder;
    int stop[2]; /* a pipe: closing its writing end ends the commands that are running */
    char address[128];
};

/* A command may take longer than a silent connection may stay. */
static void wait_for_command(struct MHD_Connection *connection, unsigned seconds)
{
    MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, seconds);
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
    const struct ml_served_files *files = asked->server->files;

    (void)kind;
    asked->r =
        ml_command_query_add(&asked->query, name, value, files->paths, files->count, &asked->err);
    return asked->r == 0 ? MHD_YES : MHD_NO;
}

/* Also a failure comes with its command: a view shows it beside the reason. */
static enum MHD_Result send_with_command(struct MHD_Connection *connection, struct asked *asked,
                                         unsigned status, struct MHD_Response *response)
{
    const char *command = ml_command_query_text(&asked->query);

    if (response && command)
        MHD_add_response_header(response, "X-Memledger-Command", command);
    return ml_answer(connection, status, response, ML_JSON_TYPE);
}

static enum MHD_Result run_command(struct MHD_Connection *connection, struct asked *asked)
{
    const struct ml_child_limits limits = {
        .output_bytes = ANSWER_BYTES, .seconds = ANSWER_SECONDS, .stop_fd = asked->server->stop[0]};
    struct ml_buf output = {0};
    enum MHD_Result sent;
    int code;

    wait_for_command(connection, ANSWER_SECONDS + IDLE_SECONDS);
    code = ml_child_output(asked->query.argv.items, &limits, &output, &asked->err);
    if (code < 0)
        sent = send_with_command(connection, asked, MHD_HTTP_INTERNAL_SERVER_ERROR,
                                 ml_response_of_error(asked->err.text));
    else if (code > 0)
        sent = send_with_command(connection, asked, MHD_HTTP_UNPROCESSABLE_CONTENT,
                                 ml_response_of_error(ml_child_reason(&output)));
    else
        sent = send_with_command(connection, asked, MHD_HTTP_OK,
                                 ml_response_of(output.data, output.len));
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
    sent = asked.r == 0
               ? run_command(connection, &asked)
               : ml_answer_error(connection,
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
            return ml_answer(connection, MHD_HTTP_OK,
                             MHD_create_response_from_buffer(a->bytes, (void *)(uintptr_t)a->data,
                                                             MHD_RESPMEM_PERSISTENT),
                             a->type);
    return ml_answer_error(connection, MHD_HTTP_NOT_FOUND, "there is no such page");
}

/* Exchanges the token in the address for a cookie, so that it does not stay in the history. The
 * browser sends that cookie only if this site's own page asks for the next one: a redirection of a
 * link elsewhere would arrive without it. */
static enum MHD_Result welcome(const struct ml_server *server, struct MHD_Connection *connection)
{
    static const char page[] =
        "<!doctype html><title>memledger</title><meta http-equiv=\"refresh\" content=\"0;url=./\">";
    struct MHD_Response *response = ml_response_of(page, strlen(page));
    char cookie[160];

    if (!response)
        return MHD_NO;
    snprintf(cookie, sizeof(cookie), "%s=%s; HttpOnly; SameSite=Strict; Path=/%s/",
             server->guard.cookie_name, server->guard.token, server->guard.place);
    MHD_add_response_header(response, "Set-Cookie", cookie);
    return ml_answer(connection, MHD_HTTP_OK, response, ML_HTML_TYPE);
}

/* @url  after the place */
static enum MHD_Result route(const struct ml_server *server, struct MHD_Connection *connection,
                             const char *url)
{
    if (strcmp(url, API "files") == 0)
        return ml_answer_files(connection, server->files);
    if (strcmp(url, API "state") == 0)
        return ml_answer_state(
            connection, server->files,
            MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "file"));
    if (strncmp(url, API, strlen(API)) == 0)
        return send_numbers(server, connection, url + strlen(API));
    return send_asset(connection, strcmp(url, "/") == 0 ? "/index.html" : url);
}

/* ---- Dropped files ----------------------------------------------------------- */

static const char *dropped_name(struct MHD_Connection *connection)
{
    const char *name = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "name");

    return name && *name ? name : "dropped";
}

static bool is_too_large(struct MHD_Connection *connection)
{
    const char *length = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Content-Length");

    return length && strtoull(length, NULL, 10) > ML_UPLOAD_MAX_BYTES;
}

/* @return the number among the files, or negative errno */
static int open_dropped(const struct ml_server *server, struct MHD_Connection *connection,
                        struct ml_upload *upload)
{
    const struct ml_opening opening = {.folder = server->folder, .stop_fd = server->stop[0]};
    char trace[PATH_MAX], name[NAME_BYTES];
    int r = ml_upload_end(upload);

    if (r == 0)
        r = ml_open_file(&opening, upload->path, trace, &upload->err);
    if (r < 0 || strcmp(trace, upload->path))
        ml_upload_discard(upload);
    if (r < 0)
        return r;
    snprintf(name, sizeof(name), "%s", dropped_name(connection));
    r = ml_served_files_add(server->files, trace, name, false);
    return r >= 0 ? r : ml_error_set(&upload->err, r, "too many files are open; start again");
}

static enum MHD_Result send_dropped(const struct ml_server *server,
                                    struct MHD_Connection *connection, struct ml_upload *upload)
{
    struct ml_buf text = {0};
    struct ml_json json;
    int number;

    wait_for_command(connection, 0);
    number = open_dropped(server, connection, upload);
    if (number < 0)
        return ml_answer_error(connection, MHD_HTTP_UNPROCESSABLE_CONTENT, upload->err.text);
    ml_json_init(&json, &text, false);
    ml_json_begin_object(&json);
    ml_json_kv_u64(&json, "id", (uint64_t)number);
    ml_json_end_object(&json);
    return ml_answer_json(connection, MHD_HTTP_OK, &json);
}

/* ---- Requests ------------------------------------------------------------------ */

/* One whose headers were accepted. */
struct request {
    struct ml_upload *upload; /* NULL: its body, if any, is ignored */
};

static enum MHD_Result accept_request(const struct ml_server *server,
                                      struct MHD_Connection *connection, bool drops,
                                      void **ret_request)
{
    struct request *request = calloc(1, sizeof(*request));

    if (request && drops)
        request->upload = ml_upload_begin(server->folder, dropped_name(connection));
    *ret_request = request;
    return request && (request->upload || !drops) ? MHD_YES : MHD_NO;
}

/* The headers have arrived: refuses, or goes on to the body, if there is one. A page that sends a
 * file says where it comes from. */
static enum MHD_Result begin_request(const struct ml_server *server,
                                     struct MHD_Connection *connection, const char *url,
                                     const char *method, void **request)
{
    const char *path = ml_guard_path(&server->guard, url);
    const struct ml_visitor visitor = {
        .host = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Host"),
        .origin = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Origin"),
        .token = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "token"),
        .cookie =
            MHD_lookup_connection_value(connection, MHD_COOKIE_KIND, server->guard.cookie_name),
    };
    bool reads = strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
    bool drops = path && strcmp(method, "POST") == 0 && strcmp(path, API "open") == 0;

    if (!ml_guard_is_for_us(&server->guard, &visitor) || (drops && !visitor.origin))
        return ml_answer_error(connection, MHD_HTTP_FORBIDDEN, "this address is not the server's");
    if (path && reads && strcmp(path, "/") == 0 && ml_guard_has_token(&server->guard, &visitor))
        return welcome(server, connection);
    if (!path || !ml_guard_has_cookie(&server->guard, &visitor))
        return ml_answer_error(connection, MHD_HTTP_FORBIDDEN,
                               "open the address that memledger view printed");
    if (!reads && !drops)
        return ml_answer_error(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET is answered");
    if (drops && is_too_large(connection))
        return ml_answer_error(connection, MHD_HTTP_CONTENT_TOO_LARGE,
                               "the file has more than 4 GiB; name it on the command line");
    return accept_request(server, connection, drops, request);
}

static enum MHD_Result answer(void *context, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *upload_data,
                              size_t *upload_bytes, void **request)
{
    const struct ml_server *server = context;
    struct ml_upload *upload;

    (void)version;
    if (!*request)
        return begin_request(server, connection, url, method, request);
    upload = ((struct request *)*request)->upload;
    if (*upload_bytes) {
        if (upload)
            ml_upload_put(upload, upload_data, *upload_bytes);
        *upload_bytes = 0;
        return MHD_YES;
    }
    if (upload)
        return send_dropped(server, connection, upload);
    return route(server, connection, ml_guard_path(&server->guard, url));
}

static void request_ended(void *context, struct MHD_Connection *connection, void **request,
                          enum MHD_RequestTerminationCode how)
{
    struct ml_upload *upload = *request ? ((struct request *)*request)->upload : NULL;

    (void)context, (void)connection, (void)how;
    if (upload && upload->fd >= 0)
        ml_upload_discard(upload); /* it broke off */
    ml_upload_free(upload);
    free(*request);
    *request = NULL;
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
                            MHD_OPTION_NOTIFY_COMPLETED, request_ended, NULL,
                            MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX,
                            MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS, MHD_OPTION_END);
}

static void release(struct ml_server *server)
{
    for (unsigned i = 0; i < 2; i++)
        if (server->stop[i] > 0)
            close(server->stop[i]);
    free(server);
}

struct ml_server *ml_server_start(const struct ml_server_opts *opts, struct ml_error *err)
{
    struct ml_server *server = calloc(1, sizeof(*server));
    uint16_t taken = opts->port;
    int fd = server ? listen_here(opts->port, &taken) : -ENOMEM;

    if (fd < 0) {
        ml_error_set(err, fd, "cannot listen on port %u: %s", opts->port, strerror(-fd));
        free(server);
        return NULL;
    }
    server->files = opts->files;
    server->folder = opts->folder;
    if (pipe2(server->stop, O_CLOEXEC) == 0 && ml_guard_init(&server->guard, taken) == 0)
        server->daemon = start_daemon(server, fd);
    if (!server->daemon) {
        ml_error_set(err, -EIO, "the server could not be started");
        close(fd);
        release(server);
        return NULL;
    }
    snprintf(server->address, sizeof(server->address), "http://127.0.0.1:%u/%s/?token=%s", taken,
             server->guard.place, server->guard.token);
    return server;
}

const char *ml_server_address(const struct ml_server *server)
{
    return server->address;
}

void ml_server_stop(struct ml_server *server)
{
    close(server->stop[1]);
    server->stop[1] = 0;
    MHD_stop_daemon(server->daemon);
    release(server);
}
