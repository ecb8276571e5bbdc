/* guard.c: see guard.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "guard.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

/* @ret  two digits for each random byte, and a zero */
static int draw(char *ret, size_t bytes)
{
    uint8_t random[ML_TOKEN_BYTES];

    if (getrandom(random, bytes, 0) != (ssize_t)bytes)
        return -errno;
    for (size_t i = 0; i < bytes; i++)
        snprintf(ret + 2 * i, 3, "%02x", random[i]);
    return 0;
}

int ml_guard_init(struct ml_guard *guard, uint16_t port)
{
    int r = draw(guard->token, ML_TOKEN_BYTES);

    if (r == 0)
        r = draw(guard->place, ML_PLACE_BYTES);
    if (r < 0)
        return r;
    guard->port = port;
    snprintf(guard->cookie_name, sizeof(guard->cookie_name), "memledger-%u", port);
    return 0;
}

/* "127.0.0.1:PORT" or "localhost:PORT", after what comes before it. */
static bool is_our_address(const struct ml_guard *guard, const char *text, const char *before)
{
    static const char *const hosts[] = {"127.0.0.1", "localhost"};
    char expected[64];

    for (size_t i = 0; i < sizeof(hosts) / sizeof(*hosts); i++) {
        snprintf(expected, sizeof(expected), "%s%s:%u", before, hosts[i], guard->port);
        if (strcmp(text, expected) == 0)
            return true;
    }
    return false;
}

bool ml_guard_is_for_us(const struct ml_guard *guard, const struct ml_visitor *visitor)
{
    return visitor->host && is_our_address(guard, visitor->host, "") &&
           (!visitor->origin || is_our_address(guard, visitor->origin, "http://"));
}

const char *ml_guard_path(const struct ml_guard *guard, const char *url)
{
    size_t len = strlen(guard->place);

    if (url[0] != '/' || strncmp(url + 1, guard->place, len) != 0 || url[1 + len] != '/')
        return NULL;
    return url + 1 + len;
}

/* Takes the same time wherever they differ. */
static bool is_token(const struct ml_guard *guard, const char *text)
{
    size_t len = strlen(guard->token);
    unsigned char difference = 0;

    if (!text || strlen(text) != len)
        return false;
    for (size_t i = 0; i < len; i++)
        difference |= (unsigned char)(text[i] ^ guard->token[i]);
    return difference == 0;
}

bool ml_guard_has_token(const struct ml_guard *guard, const struct ml_visitor *visitor)
{
    return is_token(guard, visitor->token);
}

bool ml_guard_has_cookie(const struct ml_guard *guard, const struct ml_visitor *visitor)
{
    return is_token(guard, visitor->cookie);
}
