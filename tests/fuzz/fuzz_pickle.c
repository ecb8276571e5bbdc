/* fuzz_pickle.c: any bytes as a pickle; the resulting values can be read.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz.h"

#include <string.h>

#include "pickle_machine.h"

static void look_at_value(const struct ml_pickle_machine *m, ml_pickle_value value)
{
    int64_t number;
    size_t len;
    const char *text;

    switch (ml_pickle_tag(value)) {
    case ML_PICKLE_NONE:
    case ML_PICKLE_HUGE: FUZZ_REQUIRE(!ml_pickle_int(m, value, &number)); break;
    case ML_PICKLE_BOOL:
    case ML_PICKLE_INT:
    case ML_PICKLE_WIDE: FUZZ_REQUIRE(ml_pickle_int(m, value, &number)); break;
    case ML_PICKLE_FLOAT: FUZZ_REQUIRE(ml_pickle_index(value) < m->numbers.len); break;
    case ML_PICKLE_TEXT:
        text = ml_pickle_chars(m, value, &len);
        FUZZ_REQUIRE(text && text[len] == '\0');
        break;
    case ML_PICKLE_BYTES: FUZZ_REQUIRE(ml_pickle_index(value) < ml_intern_len(&m->texts)); break;
    case ML_PICKLE_NODE: FUZZ_REQUIRE(ml_pickle_index(value) < m->nodes.len); break;
    default: FUZZ_REQUIRE(!"a tag that does not exist");
    }
}

static void look_at_nodes(const struct ml_pickle_machine *m)
{
    ml_pickle_value found;

    for (size_t i = 0; i < m->nodes.len; i++) {
        const struct ml_pickle_node *node = &m->nodes.items[i];

        FUZZ_REQUIRE(node->kind < ML_PICKLE_TAKEN);
        FUZZ_REQUIRE(node->kind != ML_PICKLE_DICT || node->len % 2 == 0);
        for (uint32_t j = 0; j < node->len; j++)
            look_at_value(m, node->items[j]);
        if (ml_pickle_find(m, node, "segments", &found))
            look_at_value(m, found);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct ml_import_source source;
    struct ml_pickle_machine machine;
    struct ml_error err = {0};
    ml_pickle_value root;
    int r;

    ml_import_source_memory(&source, data, len);
    ml_pickle_init(&machine, &source, NULL);
    r = ml_pickle_read(&machine, &root, &err);
    FUZZ_REQUIRE(r <= 0);
    FUZZ_REQUIRE(r == 0 || (err.code == r && strstr(err.text, "memory: ")));
    if (r == 0)
        look_at_value(&machine, root);
    look_at_nodes(&machine);
    ml_pickle_release(&machine);
    ml_import_source_release(&source);
    return 0;
}
