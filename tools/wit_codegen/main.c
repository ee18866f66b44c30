/* main.c - wit_codegen check | generate. */
#include "emit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static const char usage[] =
    "usage: wit_codegen check [--src DIR] FILE...\n"
    "       wit_codegen generate --out DIR [--manifest FILE] [--page FILE] FILE...\n"
    "With --src, tables must be @status(active) exactly if C files under DIR name them. With\n"
    "--manifest, the tables of all schemas also become DIR/wit_schema_dbis.{h,c}.\n";

typedef struct Job {
    const char *out;
    const char *manifest;
    const char *page;
    const char *src;
    Schema **schemas;
    size_t count;
} Job;

static void save(const char *path, Buf *buf)
{
    FILE *file = fopen(path, "wb");

    if (file == NULL || fwrite(buf->data, 1, buf->len, file) != buf->len || fclose(file) != 0) {
        die("cannot write %s: %s", path, strerror(errno));
    }
    buf_release(buf);
}

static void generate(const Job *job)
{
    static const struct {
        const char *end;
        void (*emit)(const Schema *schema, Buf *buf);
    } files[] = {{".h", emit_header},
                 {".c", emit_source},
                 {"_json.h", emit_json_header},
                 {"_json.c", emit_json_source},
                 {"_samples.h", emit_samples_header},
                 {"_samples.c", emit_samples_source}};
    Buf buf = {0};

    for (size_t i = 0; i < job->count; i++) {
        for (size_t f = 0; f < sizeof files / sizeof files[0]; f++) {
            files[f].emit(job->schemas[i], &buf);
            const char *name = snake(job->schemas[i]->package);
            save(take_printf("%s/wit_%s%s", job->out, name, files[f].end), &buf);
        }
    }
    if (job->manifest != NULL) {
        emit_dbis_header(job->schemas, job->count, &buf);
        save(take_printf("%s/wit_schema_dbis.h", job->out), &buf);
        emit_dbis_source(job->schemas, job->count, &buf);
        save(take_printf("%s/wit_schema_dbis.c", job->out), &buf);
        emit_manifest(job->schemas, job->count, &buf);
        save(job->manifest, &buf);
    }
    if (job->page != NULL) {
        emit_page(job->schemas, job->count, &buf);
        save(job->page, &buf);
    }
}

/* By the numbers of their tables. */
static int by_base(const void *a, const void *b)
{
    const Schema *x = *(Schema *const *)a;
    const Schema *y = *(Schema *const *)b;
    int order = (x->dbi_base > y->dbi_base) - (x->dbi_base < y->dbi_base);

    return order != 0 ? order : strcmp(x->package, y->package);
}

static const char *value_of(char **argv, int argc, int *i)
{
    if (++*i >= argc) {
        die("%s needs a value", argv[argc - 1]);
    }
    return argv[*i];
}

int main(int argc, char **argv)
{
    Job job = {0};
    const char *command = argc > 1 ? argv[1] : "";
    bool check_only = strcmp(command, "check") == 0;

    die_as("wit_codegen", 2);
    if (!check_only && strcmp(command, "generate") != 0) {
        fputs(usage, stderr);
        return 2;
    }
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "--out") == 0) {
            job.out = value_of(argv, argc, &i);
        } else if (strcmp(argv[i], "--manifest") == 0) {
            job.manifest = value_of(argv, argc, &i);
        } else if (strcmp(argv[i], "--page") == 0) {
            job.page = value_of(argv, argc, &i);
        } else if (strcmp(argv[i], "--src") == 0) {
            job.src = value_of(argv, argc, &i);
        } else if (argv[i][0] == '-') {
            die("no such option: %s", argv[i]);
        } else {
            job.schemas = take_more(job.schemas, job.count, sizeof(Schema *));
            job.schemas[job.count++] = read_schema(argv[i]);
        }
    }
    if (job.count == 0 || (!check_only && job.out == NULL)) {
        fputs(usage, stderr);
        release_all();
        return 2;
    }
    size_t tables = 0;
    size_t types = 0;
    check_schemas(job.schemas, job.count);
    for (size_t i = 0; i < job.count; i++) {
        tables += job.schemas[i]->table_count;
        types += job.schemas[i]->type_count;
    }
    if (mistake_count() == 0) {
        for (size_t i = 0; i < job.count; i++) {
            layout_schema(job.schemas[i]);
        }
        check_clashes(job.schemas, job.count);
    }
    for (size_t i = 0; i < job.count && job.src != NULL && mistake_count() == 0; i++) {
        check_status(job.schemas[i], job.src);
    }
    if (job.manifest != NULL && tables == 0 && mistake_count() == 0) {
        die("--manifest needs a schema with tables");
    }
    report_mistakes();
    int status = mistake_count() == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
    if (status == EXIT_SUCCESS && !check_only) {
        qsort(job.schemas, job.count, sizeof *job.schemas, by_base);
        generate(&job);
    }
    if (status == EXIT_SUCCESS) {
        printf("%zu schemas, %zu types, %zu tables: %s\n", job.count, types, tables,
               check_only ? "no mistakes" : "generated");
    }
    release_all();
    return status;
}
