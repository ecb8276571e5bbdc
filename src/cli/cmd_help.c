/* cmd_help.c: `memledger help [TOPIC]`: lists the commands, or shows a page.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "help_pages.h"
#include "markdown_text.h"
#include "nearest.h"
#include "pager.h"
#include "report_command.h"
#include "say.h"
#include "verb_list.h"

#define PAGE_WIDTH 80      /* without a terminal */
#define PAGE_WIDTH_MAX 100 /* longer lines are hard to read */
#define CONTAINING_MAX 6   /* suggestions for a word that is not a topic */

static const char *const group_titles[ML_GROUP_COUNT] = {
    [ML_GROUP_RECORD] = "Record",
    [ML_GROUP_LOOK] = "Look at a recording",
    [ML_GROUP_COMPARE] = "Compare recordings",
    [ML_GROUP_WHY] = "Find out why",
    [ML_GROUP_EXCHANGE] = "Exchange data with other tools",
    [ML_GROUP_OTHER] = "Get help",
};

static int list_commands(void)
{
    puts("Usage: memledger COMMAND [OPTION]...\n\n"
         "Record every allocation of a program and show where its memory went.\n\n"
         "  memledger run -- python train.py        record a program\n"
         "  memledger run --heap -- ./server        record its host heap too\n"
         "  memledger summary FILE.mled             show the peak and its composition");
    for (int group = 0; group < ML_GROUP_COUNT; group++) {
        printf("\n%s:\n", group_titles[group]);
        for (size_t i = 0; ml_verbs[i]; i++)
            if ((int)ml_verbs[i]->group == group)
                printf("  %-15s%s\n", ml_verbs[i]->name, ml_verbs[i]->summary);
    }
    puts("\n"
         "memledger COMMAND --help lists the options of a command, memledger help COMMAND\n"
         "shows its page, memledger help topics lists all pages, and memledger --version\n"
         "prints the version.");
    return ML_EXIT_OK;
}

static int longest_name(const struct ml_help_topics *topics)
{
    size_t longest = 0;

    for (size_t i = 0; i < topics->list.len; i++) {
        size_t len = strlen(topics->list.items[i].name);

        if (len > longest)
            longest = len;
    }
    return (int)longest;
}

static int list_topics(void)
{
    struct ml_help_topics topics;
    int r = ml_help_topics(&topics), width = longest_name(&topics);

    puts("Every command has a page: memledger help run. These pages explain the rest:\n");
    for (size_t i = 0; r == 0 && i < topics.list.len; i++)
        printf("  %-*s  %s\n", width, topics.list.items[i].name, topics.list.items[i].title);
    if (r == 0 && topics.list.len == 0)
        ml_say("the pages of the documentation are not installed; install memledger again");
    else if (r < 0)
        ml_say("cannot list the pages: %s", strerror(-r));
    ml_help_topics_release(&topics);
    return r < 0 ? ML_EXIT_FAILURE : ML_EXIT_OK;
}

/* ---- A word that is not a topic ----------------------------------------- */

struct suggestions {
    const char *typed;
    struct ml_nearest nearest;
    struct ml_buf containing; /* "pytorch, tutorial-pytorch" */
    size_t count;
};

static void suggest(struct suggestions *s, const char *name)
{
    ml_nearest_offer(&s->nearest, name);
    if (!strstr(name, s->typed) || s->count == CONTAINING_MAX)
        return;
    ml_buf_printf(&s->containing, "%s%s", s->count ? ", " : "", name);
    s->count++;
}

static int unknown_topic(const char *typed)
{
    struct suggestions s = {.typed = typed, .nearest = {.typed = typed}};
    struct ml_help_topics topics;
    const char *meant;

    for (size_t i = 0; ml_verbs[i]; i++)
        suggest(&s, ml_verbs[i]->name);
    if (ml_help_topics(&topics) == 0)
        for (size_t i = 0; i < topics.list.len; i++)
            suggest(&s, topics.list.items[i].name);
    meant = s.containing.len ? (const char *)s.containing.data : s.nearest.word;
    ml_say("there is no help on '%s'%s%s%s", typed, meant ? "; did you mean " : "",
           meant ? meant : "", meant ? "?" : "");
    fputs("memledger help topics lists all pages\n", stderr);
    ml_buf_release(&s.containing);
    ml_help_topics_release(&topics);
    return ML_EXIT_USAGE;
}

/* ---- A page -------------------------------------------------------------- */

static struct ml_style page_style(void)
{
    const struct ml_report_opts none = {0};
    struct ml_style style = ml_report_style(&none);

    if (style.width == 0)
        style.width = PAGE_WIDTH;
    if (style.width > PAGE_WIDTH_MAX)
        style.width = PAGE_WIDTH_MAX;
    return style;
}

static int show_page(const struct ml_buf *page)
{
    struct ml_style style = page_style();
    struct ml_buf text = {0};
    int status = ML_EXIT_FAILURE;

    if (ml_markdown_text((const char *)page->data, &style, &text) == 0)
        status = ml_pager_show(&text);
    else
        ml_say("cannot show the page: out of memory");
    ml_buf_release(&text);
    return status;
}

/* Without its page, a command still has its list of options. */
static int help_without_page(const char *topic, const struct ml_error *err)
{
    const struct ml_verb *verb = ml_verb_find(topic);
    char *ask_help[] = {"", "--help", NULL};

    if (verb)
        return verb->run(2, ask_help);
    ml_say("%s; install memledger again", err->text);
    return ML_EXIT_FAILURE;
}

static int show_topic(const char *topic)
{
    struct ml_error err = {0};
    struct ml_buf page = {0};
    int r = ml_help_page(topic, &page, &err), status;

    if (r == 0)
        status = show_page(&page);
    else if (r == -ENOENT && !ml_verb_find(topic))
        status = unknown_topic(topic);
    else
        status = help_without_page(topic, &err);
    ml_buf_release(&page);
    return status;
}

static int run(int argc, char **argv)
{
    char unused;
    int first, status = ml_verb_begin(&ml_verb_help, &unused, argc, argv, &first);

    if (status >= 0)
        return status;
    if (first == argc)
        return list_commands();
    if (first + 1 < argc)
        return ml_verb_usage_error(&ml_verb_help, "only one topic at a time; remove '%s'",
                                   argv[first + 1]);
    return strcmp(argv[first], "topics") == 0 ? list_topics() : show_topic(argv[first]);
}

const struct ml_verb ml_verb_help = {
    .name = "help",
    .summary = "show the page of a command or another topic",
    .usage = "[TOPIC]",
    .details = "Without a topic, list the commands. memledger help topics lists all pages.",
    .group = ML_GROUP_OTHER,
    .operands = ML_OPERANDS_TOPIC,
    .run = run,
};
