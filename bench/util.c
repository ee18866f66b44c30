/* util.c - options, stores on disk, and the forms of a report. */
#include "util.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int bench_parse_number(const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
    char *end;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    if (errno || end == text || *end || *text == '-' || n < min || n > max)
        return -1;
    *out = n;
    return 0;
}

int bench_listed(const char *list, const char *name)
{
    size_t len = strlen(name);
    for (const char *at = list; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, name, len) == 0 && (at[len] == ',' || at[len] == '\0'))
            return 1;
    }
    return 0;
}

size_t bench_list_length(const char *list)
{
    size_t n = 1;
    for (; *list; list++)
        n += *list == ',';
    return n;
}

int bench_make_store(const char *parent, char *dir, size_t dir_size)
{
    int len = snprintf(dir, dir_size, "%s/store.XXXXXX", parent);
    if (len < 0 || (size_t)len >= dir_size || !mkdtemp(dir)) {
        fprintf(stderr, "bench: no directory in %s: %s\n", parent, strerror(errno));
        return -1;
    }
    return 0;
}

void bench_remove_store(const char *path)
{
    DIR *dir = opendir(path);
    if (dir) {
        struct dirent *entry;
        while ((entry = readdir(dir)) != NULL)
            if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
                unlinkat(dirfd(dir), entry->d_name, 0);
        closedir(dir);
    }
    if (rmdir(path) != 0)
        fprintf(stderr, "bench: %s: %s\n", path, strerror(errno));
}

const char *bench_format_rate(double per_s, char buf[32])
{
    if (per_s >= 1e7)
        snprintf(buf, 32, "%.1f M", per_s / 1e6);
    else if (per_s >= 1e6)
        snprintf(buf, 32, "%.2f M", per_s / 1e6);
    else if (per_s >= 1e4)
        snprintf(buf, 32, "%.0f K", per_s / 1e3);
    else if (per_s >= 1e3)
        snprintf(buf, 32, "%.2f K", per_s / 1e3);
    else
        snprintf(buf, 32, "%.1f", per_s);
    return buf;
}

FILE *bench_output_open(const char *path)
{
    FILE *out = fopen(path, "w");
    if (!out)
        fprintf(stderr, "bench: %s: %s\n", path, strerror(errno));
    return out;
}

int bench_output_close(FILE *out, const char *path)
{
    int bad = ferror(out);
    if (fclose(out) != 0 || bad) {
        fprintf(stderr, "bench: %s: not written\n", path);
        return -1;
    }
    return 0;
}

const char *const bench_colours[BENCH_MAX_ENGINES] = {"#2e7d32", "#5b7fa6", "#9db6d0", "#c98b3a",
                                                      "#8a6fb0", "#b0566b", "#6f9f9a", "#888888"};
