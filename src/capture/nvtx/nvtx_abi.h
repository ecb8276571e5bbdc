/* nvtx_abi.h: the interface between NVTX and a tool.
 *
 * NVTX (versions 2 and 3, header-only or libnvToolsExt) loads the library named in
 * NVTX_INJECTION64_PATH at the program's first call and passes its function
 * InitializeInjectionNvtx2 a function that returns tables. A table of a *module* holds the
 * addresses of NVTX's own function pointers, in a fixed order; the tool stores its functions there.
 * Pointers that it leaves alone become no-ops. Each library that contains NVTX is a separate
 * instance and asks for itself.
 *
 * Declares only the parts that memledger uses, under its own names: NVTX's headers are not needed
 * to build.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_NVTX_ABI_H
#define ML_NVTX_ABI_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

/* ---- Attaching ---------------------------------------------------------- */

#define ML_NVTX_TABLE_CALLBACKS 1 /* asks for struct ml_nvtx_callbacks */

enum ml_nvtx_module {
    ML_NVTX_CORE = 1,  /* the default domain */
    ML_NVTX_CORE2 = 5, /* domains, registered strings */
};

typedef void (*ml_nvtx_function)(void);

struct ml_nvtx_callbacks {
    size_t struct_bytes;
    /* *ret_table has *ret_entries entries; the first is not used. Returns 0 for a module that this
     * NVTX does not have. */
    int (*module_table)(int module, ml_nvtx_function ***ret_table, unsigned *ret_entries);
};

typedef const void *(*ml_nvtx_get_table)(uint32_t id);

/* Indices into the table of ML_NVTX_CORE. A: bytes, W: wchar_t, EX: attributes. */
enum ml_nvtx_core {
    ML_NVTX_MARK_EX = 1,
    ML_NVTX_MARK_A,
    ML_NVTX_MARK_W,
    ML_NVTX_START_EX,
    ML_NVTX_START_A,
    ML_NVTX_START_W,
    ML_NVTX_END,
    ML_NVTX_PUSH_EX,
    ML_NVTX_PUSH_A,
    ML_NVTX_PUSH_W,
    ML_NVTX_POP,
    ML_NVTX_NAME_CATEGORY_A,
    ML_NVTX_NAME_CATEGORY_W,
};

/* Indices into the table of ML_NVTX_CORE2. */
enum ml_nvtx_core2 {
    ML_NVTX_DOMAIN_MARK_EX = 1,
    ML_NVTX_DOMAIN_START_EX,
    ML_NVTX_DOMAIN_END,
    ML_NVTX_DOMAIN_PUSH_EX,
    ML_NVTX_DOMAIN_POP,
    ML_NVTX_DOMAIN_NAME_CATEGORY_A = 8,
    ML_NVTX_DOMAIN_NAME_CATEGORY_W,
    ML_NVTX_REGISTER_STRING_A,
    ML_NVTX_REGISTER_STRING_W,
    ML_NVTX_DOMAIN_CREATE_A,
    ML_NVTX_DOMAIN_CREATE_W,
};

/* ---- Arguments ---------------------------------------------------------- */

/* Opaque to the program, created by the tool; NULL: the default domain. */
typedef struct ml_nvtx_domain_handle *ml_nvtx_domain;
typedef struct ml_nvtx_string_handle *ml_nvtx_string;

enum ml_nvtx_message_type {
    ML_NVTX_MESSAGE_ASCII = 1,
    ML_NVTX_MESSAGE_UNICODE = 2,
    ML_NVTX_MESSAGE_REGISTERED = 3,
};

/* Describes an event. `bytes` says how much of the structure the program knows. */
struct ml_nvtx_attributes {
    uint16_t version;
    uint16_t bytes;
    uint32_t category; /* 0: none */
    int32_t color_type;
    uint32_t color;
    int32_t payload_type;
    int32_t reserved;
    uint64_t payload;
    int32_t message_type; /* enum ml_nvtx_message_type; any other value: there is none */
    union {
        const char *ascii;
        const wchar_t *unicode;
        ml_nvtx_string registered;
    } message;
};
static_assert(offsetof(struct ml_nvtx_attributes, message) == 40, "NVTX's layout");
static_assert(sizeof(struct ml_nvtx_attributes) == 48, "NVTX's layout");

/* Levels are those of push and pop; NVTX itself returns -2 without a tool. */
#define ML_NVTX_NO_LEVEL (-1)

#endif
