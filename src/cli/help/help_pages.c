/* help_pages.c: see help_pages.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "help_pages.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "markdown_inline.h"
#include "installed_files.h"

#define SUFFIX ".md"
#define READ_BYTES 65536

static int read_all(FILE *file, struct ml_buf *out)
{
    size_t n;

    do {
        if (ml_buf_reserve(out, READ_BYTES) < 0)
            return -ENOMEM;
        n = fread(out->data + out->len, 1, READ_BYTES, file);
        out->len += n;
        out->data[out->len] = '\0';
    } while (n > 0);
    return ferror(file) ? -EIO : 0;
}

/* The file FOLDER/TOPIC.md. */
static int read_page(const char *folder, const char *topic, struct ml_buf *out)
{
    char path[2 * PATH_MAX];
    FILE *file;
    int r;

    snprintf(path, sizeof(path), "%s/%s%s", folder, topic, SUFFIX);
    file = fopen(path, "re");
    if (!file)
        return -errno;
    r = read_all(file, out);
    fclose(file);
    return r;
}

/* The heading that the page begins with. */
static const char *title_of(const char *page, struct ml_arena *arena)
{
    size_t marks = strspn(page, "# ");
    struct ml_buf text = {0};
    int r = ml_markdown_inline(page + marks, strcspn(page + marks, "\n"), &text);
    const char *title = r == 0 ? ml_arena_dup(arena, text.data, text.len) : NULL;

    ml_buf_release(&text);
    return title;
}

static int add_topic(struct ml_help_topics *topics, const char *folder, const char *name)
{
    struct ml_help_topic topic = {.name = ml_arena_dup(&topics->arena, name, strlen(name))};
    struct ml_buf page = {0};
    int r = topic.name ? read_page(folder, name, &page) : -ENOMEM;

    if (r == 0 && page.data)
        topic.title = title_of((const char *)page.data, &topics->arena);
    ml_buf_release(&page);
    if (r < 0 || !topic.title)
        return r < 0 ? r : -ENOMEM;
    return ml_vec_push(&topics->list, topic);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct ml_help_topic *)a)->name, ((const struct ml_help_topic *)b)->name);
}

int ml_help_topics(struct ml_help_topics *ret)
{
    char folder[PATH_MAX];
    const struct dirent *entry;
    DIR *dir;
    int r = 0;

    *ret = (struct ml_help_topics){0};
    ml_pages_path(folder);
    dir = *folder ? opendir(folder) : NULL;
    while (dir && r == 0 && (entry = readdir(dir))) {
        size_t len = strlen(entry->d_name);
        char name[NAME_MAX + 1];

        if (len <= strlen(SUFFIX) || strcmp(entry->d_name + len - strlen(SUFFIX), SUFFIX) != 0 ||
            !islower((unsigned char)entry->d_name[0])) /* README.md is not a topic */
            continue;
        snprintf(name, sizeof(name), "%.*s", (int)(len - strlen(SUFFIX)), entry->d_name);
        r = add_topic(ret, folder, name);
    }
    if (dir)
        closedir(dir);
    ml_vec_sort(&ret->list, by_name);
    return r;
}

void ml_help_topics_release(struct ml_help_topics *topics)
{
    ml_vec_release(&topics->list);
    ml_arena_release(&topics->arena);
}

int ml_help_page(const char *topic, struct ml_buf *out, struct ml_error *err)
{
    char folder[PATH_MAX], commands[PATH_MAX + 16];
    int r;

    ml_pages_path(folder);
    if (!*folder)
        return ml_error_set(err, -ENOTDIR, "the pages of the documentation are not installed");
    if (strchr(topic, '/'))
        return -ENOENT;
    snprintf(commands, sizeof(commands), "%s/commands", folder);
    r = read_page(commands, topic, out);
    if (r == -ENOENT)
        r = read_page(folder, topic, out);
    if (r < 0 && r != -ENOENT)
        ml_error_set(err, r, "cannot read the page '%s': %s", topic, strerror(-r));
    return r;
}
