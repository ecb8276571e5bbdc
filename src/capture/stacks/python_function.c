/* python_function.c: see python_function.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "python_function.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "compiler.h"
#include "names.h"
#include "python_memory.h"
#include "python_recent.h"
#include "python_stack.h"
#include "python_walk.h"

#define FOLDERS_MAX 4
#define FOLDER_BYTES_MAX 512
#define FRAMES_MAX 64 /* to look for a function that counts */

#define MODULE_CODE "<module>"
#define FROZEN_CODE "<frozen " /* of the interpreter's own modules */
#define GENERATED_CODE "/torchinductor_"
/* A function that PyTorch's compiler made of the rest of another. */
#define RESUMED_CODE "torch_dynamo_resume_in_"
#define RESUMED_AT "_at_"

/* A piece of text, which need not end in a NUL. */
struct text {
    const char *at;
    size_t len;
};

static struct folder {
    char text[FOLDER_BYTES_MAX];
    size_t len;
} folders[FOLDERS_MAX];
static _Atomic unsigned folders_count;

/* ---- Code that does not count ----------------------------------------------------- */

static bool begins_with(struct text t, const char *start, size_t len)
{
    return t.len >= len && memcmp(t.at, start, len) == 0;
}

static bool begins_with_word(struct text t, const char *word)
{
    return begins_with(t, word, strlen(word));
}

/* In the folder, but not in that of the packages inside of it. */
static bool is_in(struct text file, const struct folder *folder)
{
    struct text rest;

    if (!begins_with(file, folder->text, folder->len))
        return false;
    rest = (struct text){file.at + folder->len, file.len - folder->len};
    return !begins_with_word(rest, "site-packages/") && !begins_with_word(rest, "dist-packages/");
}

/* @file  ends in a NUL */
static bool is_passed_over(struct text file)
{
    /* Pairs with the release store in ml_python_pass_over: the folders are written. */
    unsigned n = atomic_load_explicit(&folders_count, memory_order_acquire);

    for (unsigned i = 0; i < n; i++) {
        if (is_in(file, &folders[i]))
            return true;
    }
    return !file.len || begins_with_word(file, FROZEN_CODE) || strstr(file.at, GENERATED_CODE);
}

/* ---- Names ------------------------------------------------------------------------ */

static struct text last_part(struct text path)
{
    size_t start = path.len;

    while (start > 0 && path.at[start - 1] != '/')
        start--;
    return (struct text){path.at + start, path.len - start};
}

/* "train_step" of "torch_dynamo_resume_in_train_step_at_33". */
static struct text without_resume(struct text name)
{
    size_t start = strlen(RESUMED_CODE), len = name.len;

    if (!begins_with_word(name, RESUMED_CODE))
        return name;
    while (len > start && name.at[len - 1] >= '0' && name.at[len - 1] <= '9')
        len--;
    if (len <= start + strlen(RESUMED_AT) ||
        memcmp(name.at + len - strlen(RESUMED_AT), RESUMED_AT, strlen(RESUMED_AT)) != 0)
        return name;
    return (struct text){name.at + start, len - strlen(RESUMED_AT) - start};
}

/* Comprehensions and lambdas are part of the function around them. */
static bool is_function(struct text name)
{
    return name.len && name.at[0] != '<';
}

static struct text read_text(const struct ml_python *py, uintptr_t object, char *room, size_t bytes)
{
    size_t len = ml_python_text(py, object, room, bytes - 1);

    room[len] = '\0';
    return (struct text){room, len};
}

/* @ret_name  0: it does not count
 * @return false: it counts, but gets no name now, because a lock is taken or the recording ends */
static ML_NOINLINE bool name_of(const struct ml_python *py, uintptr_t code, uint32_t *ret_name)
{
    const struct ml_python_layout *at = &py->layout;
    char file_room[ML_NAME_MAX_BYTES], name_room[ML_NAME_MAX_BYTES];
    struct text file =
        read_text(py, ml_python_word(code + at->code_file), file_room, sizeof(file_room));
    struct text name =
        read_text(py, ml_python_word(code + at->code_name), name_room, sizeof(name_room));

    *ret_name = 0;
    if (is_passed_over(file))
        return true;
    if (strcmp(name.at, MODULE_CODE) == 0) {
        name = last_part(file);
    } else if (!is_function(name)) {
        return true;
    } else if (at->code_full_name && !begins_with_word(name, RESUMED_CODE)) {
        name =
            read_text(py, ml_python_word(code + at->code_full_name), name_room, sizeof(name_room));
    }
    name = without_resume(name);
    *ret_name = ml_name_bytes(name.at, name.len);
    return *ret_name;
}

/* ---- Code objects that were seen before --------------------------------------------- */

/* Threads share the entries and write them without a lock. The two words of an entry belong
 * together if they agree on the code object. */
#define KNOWN_BITS 8

static struct known_code {
    _Atomic uint64_t check;  /* the code object's address, exclusive-or the next */
    _Atomic uint64_t answer; /* the name, and how many code objects had been freed */
} known_codes[1 << KNOWN_BITS];

static struct known_code *entry_of(uintptr_t code)
{
    return &known_codes[(uint64_t)code * 0x9e3779b97f4a7c15u >> (64 - KNOWN_BITS)];
}

static uint64_t answer_of(uint32_t name, uint64_t freed)
{
    return name | freed << 32;
}

static ML_ALWAYS_INLINE bool find_known(uintptr_t code, uint64_t freed, uint32_t *ret_name)
{
    const struct known_code *known = entry_of(code);
    uint64_t answer = atomic_load_explicit(&known->answer, memory_order_relaxed);
    uint64_t check = atomic_load_explicit(&known->check, memory_order_relaxed);

    *ret_name = (uint32_t)answer;
    return (check ^ answer) == code && answer == answer_of((uint32_t)answer, freed);
}

static void keep_known(uintptr_t code, uint64_t freed, uint32_t name)
{
    struct known_code *known = entry_of(code);
    uint64_t answer = answer_of(name, freed);

    atomic_store_explicit(&known->answer, answer, memory_order_relaxed);
    atomic_store_explicit(&known->check, code ^ answer, memory_order_relaxed);
}

static ML_ALWAYS_INLINE uint32_t name_of_code(const struct ml_python *py, uintptr_t code)
{
    uint64_t freed;
    bool is_counted = ml_python_freed_codes(py, &freed);
    uint32_t name;

    if (ML_LIKELY(is_counted && find_known(code, freed, &name)))
        return name;
    if (name_of(py, code, &name) && is_counted)
        keep_known(code, freed, name);
    return name;
}

uint32_t ml_python_function_here(void)
{
    int saved_errno = errno;
    const struct ml_python *py =
        atomic_load_explicit(&folders_count, memory_order_relaxed) ? ml_python_here() : NULL;
    uintptr_t frame = py ? ml_python_innermost(py) : 0;
    uint32_t name = 0;

    for (unsigned i = 0; frame && !name && i < FRAMES_MAX; i++) {
        uintptr_t code = ml_python_next_code(py, &frame);
        name = code ? name_of_code(py, code) : 0;
    }
    errno = saved_errno;
    return name;
}

void ml_python_pass_over(const char *folder, size_t bytes)
{
    unsigned n = atomic_load_explicit(&folders_count, memory_order_relaxed);

    ml_python_look_for();
    for (unsigned i = 0; i < n; i++) {
        if (folders[i].len == bytes && memcmp(folders[i].text, folder, bytes) == 0)
            return;
    }
    if (n == FOLDERS_MAX || !bytes || bytes > FOLDER_BYTES_MAX)
        return;
    memcpy(folders[n].text, folder, bytes);
    folders[n].len = bytes;
    atomic_store_explicit(&folders_count, n + 1, memory_order_release);
}
