/* health_report.c: see health_report.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "health_report.h"

#include <inttypes.h>
#include <stdio.h>

#include "paragraph.h"

struct writer {
    const char *name;
    const struct ml_style *style;
    struct ml_buf *out;
    int r;
};

/* "warning: [NAME: ]<count> <text>". */
static void warn(struct writer *w, uint64_t count, const char *one, const char *many)
{
    char number[32];

    if (w->r < 0 || count == 0)
        return;
    w->r = ml_report_warning(w->out, w->style, "%s%s%s %s", w->name ? w->name : "",
                             w->name ? ": " : "", ml_format_count(number, (int64_t)count),
                             count == 1 ? one : many);
}

static void warn_lost(struct writer *w, const struct ml_health *h)
{
    warn(w, h->lost_ring_full, "event was lost: the recorder's buffer was full",
         "events were lost: the recorder's buffer was full");
    warn(w, h->lost_not_written, "event was lost: the file could not be written",
         "events were lost: the file could not be written");
    warn(w, h->lost_damaged, "event was lost: the recorder's buffer was damaged",
         "events were lost: the recorder's buffer was damaged");
    warn(w, h->lost_not_followed,
         "block or object was not followed to its end: the recorder's table was full or locked",
         "blocks and objects were not followed to their end: the recorder's table was full or "
         "locked");
    warn(w, h->lost_other, "event was lost", "events were lost");
    warn(w, h->spaces_refused,
         "space was refused, and its allocations are missing: the process had opened 65,535",
         "spaces were refused, and their allocations are missing: the process had opened 65,535");
    warn(w, h->names_folded,
         "name was recorded as \"(other names)\": there was no room for another",
         "names were recorded as \"(other names)\": there was no room for more");
}

static void warn_details(struct writer *w, const struct ml_health *h)
{
    warn(w, h->details_lost,
         "stack, library, scope or label was not recorded: there was no room for another",
         "stacks, libraries, scopes or labels were not recorded: there was no room for more");
}

const char *ml_health_cut_short_words(const struct ml_health *h)
{
    if (h->being_written)
        return "still being recorded";
    if (h->ignored_bytes)
        return "the file is truncated";
    return "the recording was not finished: memledger or the machine was stopped";
}

static void warn_cut_short(struct writer *w, const struct ml_health *h)
{
    char number[32];
    const char *name = w->name ? w->name : "", *colon = w->name ? ": " : "";
    const char *words = ml_health_cut_short_words(h);

    if (w->r < 0 || !h->cut_short)
        return;
    if (h->being_written)
        w->r = ml_report_warning(w->out, w->style, "%s%s%s (last event %s ago)", name, colon, words,
                                 ml_format_duration_ns(number, (int64_t)h->silent_ns));
    else if (!h->ignored_bytes)
        w->r = ml_report_warning(w->out, w->style, "%s%s%s", name, colon, words);
    else
        w->r = ml_report_warning(
            w->out, w->style, "%s%s%s: %s bytes of an incomplete block at its end are ignored",
            name, colon, words, ml_format_count(number, (int64_t)h->ignored_bytes));
}

const char *ml_health_left_title(const struct ml_health *h)
{
    if (!h->cut_short)
        return h->went_on ? ">live at end" : ">never freed";
    return h->being_written ? ">live so far" : ">live at cut";
}

const char *ml_health_empty_words(const struct ml_health *h)
{
    if (h->cut_short)
        return "no allocation is in the part that was written";
    if (h->heap_sampled)
        return "no block of malloc was sampled: the program has allocated little, or nothing "
               "(--heap records every block)";
    if (h->heap_large)
        return "no block of malloc was large enough to be recorded (--heap records every block)";
    if (h->heap_recorded)
        return "no allocation was recorded, although --heap was given";
    return h->attached ? "no allocation was recorded; memledger attach --heap records malloc"
                       : "no allocation was recorded; memledger run --heap records malloc";
}

static void warn_empty(struct writer *w, const struct ml_health *h)
{
    if (w->r < 0 || !h->empty || h->cut_short) /* a missing part may have had some */
        return;
    w->r = ml_report_warning(w->out, w->style, "%s%s%s", w->name ? w->name : "",
                             w->name ? ": " : "", ml_health_empty_words(h));
}

static void warn_salvaged(struct writer *w, const struct ml_health *h)
{
    char blocks[32], events[32];

    if (w->r < 0 || h->damaged_blocks == 0)
        return;
    w->r = ml_report_warning(
        w->out, w->style, "%s%s%s damaged block%s skipped, with %s event%s", w->name ? w->name : "",
        w->name ? ": " : "", ml_format_count(blocks, h->damaged_blocks),
        h->damaged_blocks == 1 ? "" : "s", ml_format_count(events, (int64_t)h->damaged_events),
        h->damaged_events == 1 ? "" : "s");
}

static void warn_left_alone(struct writer *w, const struct ml_health *h)
{
    static const char *const texts[ML_LEFT_COUNT] = {
        [ML_LEFT_MXNET] = "MXNet's memory was not recorded: memledger does not know this build",
        [ML_LEFT_MXNET_NAMES] =
            "some of MXNet's memory has no name: memledger does not know all of this build",
        [ML_LEFT_AUTOGRAD] = ("memory of backward passes has no modules: memledger does not know "
                              "this PyTorch's autograd"),
    };

    for (int i = 0; i < ML_LEFT_COUNT && w->r >= 0; i++) {
        if (h->left_alone >> i & 1)
            w->r = ml_report_warning(w->out, w->style, "%s%s%s", w->name ? w->name : "",
                                     w->name ? ": " : "", texts[i]);
    }
}

/* The setting separates them by commas without spaces. */
static int put_unknown(struct ml_buf *out, unsigned bits)
{
    const char *before = "; unknown: ";
    int r = 0;

    for (int i = 0; i < ML_UNKNOWN_COUNT && r == 0; i++) {
        if (!(bits >> i & 1))
            continue;
        r = ml_buf_printf(out, "%s%s", before, ml_unknown_names[i]);
        before = ", ";
    }
    return r;
}

/* Not a warning: nothing went wrong. */
static void tell_import(struct writer *w, const struct ml_health *h)
{
    struct ml_buf text;

    if (w->r < 0 || !h->imported_from[0])
        return;
    ml_buf_init(&text);
    w->r = ml_buf_printf(&text, "%s%simported from %s", w->name ? w->name : "", w->name ? ": " : "",
                         h->imported_from);
    if (w->r == 0)
        w->r = put_unknown(&text, h->unknown);
    if (w->r == 0 && h->inferred)
        w->r = ml_buf_puts(&text, "; categories inferred from stacks");
    if (w->r == 0)
        w->r = ml_report_paragraph(w->out, w->style, 0, (const char *)text.data);
    ml_buf_release(&text);
}

/* ", never freed 1.2 MiB ± 3 %"; nothing if the error is not known. An error beyond the figure
 * leaves only a bound, which holds in 19 of 20 runs. */
static int put_estimate(struct ml_buf *text, const char *what, uint64_t value, uint64_t error,
                        const char *(*format)(char *, uint64_t, enum ml_unit), enum ml_unit unit)
{
    double percent = 100.0 * (double)error / (double)ml_max_u64(value, 1);
    char figure[32];

    if (!value || !error)
        return 0;
    if (error > value)
        return ml_buf_printf(text, "%s at most %s", what, format(figure, value + 2 * error, unit));
    return ml_buf_printf(text, "%s %s ± %.*g %%", what, format(figure, value, unit),
                         ml_error_digits(percent), percent);
}

static const char *bytes_text(char *ret, uint64_t bytes, enum ml_unit unit)
{
    return ml_format_bytes(ret, (int64_t)bytes, unit);
}

static const char *count_text(char *ret, uint64_t count, enum ml_unit unit)
{
    (void)unit;
    return ml_format_count(ret, (int64_t)count);
}

static int put_estimates(struct ml_buf *text, const struct ml_health *h, enum ml_unit unit)
{
    int r = put_estimate(text, "; peak", h->peak_bytes, h->peak_error, bytes_text, unit);

    if (r == 0)
        r = put_estimate(text, ", allocated", h->allocated_bytes, h->allocated_error, bytes_text,
                         unit);
    if (r == 0)
        r = put_estimate(text, " in", h->allocations, h->allocations_error, count_text, unit);
    if (r == 0 && h->allocations && h->allocations_error)
        r = ml_buf_puts(text, " calls");
    if (r == 0)
        r = put_estimate(text, ", never freed", h->left_bytes, h->left_error, bytes_text, unit);
    return r;
}

static int put_sampled(struct ml_buf *text, const struct ml_health *h, enum ml_unit unit)
{
    char bytes[32];
    int r = ml_buf_printf(
        text, "malloc was sampled, every %s on average: its sizes and counts are estimates",
        ml_format_bytes(bytes, (int64_t)h->sampled_bytes, unit));

    return r == 0 ? put_estimates(text, h, unit) : r;
}

static void tell_part(struct writer *w, const struct ml_health *h)
{
    struct ml_buf text;
    char bytes[32];

    if (w->r < 0 || (!h->sampled_bytes && !h->least_bytes))
        return;
    ml_buf_init(&text);
    w->r = w->name ? ml_buf_printf(&text, "%s: ", w->name) : 0;
    if (w->r == 0 && h->least_bytes)
        w->r = ml_buf_printf(&text, "of malloc, only blocks of %s or more were recorded",
                             ml_format_bytes(bytes, (int64_t)h->least_bytes, w->style->unit));
    else if (w->r == 0)
        w->r = put_sampled(&text, h, w->style->unit);
    if (w->r == 0)
        w->r = ml_report_paragraph(w->out, w->style, 0, (const char *)text.data);
    ml_buf_release(&text);
}

static void part_json(const struct ml_health *health, struct ml_json *json)
{
    if (health->least_bytes)
        ml_json_kv_u64(json, "least_bytes", health->least_bytes);
    if (!health->sampled_bytes)
        return;
    ml_json_kv_u64(json, "sampled_bytes", health->sampled_bytes);
    if (health->peak_error) {
        ml_json_kv_u64(json, "peak_bytes", health->peak_bytes);
        ml_json_kv_u64(json, "peak_standard_error_bytes", health->peak_error);
    }
    if (health->allocated_error) {
        ml_json_kv_u64(json, "allocated_bytes", health->allocated_bytes);
        ml_json_kv_u64(json, "allocated_standard_error_bytes", health->allocated_error);
        ml_json_kv_u64(json, "allocations", health->allocations);
        ml_json_kv_u64(json, "allocations_standard_error", health->allocations_error);
        ml_json_kv_u64(json, "never_freed_bytes", health->left_bytes);
        ml_json_kv_u64(json, "never_freed_standard_error_bytes", health->left_error);
    }
}

/* A recording that kept only its last part is no worse for it. */
static void tell_window(struct writer *w, const struct ml_health *h)
{
    char kept[32], whole[32], after[32], peak[32], at[32];
    struct ml_buf text;

    if (w->r < 0 || !h->window.begin_wall_ns)
        return;
    ml_buf_init(&text);
    w->r =
        ml_buf_printf(&text, "%s%skept: the last %s of %s; the window begins at ",
                      w->name ? w->name : "", w->name ? ": " : "",
                      ml_format_duration_ns(kept, (int64_t)(h->window.end_ns - h->window.begin_ns)),
                      ml_format_duration_ns(whole, (int64_t)h->window.end_ns));
    if (w->r == 0)
        w->r = ml_report_wall_time(&text, h->window.begin_wall_ns);
    if (w->r == 0)
        w->r = ml_buf_printf(&text, ", %s after the start, and blocks freed before are missing",
                             ml_format_duration_ns(after, (int64_t)h->window.begin_ns));
    if (w->r == 0 && h->window.peak_bytes)
        w->r = ml_buf_printf(&text, "; before, the peak was %s at %s, in ",
                             ml_format_bytes(peak, (int64_t)h->window.peak_bytes, ML_UNIT_AUTO),
                             ml_format_duration_ns(at, (int64_t)h->window.peak_ns));
    if (w->r == 0 && h->window.peak_bytes)
        w->r = ml_report_safe(&text, h->window.peak_place);
    if (w->r == 0)
        w->r = ml_report_paragraph(w->out, w->style, 0, (const char *)text.data);
    ml_buf_release(&text);
}

/* Nor is one whose program was under way. */
static void tell_late(struct writer *w, const struct ml_health *h)
{
    char text[320];

    if (w->r < 0 || (!h->began_late && !h->attached))
        return;
    snprintf(text, sizeof(text), "%s%sthe recording began while the program ran%s",
             w->name ? w->name : "", w->name ? ": " : "",
             h->began_late ? ": it does not contain earlier blocks of malloc"
                           : "; memledger help attach says which older memory is in it");
    w->r = ml_report_paragraph(w->out, w->style, 0, text);
}

static const char *pause_words(char buf[160], const struct ml_health *h)
{
    char paused[32];

    ml_format_duration_ns(paused, (int64_t)h->paused_ns);
    if (h->pauses == 1)
        snprintf(buf, 160, h->paused ? "is paused, for %s so far" : "was paused once, for %s",
                 paused);
    else
        snprintf(buf, 160, "was paused %" PRIu64 " times, for %s in all%s", h->pauses, paused,
                 h->paused ? ", and is paused now" : "");
    return buf;
}

/* Nor is this: it was asked for. */
static void tell_pauses(struct writer *w, const struct ml_health *h)
{
    char words[160], text[320];

    if (w->r < 0 || !h->pauses)
        return;
    snprintf(text, sizeof(text),
             "%s%sthe recording %s: blocks allocated and freed meanwhile are not in it%s",
             w->name ? w->name : "", w->name ? ": " : "", pause_words(words, h),
             h->heap_recorded && !h->heap_sampled && !h->heap_large
                 ? ", and earlier blocks of malloc count as freed"
                 : "");
    w->r = ml_report_paragraph(w->out, w->style, 0, text);
}

static void window_json(const struct ml_window_begin *window, struct ml_json *json)
{
    ml_json_key(json, "window");
    ml_json_begin_object(json);
    ml_json_kv_u64(json, "begin_ns", window->begin_ns);
    ml_json_kv_u64(json, "kept_ns", window->end_ns - window->begin_ns);
    ml_json_kv_u64(json, "begin_wall_ns", window->begin_wall_ns);
    ml_json_kv_u64(json, "events_before", window->events);
    ml_json_kv_u64(json, "allocations_before", window->allocations);
    ml_json_kv_u64(json, "frees_before", window->frees);
    ml_json_kv_u64(json, "events_repeated", window->repeated);
    if (window->peak_bytes) {
        ml_json_kv_u64(json, "peak_before_bytes", window->peak_bytes);
        ml_json_kv_u64(json, "peak_before_ns", window->peak_ns);
        ml_json_kv_cstr(json, "peak_before_place", window->peak_place);
    }
    ml_json_end_object(json);
}

static void import_json(const struct ml_health *health, struct ml_json *json)
{
    ml_json_kv_cstr(json, "imported_from", health->imported_from);
    ml_json_key(json, "unknown");
    ml_json_begin_array(json);
    for (int i = 0; i < ML_UNKNOWN_COUNT; i++)
        if (health->unknown >> i & 1)
            ml_json_cstr(json, ml_unknown_names[i]);
    ml_json_end_array(json);
    ml_json_key(json, "inferred");
    ml_json_begin_array(json);
    if (health->inferred)
        ml_json_cstr(json, ML_INFERRED_CATEGORIES);
    ml_json_end_array(json);
}

static void left_alone_json(const struct ml_health *health, struct ml_json *json)
{
    ml_json_key(json, "left_alone");
    ml_json_begin_array(json);
    for (int i = 0; i < ML_LEFT_COUNT; i++)
        if (health->left_alone >> i & 1)
            ml_json_cstr(json, ml_left_alone[i].name);
    ml_json_end_array(json);
}

int ml_health_text(const struct ml_health *health, const char *name, const struct ml_style *style,
                   struct ml_buf *out)
{
    struct writer w = {.name = name, .style = style, .out = out};

    tell_import(&w, health);
    tell_part(&w, health);
    tell_window(&w, health);
    tell_late(&w, health);
    tell_pauses(&w, health);
    warn_lost(&w, health);
    warn_details(&w, health);
    warn_cut_short(&w, health);
    warn_empty(&w, health);
    warn_left_alone(&w, health);
    warn_salvaged(&w, health);
    warn(&w, health->unknown_frees, "free of a block whose allocation was not recorded",
         "frees of blocks whose allocation was not recorded");
    warn(&w, health->replaced, "block ended without a free: another was allocated in its place",
         "blocks ended without a free: others were allocated in their place");
    return w.r;
}

void ml_health_json(const struct ml_health *health, struct ml_json *json)
{
    ml_json_key(json, "health");
    ml_json_begin_object(json);
    ml_json_kv_u64(json, "lost", health->lost);
    ml_json_kv_u64(json, "lost_ring_full", health->lost_ring_full);
    ml_json_kv_u64(json, "lost_not_written", health->lost_not_written);
    ml_json_kv_u64(json, "lost_damaged", health->lost_damaged);
    ml_json_kv_u64(json, "lost_not_followed", health->lost_not_followed);
    ml_json_kv_u64(json, "names_folded", health->names_folded);
    ml_json_kv_u64(json, "spaces_refused", health->spaces_refused);
    ml_json_kv_bool(json, "cut_short", health->cut_short);
    ml_json_kv_bool(json, "being_written", health->being_written);
    if (health->being_written)
        ml_json_kv_u64(json, "silent_ns", health->silent_ns);
    ml_json_kv_u64(json, "ignored_bytes", health->ignored_bytes);
    ml_json_kv_u64(json, "damaged_blocks", health->damaged_blocks);
    ml_json_kv_u64(json, "damaged_events", health->damaged_events);
    ml_json_kv_u64(json, "unknown_frees", health->unknown_frees);
    ml_json_kv_u64(json, "inherited_frees", health->inherited_frees);
    ml_json_kv_u64(json, "replaced", health->replaced);
    part_json(health, json);
    if (health->details_lost)
        ml_json_kv_u64(json, "details_lost", health->details_lost);
    if (health->left_alone)
        left_alone_json(health, json);
    if (health->began_late)
        ml_json_kv_bool(json, "began_late", true);
    if (health->attached)
        ml_json_kv_bool(json, "attached", true);
    if (health->went_on)
        ml_json_kv_bool(json, "went_on", true);
    if (health->pauses) {
        ml_json_kv_u64(json, "pauses", health->pauses);
        ml_json_kv_u64(json, "paused_ns", health->paused_ns);
        ml_json_kv_bool(json, "paused", health->paused);
    }
    if (health->window.is_window)
        window_json(&health->window, json);
    if (health->imported_from[0])
        import_json(health, json);
    ml_json_end_object(json);
}
