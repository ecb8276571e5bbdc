/* mxnet_predict.c: a program in C that predicts with an exported network, see export_net.py.
 *
 *     mxnet_predict created   two batches
 *     mxnet_predict reshaped  one of half the size in between
 *     mxnet_predict threads   two predictors that share the parameters; NaiveEngine only
 *     mxnet_predict retried   the file of parameters is incomplete at first
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdbool.h>
#include <stdint.h>

#include <mxnet/c_predict_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ON_HOST = 1, BATCH = 8, SIDE = 32, MASK = SIDE * SIDE, IMAGE = 3 * MASK, CLASSES = 10 };

extern const char *MXGetLastError(void);

#define OK(call) check(call, #call)
static void check(int code, const char *call)
{
    if (!code)
        return;
    fprintf(stderr, "%s: %s\n", call, MXGetLastError());
    exit(1);
}

enum { INPUTS = 2 };
static const char *keys[INPUTS] = {"data0", "data1"};
static const uint32_t ends[INPUTS + 1] = {0, 4, 8};
static const uint32_t shapes[] = {BATCH, 3, SIDE, SIDE, BATCH, 1, SIDE, SIDE};

struct file {
    char *text;
    int bytes;
};

static struct file read_file(const char *path)
{
    FILE *stream = fopen(path, "rb");
    struct file file;

    if (!stream || fseek(stream, 0, SEEK_END)) {
        perror(path);
        exit(1);
    }
    file.bytes = (int)ftell(stream);
    file.text = calloc(1, (size_t)file.bytes + 1);
    rewind(stream);
    if (!file.text || fread(file.text, 1, (size_t)file.bytes, stream) != (size_t)file.bytes)
        exit(1);
    fclose(stream);
    return file;
}

static void predict(PredictorHandle predictor, uint32_t batch)
{
    static float images[BATCH * IMAGE], masks[BATCH * MASK];
    float scores[BATCH * CLASSES], sum = 0;

    for (uint32_t i = 0; i < batch * IMAGE; i++)
        images[i] = (float)(i % 7);
    for (uint32_t i = 0; i < batch * MASK; i++)
        masks[i] = (float)(i % 2);
    OK(MXPredSetInput(predictor, keys[0], images, batch * IMAGE));
    OK(MXPredSetInput(predictor, keys[1], masks, batch * MASK));
    OK(MXPredForward(predictor));
    OK(MXPredGetOutput(predictor, 0, scores, batch * CLASSES));
    for (uint32_t i = 0; i < batch * CLASSES; i++)
        sum += scores[i] * (float)(i + 1);
    printf("%.6g\n", sum);
}

static int create(struct file symbol, const char *parameters, int bytes, PredictorHandle *ret)
{
    return MXPredCreate(symbol.text, parameters, bytes, ON_HOST, 0, INPUTS, keys, ends, shapes,
                        ret);
}

static void predict_in_threads(struct file symbol, struct file parameters)
{
    PredictorHandle predictors[2];

    OK(MXPredCreateMultiThread(symbol.text, parameters.text, parameters.bytes, ON_HOST, 0, INPUTS,
                               keys, ends, shapes, 2, predictors));
    predict(predictors[0], BATCH);
    predict(predictors[1], BATCH);
}

static void predict_reshaped(PredictorHandle predictor)
{
    const uint32_t halves[] = {BATCH / 2, 3, SIDE, SIDE, BATCH / 2, 1, SIDE, SIDE};
    PredictorHandle reshaped;

    OK(MXPredReshape(INPUTS, keys, ends, halves, predictor, &reshaped));
    predict(reshaped, BATCH / 2);
    OK(MXPredFree(reshaped));
}

/* MXNet's own threads may crash while exit() destroys the objects that they use. */
static _Noreturn void end(void)
{
    fflush(stdout);
    _Exit(0);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "created";
    struct file symbol = read_file("net-symbol.json"), parameters = read_file("net-0000.params");
    PredictorHandle predictor;

    if (!strcmp(how, "threads")) {
        predict_in_threads(symbol, parameters);
        end();
    }
    if (!strcmp(how, "retried"))
        printf("%d\n", create(symbol, parameters.text, parameters.bytes / 2, &predictor));
    OK(create(symbol, parameters.text, parameters.bytes, &predictor));
    predict(predictor, BATCH);
    if (!strcmp(how, "reshaped"))
        predict_reshaped(predictor);
    predict(predictor, BATCH);
    OK(MXPredFree(predictor));
    end();
}
