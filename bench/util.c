/* util.c - options, stores on disk, measuring, and the forms of a report. */
#include "util.h"

#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/magic.h>

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

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st;
    (void)type;
    (void)at;
    if (remove(path) != 0)
        fprintf(stderr, "bench: %s: %s\n", path, strerror(errno));
    return 0;
}

void bench_remove_store(const char *path)
{
    enum { OPEN_MAX_DIRS = 8 };
    if (nftw(path, remove_entry, OPEN_MAX_DIRS, FTW_DEPTH | FTW_PHYS) != 0)
        fprintf(stderr, "bench: %s: %s\n", path, strerror(errno));
}

int bench_check_disk(const char *dir)
{
    struct statfs fs;
    if (statfs(dir, &fs) != 0) {
        fprintf(stderr, "bench: %s: %s\n", dir, strerror(errno));
        return -1;
    }
    if (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC) {
        fprintf(stderr, "bench: %s is in memory; choose a directory on a disk\n", dir);
        return -1;
    }
    return 0;
}

uint64_t bench_now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

void bench_sleep_us(uint64_t us)
{
    struct timespec ts = {.tv_sec = (time_t)(us / 1000000), .tv_nsec = (long)(us % 1000000) * 1000};
    nanosleep(&ts, NULL);
}

int bench_in_child(int (*fn)(const void *arg, void *result), const void *arg, void *result,
                   size_t size)
{
    int fds[2];
    if (pipe(fds) != 0) {
        perror("bench: pipe");
        return -1;
    }
    fflush(NULL); /* or the child would print it again */
    memset(result, 0, size);
    pid_t pid = fork();
    if (pid == 0) {
        close(fds[0]);
        _exit(fn(arg, result) == 0 && write(fds[1], result, size) == (ssize_t)size ? 0 : 1);
    }
    close(fds[1]);
    ssize_t got = pid < 0 ? 0 : read(fds[0], result, size);
    close(fds[0]);
    if (pid < 0) {
        perror("bench: fork");
        return -1;
    }
    int status = 0;
    if (waitpid(pid, &status, 0) != pid)
        return -1;
    if (WIFSIGNALED(status))
        fprintf(stderr, "bench: ended by signal %d\n", WTERMSIG(status));
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 && got == (ssize_t)size ? 0 : -1;
}

/* Room for `count` more. */
static int samples_grow(BenchSamples *samples, uint64_t count)
{
    uint64_t capacity = samples->capacity ? samples->capacity : 1u << 16;
    while (capacity < samples->count + count)
        capacity *= 2;
    if (capacity == samples->capacity)
        return 0;
    uint64_t *grown = realloc(samples->ns, capacity * sizeof *grown);
    if (!grown) {
        fprintf(stderr, "bench: out of memory\n");
        return -1;
    }
    samples->ns = grown;
    samples->capacity = capacity;
    return 0;
}

int bench_samples_add(BenchSamples *samples, uint64_t ns)
{
    if (samples_grow(samples, 1) != 0)
        return -1;
    samples->ns[samples->count++] = ns;
    return 0;
}

int bench_samples_append(BenchSamples *samples, const BenchSamples *more)
{
    if (samples_grow(samples, more->count) != 0)
        return -1;
    if (more->count)
        memcpy(samples->ns + samples->count, more->ns, more->count * sizeof *more->ns);
    samples->count += more->count;
    return 0;
}

static int compare_ns(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

void bench_samples_sort(BenchSamples *samples)
{
    qsort(samples->ns, samples->count, sizeof *samples->ns, compare_ns);
}

void bench_samples_release(BenchSamples *samples)
{
    free(samples->ns);
    *samples = (BenchSamples){0};
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

int bench_output_write(const char *path, void (*print)(const void *report, FILE *out),
                       const void *report)
{
    FILE *out = bench_output_open(path);
    if (!out)
        return -1;
    print(report, out);
    return bench_output_close(out, path);
}

const char *const bench_colours[BENCH_MAX_ENGINES] = {"#2e7d32", "#5b7fa6", "#9db6d0", "#c98b3a",
                                                      "#8a6fb0", "#b0566b", "#6f9f9a", "#888888"};
