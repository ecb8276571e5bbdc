/* http_answer.h: answers to a browser. Each has the headers that keep other sites out, and that let
 * the page load nothing from elsewhere.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_SERVE_HTTP_ANSWER_H
#define ML_SERVE_HTTP_ANSWER_H

#include <microhttpd.h>

#include "json.h"

#define ML_JSON_TYPE "application/json"
#define ML_HTML_TYPE "text/html; charset=utf-8"

/* Takes the response; NULL: there was no memory for it. */
enum MHD_Result ml_answer(struct MHD_Connection *connection, unsigned status,
                          struct MHD_Response *response, const char *type);

/* A response with a copy of the bytes, or NULL. */
struct MHD_Response *ml_response_of(const void *data, size_t bytes);

/* Ends the document, and releases its text. */
enum MHD_Result ml_answer_json(struct MHD_Connection *connection, unsigned status,
                               struct ml_json *json);

/* A response {"error": reason}, or NULL. */
struct MHD_Response *ml_response_of_error(const char *reason);

/* Sends {"error": reason}. */
enum MHD_Result ml_answer_error(struct MHD_Connection *connection, unsigned status,
                                const char *reason);

#endif
