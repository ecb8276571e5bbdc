/* nvtx_names.c: see nvtx_names.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "nvtx_names.h"

#include <stdbool.h>
#include <string.h>

#include "compiler.h"
#include "names.h"
#include "nvtx_domains.h"
#include "ring.h"
#include "utf8.h"

#define NAMELESS "range"

/* A text under construction, cut when it is too long. */
struct name {
    size_t len;
    char bytes[ML_NAME_MAX_BYTES];
};

static void append(struct name *n, const char *bytes, size_t len)
{
    len = ml_min_u64(len, sizeof(n->bytes) - n->len);
    memcpy(n->bytes + n->len, bytes, len);
    n->len += len;
}

static void append_number(struct name *n, uint32_t name)
{
    uint32_t len;
    const char *bytes = ml_name_text(name, &len);

    append(n, bytes, len);
}

/* ---- Messages ----------------------------------------------------------- */

/* A message, as bytes and perhaps as a number. */
struct message {
    const char *bytes;
    size_t len;
    uint32_t number;   /* 0: not looked up */
    uint32_t in_scope; /* a registered string's whole name in `domain`, or 0 */
    uint32_t domain;
};

struct ml_nvtx_attributes ml_nvtx_ascii(const char *message)
{
    return (struct ml_nvtx_attributes){.bytes = sizeof(struct ml_nvtx_attributes),
                                       .message_type = ML_NVTX_MESSAGE_ASCII,
                                       .message.ascii = message};
}

struct ml_nvtx_attributes ml_nvtx_wide(const wchar_t *message)
{
    return (struct ml_nvtx_attributes){.bytes = sizeof(struct ml_nvtx_attributes),
                                       .message_type = ML_NVTX_MESSAGE_UNICODE,
                                       .message.unicode = message};
}

/* Whether PyTorch's additions to an operator's name begin at this comma. */
static bool addition_at(const char *comma)
{
    static const char *const additions[] = {
        ", seq = ", ", op_id = ", ", sizes = ", ", input_op_ids = "};

    for (size_t i = 0; i < ML_ARRAY_SIZE(additions); i++) {
        if (!strncmp(comma, additions[i], strlen(additions[i])))
            return true;
    }
    return false;
}

static size_t length_without_additions(const char *text)
{
    size_t len = 0;

    while (len < ML_NAME_MAX_BYTES && text[len] && (text[len] != ',' || !addition_at(text + len)))
        len++;
    return len;
}

static void read_wide(const wchar_t *text, struct name *out)
{
    char bytes[ML_UTF8_MAX_BYTES];

    for (; *text; text++) {
        size_t n = ml_utf8_encode((uint32_t)*text, bytes);
        if (n > sizeof(out->bytes) - out->len)
            break;
        append(out, bytes, n);
    }
}

/* A handle: 1, 10 bits of domain, 24 of the whole name, 24 of the message. */
#define NUMBER_BITS 24
#define NUMBER_MASK ((1u << NUMBER_BITS) - 1)
#define HANDLE_TAG (1ull << 62)
static_assert(ML_NAMES_MAX <= NUMBER_MASK + 1, "a name's number fits into a handle");

static bool read_registered(ml_nvtx_string handle, struct message *m)
{
    uint64_t bits = (uintptr_t)handle;
    uint32_t len;

    if (!(bits & HANDLE_TAG))
        return false;
    m->number = bits & NUMBER_MASK;
    m->in_scope = bits >> NUMBER_BITS & NUMBER_MASK;
    m->domain = bits >> (2 * NUMBER_BITS) & (ML_NVTX_DOMAINS - 1);
    m->bytes = ml_name_text(m->number, &len);
    m->len = len;
    return len;
}

static bool read_message(const struct ml_nvtx_attributes *a, struct name *scratch,
                         struct message *m)
{
    if (!a || a->bytes < sizeof(*a) || !a->message.ascii)
        return false;
    switch (a->message_type) {
    case ML_NVTX_MESSAGE_ASCII:
        m->bytes = a->message.ascii;
        m->len = length_without_additions(m->bytes);
        return m->len;
    case ML_NVTX_MESSAGE_UNICODE:
        read_wide(a->message.unicode, scratch);
        m->bytes = scratch->bytes;
        m->len = scratch->len;
        return m->len;
    case ML_NVTX_MESSAGE_REGISTERED: return read_registered(a->message.registered, m);
    default: return false;
    }
}

static struct message message_of(const struct ml_nvtx_attributes *a, struct name *scratch)
{
    struct message m = {0};

    scratch->len = 0;
    if (!read_message(a, scratch, &m)) {
        m.bytes = NAMELESS;
        m.len = strlen(NAMELESS);
    }
    return m;
}

/* ---- Names -------------------------------------------------------------- */

static uint32_t message_number(const struct message *m)
{
    return m->number ? m->number : ml_name_bytes(m->bytes, m->len);
}

static uint32_t compose(uint32_t domain_name, const struct message *m, uint32_t category)
{
    struct name n;

    n.len = 0;
    if (domain_name) {
        append_number(&n, domain_name);
        append(&n, "/", 1);
    }
    append(&n, m->bytes, m->len);
    if (category) {
        append(&n, " [", 2);
        append_number(&n, category);
        append(&n, "]", 1);
    }
    return ml_name_bytes(n.bytes, n.len);
}

static uint32_t category_of(uint32_t domain, const struct ml_nvtx_attributes *a)
{
    if (!a || a->bytes < sizeof(*a) || !a->category)
        return 0;
    return ml_nvtx_category(domain, a->category);
}

uint32_t ml_nvtx_scope_name(uint32_t domain, const struct ml_nvtx_attributes *a)
{
    uint32_t category = category_of(domain, a);
    uint32_t domain_name = ml_nvtx_domain_name(domain);
    struct name scratch;
    struct message m = message_of(a, &scratch);

    if (!category && m.in_scope && m.domain == domain)
        return m.in_scope;
    if (!category && !domain_name)
        return message_number(&m);
    return compose(domain_name, &m, category);
}

uint32_t ml_nvtx_bare_name(uint32_t domain, const struct ml_nvtx_attributes *a)
{
    uint32_t category = category_of(domain, a);
    struct name scratch;
    struct message m = message_of(a, &scratch);

    return category ? compose(0, &m, category) : message_number(&m);
}

uint32_t ml_nvtx_message(const struct ml_nvtx_attributes *a)
{
    struct name scratch;
    struct message m = {0};

    scratch.len = 0;
    return read_message(a, &scratch, &m) ? message_number(&m) : 0;
}

ml_nvtx_string ml_nvtx_register(uint32_t domain, const struct ml_nvtx_attributes *a)
{
    uint64_t whole = ml_nvtx_scope_name(domain, a);
    uint64_t bare = ml_nvtx_bare_name(domain, a);
    uint64_t handle =
        HANDLE_TAG | (uint64_t)domain << (2 * NUMBER_BITS) | whole << NUMBER_BITS | bare;

    return (ml_nvtx_string)(uintptr_t)handle;
}
