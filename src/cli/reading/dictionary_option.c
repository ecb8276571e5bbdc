/* dictionary_option.c: see dictionary_option.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "dictionary_option.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "setme.h"

#define FILE_BYTES_MAX (1 << 20)

static int names_of_all(char *ret, size_t len)
{
    size_t at = 0;

    ret[0] = '\0';
    for (size_t i = 0; ml_dictionary_names[i] && at < len; i++)
        at += (size_t)snprintf(ret + at, len - at, "%s%s", i ? ", " : "", ml_dictionary_names[i]);
    return -ENOENT;
}

static int read_file(const char *path, struct ml_buf *ret, struct ml_error *err)
{
    FILE *file = fopen(path, "re");
    char names[128];
    size_t n = 0;
    int error = 0;

    if (!file && errno == ENOENT)
        return ml_error_set(err, names_of_all(names, sizeof(names)),
                            "%s: no such file or dictionary; the built-in dictionaries are %s",
                            path, names);
    if (!file)
        return ml_error_set(err, -errno, "%s: %s", path, strerror(errno));
    if (ml_buf_reserve(ret, FILE_BYTES_MAX) == 0) {
        n = fread(ret->data, 1, FILE_BYTES_MAX, file);
        error = ferror(file) ? errno : 0;
        ret->data[n] = '\0';
        ret->len = n;
    }
    fclose(file);
    if (!ret->data)
        return -ENOMEM;
    if (error)
        return ml_error_set(err, -error, "%s: %s", path, strerror(error));
    if (n == FILE_BYTES_MAX || strlen((char *)ret->data) != n)
        return ml_error_set(err, -EINVAL, "%s: not a keyword dictionary", path);
    return 0;
}

/* Appends it, also after a failure, so that the list releases it. */
static int append(ml_dictionary_list *list, struct ml_dictionary *dictionary, int r)
{
    if (ml_vec_push(list, *dictionary) == 0)
        return r;
    ml_dictionary_release(dictionary);
    return -ENOMEM;
}

/* SETME.py has several. */
static int load_text(const char *name, const char *text, ml_dictionary_list *list,
                     struct ml_error *err)
{
    struct ml_dictionary found[ML_SETME_DICTIONARIES] = {0};
    size_t count = 1;
    int r = ml_setme_recognise(text) ? ml_setme_parse(name, text, found, &count, err)
                                     : ml_dictionary_parse(name, text, found, err);

    for (size_t i = 0; i < count; i++)
        r = append(list, &found[i], r);
    return r;
}

static int load(const char *name, ml_dictionary_list *list, struct ml_error *err)
{
    struct ml_dictionary dictionary;
    struct ml_buf text = {0};
    int r = ml_dictionary_builtin(name, &dictionary, err);

    if (r != -ENOENT)
        return append(list, &dictionary, r);
    r = read_file(name, &text, err);
    if (r == 0)
        r = load_text(name, (char *)text.data, list, err);
    ml_buf_release(&text);
    return r;
}

static int no_name(struct ml_error *err)
{
    char names[128];

    names_of_all(names, sizeof(names));
    return ml_error_set(err, -EINVAL,
                        "--dictionary: a name is empty; give files, or some of %s, with a comma "
                        "between two",
                        names);
}

int ml_dictionaries_load(const char *names, ml_dictionary_list *ret, struct ml_error *err)
{
    int r = 0;

    *ret = (ml_dictionary_list){0};
    do {
        size_t len = strcspn(names, ",");
        char name[4096];

        if (len == 0)
            return no_name(err);
        snprintf(name, sizeof(name), "%.*s", (int)len, names);
        r = load(name, ret, err);
        names += len;
    } while (r == 0 && *names++ == ',');
    return r;
}

void ml_dictionaries_release(ml_dictionary_list *list)
{
    for (size_t i = 0; i < list->len; i++)
        ml_dictionary_release(&list->items[i]);
    ml_vec_release(list);
}

const char *ml_dictionary_word(size_t i)
{
    return ml_dictionary_names[i];
}
