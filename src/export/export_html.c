/* export_html.c: the page of `memledger view` as one file, with the answers that it shows most.
 *
 * The answers are those of the commands, as with the server: each is a block of text in the page,
 * compressed, so that names in a trace cannot become markup. An index lists them, and says what had
 * to be left out for the file to stay small.
 *
 *     <script type="text/plain" id="memledger-0">H4sI...</script>      an answer
 *     <script type="text/plain" id="memledger-index">H4sI...</script>
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "assets.h"
#include "child_output.h"
#include "command_query.h"
#include "exporter.h"
#include "html_blob.h"
#include "html_questions.h"
#include "json.h"

#define FILE_MAX_BYTES 10000000
#define INDEX_BYTES 200000 /* kept for the index */
#define BLOCK_MARKUP_BYTES 100
#define BLOCK_BEGIN "<script type=\"text/plain\" id=\"memledger-"
#define BLOCK_END "</script>\n"

/* A larger answer would also be too much for a browser. */
static const struct ml_child_limits limits = {.output_bytes = 32u << 20, .seconds = 3600};

struct writer {
    const struct ml_export_opts *opts;
    struct ml_output *out;
    struct ml_error *err;
    size_t room_bytes;
    size_t blocks;
    size_t fold; /* of trees, see answer_tree */
    struct ml_buf index_text;
    struct ml_json index;
    ML_VEC(const char *) left_out;
    struct ml_arena arena;
};

/* ---- Asking ------------------------------------------------------------------ */

static int make_query(const struct writer *w, const struct ml_html_question *question,
                      struct ml_command_query *query)
{
    int r = ml_command_query_begin(query, question->verb, w->err);

    for (size_t i = 0; i < ML_HTML_OPTIONS && question->options[i].name && r == 0; i++)
        r = ml_command_query_add(query, question->options[i].name, question->options[i].value, NULL,
                                 0, w->err);
    if (r == 0 && w->opts->salvage)
        r = ml_command_query_add(query, "salvage", NULL, NULL, 0, w->err);
    if (r == 0)
        r = ml_command_query_add(query, "file", "0", &w->opts->file, 1, w->err);
    return r == 0 ? ml_command_query_end(query, w->err) : r;
}

/* ---- Writing ------------------------------------------------------------------ */

static int put_block(struct writer *w, const char *id, const struct ml_buf *blob)
{
    struct ml_buf *text = &w->out->text;
    int r = ml_buf_printf(text, BLOCK_BEGIN "%s\">", id);

    if (r == 0)
        r = ml_buf_append(text, blob->data, blob->len);
    if (r == 0)
        r = ml_buf_puts(text, BLOCK_END);
    return r == 0 ? ml_output_line(w->out) : r;
}

static void begin_entry(struct writer *w, const struct ml_html_question *question,
                        const char *command)
{
    ml_json_begin_object(&w->index);
    ml_json_kv_cstr(&w->index, "verb", question->verb);
    ml_json_key(&w->index, "options");
    ml_json_begin_object(&w->index);
    for (size_t i = 0; i < ML_HTML_OPTIONS && question->options[i].name; i++)
        ml_json_kv_cstr(&w->index, question->options[i].name, question->options[i].value);
    ml_json_end_object(&w->index);
    ml_json_kv_cstr(&w->index, "command", command);
}

static int leave_out(struct writer *w, const char *command, const char *why)
{
    struct ml_buf text = {0};
    const char *sentence = NULL;

    if (ml_buf_printf(&text, "%s (%s)", command, why) == 0)
        sentence = ml_arena_dup(&w->arena, text.data, text.len);
    ml_buf_release(&text);
    return sentence ? ml_vec_push(&w->left_out, sentence) : -ENOMEM;
}

/* No answer takes more than a quarter of the room, so that others have some too.
 * @return 1: written; 0: too large */
static int put_answer(struct writer *w, const struct ml_html_question *asked, const char *command,
                      const struct ml_buf *answer)
{
    struct ml_buf blob = {0};
    char id[32];
    int r = ml_html_blob(answer->data, answer->len, &blob);
    bool fits = r == 0 && blob.len + BLOCK_MARKUP_BYTES <= w->room_bytes / 4;

    if (fits) {
        snprintf(id, sizeof(id), "%zu", w->blocks);
        r = put_block(w, id, &blob);
        w->room_bytes -= blob.len + BLOCK_MARKUP_BYTES;
        begin_entry(w, asked, command);
        ml_json_kv_u64(&w->index, "block", w->blocks++);
        ml_json_end_object(&w->index);
    }
    ml_buf_release(&blob);
    return r < 0 ? r : fits;
}

/* Such as "no allocation was refused": the page shows it in the place of the answer. */
static void put_refusal(struct writer *w, const struct ml_html_question *asked, const char *command,
                        struct ml_buf *text)
{
    begin_entry(w, asked, command);
    ml_json_kv_cstr(&w->index, "error", ml_child_reason(text));
    ml_json_end_object(&w->index);
}

/* @asked   as the page asks
 * @given   the same, or a variant with a smaller answer
 * @return  1: the page has the answer; 0: it is too large; negative errno */
static int answer_with(struct writer *w, const struct ml_html_question *asked,
                       const struct ml_html_question *given, const char **ret_command)
{
    struct ml_command_query query;
    struct ml_buf output = {0};
    struct ml_error why = {0};
    int r = make_query(w, given, &query), code;
    const char *command = r == 0 ? ml_command_query_text(&query) : NULL;

    if (command)
        *ret_command = ml_arena_dup(&w->arena, command, strlen(command));
    if (r == 0 && (!command || !*ret_command))
        r = -ENOMEM;
    if (r == 0) {
        code = ml_child_output(query.argv.items, &limits, &output, &why);
        if (code == -EFBIG || code == 0)
            r = code < 0 ? 0 : put_answer(w, asked, *ret_command, &output);
        else if (code < 0)
            r = ml_error_set(w->err, code, "%s: %s", *ret_command, why.text);
        else {
            put_refusal(w, asked, *ret_command, &output);
            r = 1;
        }
    }
    ml_buf_release(&output);
    ml_command_query_release(&query);
    return r;
}

/* Folds modules below a share of the total, so that a tree of a million modules fits. The trees
 * after it begin with that share. */
static int answer_tree(struct writer *w, const struct ml_html_question *question,
                       const char **ret_command)
{
    static const char *const least_percents[] = {"0", "0.01", "0.1", "1", NULL};
    int r = 0;

    for (; least_percents[w->fold] && r == 0; w->fold += r == 0) {
        struct ml_html_question folded = *question;

        folded.options[1].value = least_percents[w->fold];
        r = answer_with(w, question, &folded, ret_command);
    }
    w->fold -= r == 0;
    return r;
}

/* A tree of calls has a least share of its own. */
static bool is_module_tree(const struct ml_html_question *question)
{
    return strcmp(question->verb, "tree") == 0 && strcmp(question->options[0].name, "at") == 0;
}

static int answer(struct writer *w, const struct ml_html_question *question)
{
    const char *command;
    int r = is_module_tree(question) ? answer_tree(w, question, &command)
                                     : answer_with(w, question, question, &command);

    if (r == 0)
        r = leave_out(w, command, "too large for this file");
    return r < 0 ? r : 0;
}

/* ---- The index ------------------------------------------------------------------ */

static void put_file(struct writer *w)
{
    const char *slash = strrchr(w->opts->file, '/');
    struct stat info;

    ml_json_key(&w->index, "file");
    ml_json_begin_object(&w->index);
    ml_json_kv_u64(&w->index, "id", 0);
    ml_json_kv_cstr(&w->index, "name", slash ? slash + 1 : w->opts->file);
    ml_json_kv_cstr(&w->index, "path", w->opts->file);
    ml_json_key(&w->index, "bytes");
    if (stat(w->opts->file, &info) == 0)
        ml_json_u64(&w->index, (uint64_t)info.st_size);
    else
        ml_json_null(&w->index);
    ml_json_end_object(&w->index);
}

static void put_instants(struct writer *w, const struct ml_html_questions *questions)
{
    ml_json_key(&w->index, "instants");
    ml_json_begin_array(&w->index);
    for (size_t i = 0; i < questions->instants.len; i++) {
        ml_json_begin_object(&w->index);
        ml_json_kv_cstr(&w->index, "at", questions->instants.items[i].at);
        ml_json_kv_u64(&w->index, "at_ns", questions->instants.items[i].time_ns);
        ml_json_end_object(&w->index);
    }
    ml_json_end_array(&w->index);
    ml_json_kv_u64(&w->index, "steps", questions->steps);
    ml_json_kv_u64(&w->index, "steps_contained", questions->steps_taken);
    ml_json_kv_u64(&w->index, "refusals", questions->ooms);
    ml_json_kv_u64(&w->index, "refusals_contained", questions->ooms_taken);
}

static int put_index(struct writer *w)
{
    struct ml_buf blob = {0};
    int r;

    ml_json_kv_bool(&w->index, "trees_folded", w->fold > 0);
    ml_json_key(&w->index, "left_out");
    ml_json_begin_array(&w->index);
    for (size_t i = 0; i < w->left_out.len; i++)
        ml_json_cstr(&w->index, w->left_out.items[i]);
    ml_json_end_array(&w->index);
    ml_json_end_object(&w->index);
    r = ml_json_finish(&w->index);
    if (r == 0)
        r = ml_html_blob(w->index_text.data, w->index_text.len, &blob);
    if (r == 0)
        r = put_block(w, "index", &blob);
    ml_buf_release(&blob);
    return r;
}

/* ---- The page ------------------------------------------------------------------- */

static int put_answers(struct writer *w, const struct ml_html_questions *questions)
{
    int r = 0;

    ml_json_begin_object(&w->index);
    ml_json_kv_cstr(&w->index, "memledger", MEMLEDGER_VERSION);
    put_file(w);
    put_instants(w, questions);
    ml_json_key(&w->index, "answers");
    ml_json_begin_array(&w->index);
    for (size_t i = 0; i < questions->list.len && r == 0; i++) {
        r = answer(w, &questions->list.items[i]);
        ml_progress_tell(w->opts->progress, i + 1, questions->list.len);
    }
    ml_json_end_array(&w->index);
    return r;
}

static int put_page(struct writer *w, const struct ml_html_questions *questions)
{
    int r = ml_buf_append(&w->out->text, ml_page_file.head, ml_page_file.head_bytes);

    w->room_bytes =
        FILE_MAX_BYTES - INDEX_BYTES - ml_page_file.head_bytes - ml_page_file.tail_bytes;
    ml_json_init(&w->index, &w->index_text, false);
    if (r == 0)
        r = put_answers(w, questions);
    if (r == 0)
        r = put_index(w);
    return r == 0 ? ml_buf_append(&w->out->text, ml_page_file.tail, ml_page_file.tail_bytes) : r;
}

static int export_trace(const struct ml_trace *trace, const struct ml_export_opts *opts,
                        struct ml_output *out, struct ml_error *err)
{
    struct writer w = {.opts = opts, .out = out, .err = err};
    struct ml_html_questions questions;
    int r;

    if (!ml_page_file.head)
        return ml_error_set(
            err, -ENOTSUP,
            "html: this memledger was built without the page; build it where npm is");
    r = ml_html_questions_read(trace, &questions, err);
    if (r == 0)
        r = put_page(&w, &questions);
    ml_html_questions_release(&questions);
    ml_vec_release(&w.left_out);
    ml_buf_release(&w.index_text);
    ml_arena_release(&w.arena);
    return r;
}

const struct ml_exporter ml_exporter_html = {
    .name = "html",
    .suffix = ".html",
    .help = "the page of view in one file, 10 MB at most",
    .whole_run = true,
    .all_devices = true,
    .run = export_trace,
};
