/* embed_text.c: run while building: prints the files on its command line as one C array of
 * characters. Each file starts with a #line, so that compiler errors name the file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

static void put(int c)
{
    printf("%d,", c);
}

static void put_text(const char *text)
{
    for (; *text; text++)
        put(*text);
}

static int embed(const char *path)
{
    const char *slash = strrchr(path, '/');
    FILE *file = fopen(path, "r");
    int c;

    if (!file) {
        perror(path);
        return -1;
    }
    put_text("#line 1 \"");
    put_text(slash ? slash + 1 : path);
    put_text("\"\n");
    while ((c = getc(file)) != EOF)
        put(c);
    putchar('\n');
    fclose(file);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fputs("usage: embed_text NAME FILE...\n", stderr);
        return 2;
    }
    printf("extern const char %s[];\nconst char %s[] = {\n", argv[1], argv[1]);
    for (int i = 2; i < argc; i++)
        if (embed(argv[i]))
            return 1;
    puts("0};");
    return 0;
}
