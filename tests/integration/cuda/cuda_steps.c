/* cuda_steps.c: a CUDA program made of its arguments, for tests to script:
 *
 *     cuda_steps_linked init retain alloc:100M free:0 release
 *
 * It says one line of JSON for each step:
 *
 *     {"step": "alloc:100M", "result": 0, "id": 0, "address": 140…, "bytes": 104857600}
 *
 * with id, address and bytes only where something was made. Failures of the driver
 * are results, not ends. Steps that need no driver:
 *
 *     per-thread  as the first step: variants with one default stream per thread
 *     wait        until a line comes on standard input
 *     exit:N      at once, without atexit
 *     pause:MS    so many milliseconds
 *     kill        by SIGKILL
 *     fade:MS     give back the memory of device 0 within so many milliseconds, as the driver
 *                 does for a process that is killed; with the stand-in only
 *     again:N     the steps before this one, N times more
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda_steps.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct step_object objects[STEP_OBJECTS_MAX];
static unsigned object_count;

static void die(const char *what, const char *about)
{
    fprintf(stderr, "cuda_steps: %s: %s\n", what, about);
    exit(64);
}

struct step_object *step_object(uint64_t number)
{
    if (number >= object_count)
        die("no object with this number", "made so far are fewer");
    return &objects[number];
}

void *step_handle(const struct step *step, unsigned arg)
{
    return arg < step->arg_count ? step_object(step->args[arg])->handle : NULL;
}

static uint64_t number(const char *text)
{
    char *end;
    uint64_t value = strtoull(text, &end, 0);
    switch (*end) {
    case 'G': value <<= 10; /* fall through */
    case 'M': value <<= 10; /* fall through */
    case 'K': value <<= 10; break;
    case 0: break;
    default: die("not a number", text);
    }
    return value;
}

/* Cuts the verb off; `words` must hold the text's copy as long as the verb is used. */
static const char *parse(const char *text, char *words, size_t room, struct step *ret_step)
{
    snprintf(words, room, "%s", text);
    *ret_step = (struct step){.text = text};
    char *rest = words, *word;
    const char *verb = strsep(&rest, ":");
    while ((word = strsep(&rest, ":"))) {
        if (ret_step->arg_count == STEP_ARGS_MAX)
            die("too many arguments", text);
        ret_step->args[ret_step->arg_count++] = number(word);
    }
    return verb;
}

static const struct step_verb *find(const struct step_verb *verbs, const char *name)
{
    while (verbs->name && strcmp(verbs->name, name) != 0)
        verbs++;
    return verbs->name ? verbs : NULL;
}

static void run_verb(const struct step_verb *verb, struct step *step)
{
    int result = verb->run(step);
    printf("{\"step\": \"%s\", \"result\": %d", step->text, result);
    if (result == 0 && step->makes) {
        if (object_count == STEP_OBJECTS_MAX)
            die("too many objects", step->text);
        printf(", \"id\": %u, \"address\": %llu, \"bytes\": %llu", object_count,
               (unsigned long long)step->made.address, (unsigned long long)step->made.bytes);
        objects[object_count++] = step->made;
    }
    printf("}\n");
    fflush(stdout);
}

static void fade(unsigned ms)
{
    int (*standin_fade)(int ordinal, unsigned ms);

    *(void **)&standin_fade = dlsym(RTLD_DEFAULT, "standin_fade");
    if (!standin_fade)
        die("no such symbol, this is not the stand-in", "standin_fade");
    standin_fade(0, ms);
}

/* Steps of the program itself.
 * @return whether it was one */
static bool run_own(const char *verb, const struct step *step)
{
    char line[64];
    if (strcmp(verb, "wait") == 0) {
        if (!fgets(line, sizeof line, stdin))
            exit(65); /* whoever should have written is gone */
    } else if (strcmp(verb, "pause") == 0) {
        usleep((useconds_t)step->args[0] * 1000);
    } else if (strcmp(verb, "exit") == 0) {
        _exit((int)step->args[0]);
    } else if (strcmp(verb, "fade") == 0) {
        fade((unsigned)step->args[0]);
    } else if (strcmp(verb, "kill") == 0) {
        raise(SIGKILL);
    } else {
        return false;
    }
    return true;
}

static void run_steps(char **texts, int count)
{
    for (int i = 0; i < count; i++) {
        char words[256];
        struct step step;
        const char *name = parse(texts[i], words, sizeof words, &step);
        if (strcmp(name, "again") == 0) {
            for (uint64_t n = 0; n < step.args[0]; n++)
                run_steps(texts, i);
            continue;
        }
        if (run_own(name, &step))
            continue;
        const struct step_verb *verb = find(memory_verbs, name);
        if (!verb)
            verb = find(other_verbs, name);
        if (!verb)
            die("unknown step", texts[i]);
        run_verb(verb, &step);
    }
}

int main(int argc, char **argv)
{
    bool per_thread = argc > 1 && strcmp(argv[1], "per-thread") == 0;
    const char *missing = cuda_api_load(per_thread);
    if (missing)
        die("not found", missing);
    run_steps(argv + 1 + per_thread, argc - 1 - per_thread);
    return 0;
}
