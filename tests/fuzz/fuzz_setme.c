/* fuzz_setme.c: any text as SETME.py; the dictionaries that result can be used.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz.h"

#include <errno.h>
#include <string.h>

#include "setme.h"

static void look_at(const struct ml_dictionary *d)
{
    FUZZ_REQUIRE(d->name && d->keywords.len > 0);
    for (size_t i = 0; i < d->categories.len; i++)
        for (size_t k = 0; k < i; k++)
            FUZZ_REQUIRE(strcmp(d->categories.items[i], d->categories.items[k]) != 0);
    for (size_t i = 0; i < d->keywords.len; i++) {
        FUZZ_REQUIRE(d->keywords.items[i].text != NULL);
        FUZZ_REQUIRE(d->keywords.items[i].category < d->categories.len);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct ml_dictionary found[ML_SETME_DICTIONARIES];
    struct ml_error err = {0};
    char *text = malloc(len + 1);
    size_t count;
    int r;

    FUZZ_REQUIRE(text != NULL);
    memcpy(text, data, len);
    text[len] = '\0';
    (void)ml_setme_recognise(text);
    r = ml_setme_parse("memory", text, found, &count, &err);
    FUZZ_REQUIRE(r == 0 || (r == -EINVAL && strstr(err.text, "memory")));
    FUZZ_REQUIRE(count <= ML_SETME_DICTIONARIES && (r < 0 || count > 0));
    for (size_t i = 0; i < count; i++) {
        look_at(&found[i]);
        ml_dictionary_release(&found[i]);
    }
    free(text);
    return 0;
}
