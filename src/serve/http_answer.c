/* http_answer.c: see http_answer.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "http_answer.h"

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

enum MHD_Result ml_answer(struct MHD_Connection *connection, unsigned status,
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

struct MHD_Response *ml_response_of(const void *data, size_t bytes)
{
    return MHD_create_response_from_buffer(bytes, (void *)(uintptr_t)data, MHD_RESPMEM_MUST_COPY);
}

/* Ends the document, and releases its text. */
static struct MHD_Response *response_of_json(struct ml_json *json)
{
    struct MHD_Response *response = NULL;

    if (ml_json_finish(json) == 0)
        response = ml_response_of(json->out->data, json->out->len);
    ml_buf_release(json->out);
    return response;
}

enum MHD_Result ml_answer_json(struct MHD_Connection *connection, unsigned status,
                               struct ml_json *json)
{
    return ml_answer(connection, status, response_of_json(json), ML_JSON_TYPE);
}

struct MHD_Response *ml_response_of_error(const char *reason)
{
    struct ml_buf text = {0};
    struct ml_json json;

    ml_json_init(&json, &text, false);
    ml_json_begin_object(&json);
    ml_json_kv_cstr(&json, "error", reason);
    ml_json_end_object(&json);
    return response_of_json(&json);
}

enum MHD_Result ml_answer_error(struct MHD_Connection *connection, unsigned status,
                                const char *reason)
{
    return ml_answer(connection, status, ml_response_of_error(reason), ML_JSON_TYPE);
}
