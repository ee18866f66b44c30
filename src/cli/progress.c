#include "cli/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/clock.h"

enum { FIRST_MS = 1000, EVERY_MS = 200, DEFAULT_WIDTH = 80 };
#define NS_PER_MS UINT64_C(1000000)

void progress_start(Progress *progress, const Ui *ui, const char *what, bool bytes, uint64_t total)
{
    *progress = (Progress){.what = what, .bytes = bytes, .total = total};
    const char *term = getenv("TERM");
    /* One line is written over and over: not where the terminal cannot do that. */
    bool able = term != NULL && term[0] != '\0' && strcmp(term, "dumb") != 0;
    progress->wanted = able && !ui->quiet && !ui->json && isatty(STDERR_FILENO) == 1;
    progress->start_ns = clock_mono_ns(NULL);
    progress->next_ns = progress->start_ns + FIRST_MS * NS_PER_MS;
}

double progress_seconds(const Progress *progress)
{
    return (double)(clock_mono_ns(NULL) - progress->start_ns) / 1e9;
}

/* What a line can have without wrapping; asked each time, since terminals change their size. */
static size_t line_width(void)
{
    struct winsize size = {0};

    (void)ioctl(STDERR_FILENO, TIOCGWINSZ, &size);
    return size.ws_col > 1 ? size.ws_col - 1u : DEFAULT_WIDTH - 1;
}

static void show(const Progress *progress)
{
    double seconds = progress_seconds(progress);
    double rate = seconds > 0 ? (double)progress->done / seconds : 0;
    char done[UI_TEXT];
    char speed[UI_TEXT];
    char left[UI_TEXT];
    char rows[UI_TEXT];

    Buf line = {0};

    int rc = buf_printf(&line, "%s: ", progress->what);
    if (progress->rows > 0 && rc == SAP_OK) {
        rc = buf_printf(&line, "%s rows, ", ui_count(progress->rows, rows));
    }
    if (progress->bytes && rc == SAP_OK) {
        rc = buf_printf(&line, "%s, %s/s", ui_bytes(progress->done, done),
                        ui_bytes((uint64_t)rate, speed));
    } else if (rc == SAP_OK) {
        rc = buf_printf(&line, "%s rows, %s/s", ui_count(progress->done, done),
                        ui_count((uint64_t)rate, speed));
    }
    if (progress->total > progress->done && rate > 0 && rc == SAP_OK) {
        rc = buf_printf(&line, ", %.0f%%, %s left",
                        100.0 * (double)progress->done / (double)progress->total,
                        ui_seconds((double)(progress->total - progress->done) / rate, left));
    }
    if (rc == SAP_OK) {
        size_t width = line_width();
        (void)fprintf(stderr, "\r\033[K%.*s", (int)(line.len < width ? line.len : width),
                      (const char *)line.data);
        (void)fflush(stderr);
    }
    buf_release(&line);
}

void progress_at(Progress *progress, uint64_t done)
{
    progress->done = done;
    if (!progress->wanted) {
        return;
    }
    uint64_t now_ns = clock_mono_ns(NULL);
    if (now_ns >= progress->next_ns) {
        progress->next_ns = now_ns + EVERY_MS * NS_PER_MS;
        progress->shown = true;
        show(progress);
    }
}

void progress_end(Progress *progress)
{
    if (progress->shown) {
        (void)fputs("\r\033[K", stderr);
        (void)fflush(stderr);
        progress->shown = false;
    }
}
