/* main.c - schema_diff [--json] OLD NEW. */
#include "diff.h"

#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static const char usage[] =
    "usage: schema_diff [--json] OLD NEW\n"
    "Says what breaks when the schemas of NEW take the place of those of OLD, each a .wit file or a\n"
    "directory of them. It judges bytes; old readers of JSON refuse appended fields.\n"
    "Exit status: 0 compatible, 1 something breaks, 2 wrong arguments or schema.\n";

typedef struct Side {
    const char **files;
    size_t count;
    Schema **schemas;
} Side;

static void add_file(Side *side, const char *file)
{
    side->files = take_more(side->files, side->count, sizeof *side->files);
    side->files[side->count++] = file;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void add_directory(Side *side, const char *path)
{
    DIR *dir = opendir(path);

    if (dir == NULL) {
        die("cannot read %s: %s", path, strerror(errno));
    }
    for (const struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        size_t len = strlen(entry->d_name);
        if (entry->d_name[0] != '.' && len > 4 && strcmp(entry->d_name + len - 4, ".wit") == 0) {
            add_file(side, take_printf("%s/%s", path, entry->d_name));
        }
    }
    closedir(dir);
    if (side->count == 0) {
        die("there is no .wit file in %s", path);
    }
    qsort(side->files, side->count, sizeof *side->files, by_name);
}

static Side read_side(const char *path)
{
    Side side = {0};
    struct stat st;

    if (stat(path, &st) != 0) {
        die("cannot read %s: %s", path, strerror(errno));
    }
    if (S_ISDIR(st.st_mode)) {
        add_directory(&side, path);
    } else {
        add_file(&side, path);
    }
    side.schemas = take(side.count * sizeof *side.schemas);
    for (size_t i = 0; i < side.count; i++) {
        side.schemas[i] = read_schema(side.files[i]);
    }
    check_schemas(side.schemas, side.count);
    return side;
}

static void print_breaks(const Diff *diff)
{
    static const char *const whom[] = {"old reader", "new reader", "stored rows"};

    if (diff->count == 0) {
        puts("compatible");
    }
    for (size_t i = 0; i < diff->count; i++) {
        const Break *b = &diff->breaks[i];
        const char *between = " (breaks ";
        printf("%s:%u:%u: %s", b->at.file, b->at.line, b->at.column, b->what);
        if (b->field != NULL) {
            printf(", %s %s", b->part, b->field);
        }
        printf(": %s", b->text);
        for (unsigned w = 0; w < 3; w++) {
            if ((b->whom >> w & 1) != 0) {
                printf("%s%s", between, whom[w]);
                between = ", ";
            }
        }
        puts(")");
    }
}

static void print_json(const Diff *diff)
{
    json_t *list = json_array();
    json_t *all = json_pack("{s:b, s:O}", "compatible", diff->count == 0, "breaks", list);

    for (size_t i = 0; i < diff->count && all != NULL; i++) {
        const Break *b = &diff->breaks[i];
        json_t *one =
            json_pack("{s:s, s:s, s:s*, s:s, s:b, s:b, s:b, s:s, s:i, s:i}", "kind", b->kind,
                      "what", b->what, b->part == NULL ? "field" : b->part, b->field, "text",
                      b->text, "old_reader", (b->whom & FOR_OLD) != 0, "new_reader",
                      (b->whom & FOR_NEW) != 0, "stored_rows", (b->whom & FOR_ROWS) != 0, "file",
                      b->at.file, "line", (int)b->at.line, "column", (int)b->at.column);
        if (one == NULL || json_array_append_new(list, one) != 0) {
            die("out of memory, or a file name that is not UTF-8");
        }
    }
    json_decref(list);
    if (all == NULL || json_dumpf(all, stdout, JSON_COMPACT) != 0) {
        die("out of memory");
    }
    puts("");
    json_decref(all);
}

int main(int argc, char **argv)
{
    const char *paths[2] = {NULL, NULL};
    size_t count = 0;
    bool json = false;

    die_as("schema_diff", 2);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            json = true;
        } else if (argv[i][0] == '-' || count == 2) {
            fputs(usage, stderr);
            return 2;
        } else {
            paths[count++] = argv[i];
        }
    }
    if (count != 2) {
        fputs(usage, stderr);
        return 2;
    }
    Side old = read_side(paths[0]);
    Side new = read_side(paths[1]);
    int status = 2;
    if (mistake_count() > 0) {
        report_mistakes();
    } else {
        Diff diff = diff_schemas(old.schemas, old.count, new.schemas, new.count);
        (json ? print_json : print_breaks)(&diff);
        status = diff.count == 0 ? 0 : 1;
    }
    release_all();
    return fflush(stdout) == 0 ? status : 2;
}
