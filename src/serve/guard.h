/* guard.h: who may ask: a browser that was given the address with the token. Other users of the
 * machine, and pages of other sites in the same browser, get nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_SERVE_GUARD_H
#define ML_SERVE_GUARD_H

#include <stdbool.h>
#include <stdint.h>

#define ML_TOKEN_BYTES 16
#define ML_PLACE_BYTES 8

/* Browsers send the cookies of a host to all its ports, so to servers of other users of the machine
 * too, but only for addresses below the cookie's path. That path is therefore one that no other
 * server can guess; it is no secret from those who have the token. */
struct ml_guard {
    uint16_t port;
    char token[2 * ML_TOKEN_BYTES + 1];
    char place[2 * ML_PLACE_BYTES + 1]; /* all addresses begin with "/PLACE/" */
    char cookie_name[32];               /* of this port: several servers, one browser */
};

/* What a request says about itself; NULL: nothing. */
struct ml_visitor {
    const char *host, *origin;
    const char *token;  /* in the address */
    const char *cookie; /* the one of that name */
};

/* @return 0 or negative errno: there is no random number */
int ml_guard_init(struct ml_guard *guard, uint16_t port);

/* Whether the request is for this server and not sent by another site's page. A name that another
 * site makes point here (DNS rebinding) is refused by its host. */
bool ml_guard_is_for_us(const struct ml_guard *guard, const struct ml_visitor *visitor);

/* The part of a URL's path after the place, "/" and what follows; NULL: it is elsewhere. */
const char *ml_guard_path(const struct ml_guard *guard, const char *url);

/* Whether the address has the token: the visitor may have the cookie. */
bool ml_guard_has_token(const struct ml_guard *guard, const struct ml_visitor *visitor);
bool ml_guard_has_cookie(const struct ml_guard *guard, const struct ml_visitor *visitor);

#endif
