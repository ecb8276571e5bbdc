/* importer.c: the table of formats.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "importer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "block.h"
#include "import_formats.h"
#include "unknowns.h"

const struct ml_import_format *const ml_import_formats[] = {
    &ml_import_smi,       &ml_import_tbd_log,        &ml_import_tbd_analysis,
    &ml_import_mxnet_csv, &ml_import_mxnet_pool_csv, &ml_import_mxnet_log,
    &ml_import_chrome,    &ml_import_torch,          &ml_import_pprof,
    &ml_import_heaptrack, &ml_import_memray,         NULL,
};

const struct ml_import_format *ml_import_format_find(const char *name)
{
    for (size_t i = 0; ml_import_formats[i]; i++)
        if (strcmp(ml_import_formats[i]->name, name) == 0)
            return ml_import_formats[i];
    return NULL;
}

const char *ml_import_format_list(char buf[ML_IMPORT_LIST_BYTES])
{
    size_t len = 0;

    buf[0] = '\0';
    for (size_t i = 0; ml_import_formats[i] && len < ML_IMPORT_LIST_BYTES; i++)
        len += (size_t)snprintf(buf + len, ML_IMPORT_LIST_BYTES - len, "%s%s", i ? ", " : "",
                                ml_import_formats[i]->name);
    return buf;
}

static int unknown_format(const struct ml_import_source *source, struct ml_error *err)
{
    char names[ML_IMPORT_LIST_BYTES];

    return ml_error_set(err, -EINVAL,
                        "%s: not recognised as one of the formats %s; if it is one, name it "
                        "with --format",
                        source->name, ml_import_format_list(names));
}

static bool is_trace(const uint8_t *head, size_t len)
{
    struct ml_file_header header;

    return len >= ML_FILE_HEADER_BYTES && ml_file_header_get(head, &header) != ML_FRAME_NOT_OURS;
}

int ml_import_recognise(struct ml_import_source *source, const struct ml_import_format **ret,
                        struct ml_error *err)
{
    const uint8_t *head;
    size_t len;
    int best = 0;
    int r = ml_import_peek(source, ML_IMPORT_HEAD_BYTES, &head, &len, err);

    if (r < 0)
        return r;
    if (len == 0)
        return ml_error_set(err, -EINVAL, "%s: is empty; there is nothing to import", source->name);
    if (is_trace(head, len))
        return ml_error_set(err, -EINVAL,
                            "%s: is already a memledger trace; see memledger summary %s",
                            source->name, source->name);
    for (size_t i = 0; ml_import_formats[i]; i++) {
        int score = ml_import_formats[i]->recognise(head, len);

        if (score > best) {
            best = score;
            *ret = ml_import_formats[i];
        }
    }
    return best ? 0 : unknown_format(source, err);
}

int ml_import_run(const struct ml_import_format *format, struct ml_import_source *source,
                  struct ml_import_sink *sink, struct ml_error *err)
{
    int r;

    ml_dict_config(&sink->dict, ML_SETTING_IMPORT_FORMAT, format->name);
    r = format->run(source, sink, err);
    return r < 0 ? r : ml_import_sink_check(sink, err);
}
