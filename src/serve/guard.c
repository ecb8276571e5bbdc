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

int ml_guard_init(struct ml_guard *guard, uint16_t port)
{
    uint8_t random[ML_TOKEN_BYTES];

    if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
        return -errno;
    guard->port = port;
    for (size_t i = 0; i < sizeof(random); i++)
        snprintf(guard->token + 2 * i, 3, "%02x", random[i]);
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
