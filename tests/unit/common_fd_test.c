/* Descriptors are above the standard ones, whatever a process was started with. */
#include "common/fd.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static void close_standard(void)
{
    for (int fd = 0; fd < FD_FIRST; fd++) {
        EXPECT(close(fd) == 0, "descriptor %d was closed already", fd);
    }
}

static void expect_standard_closed(void)
{
    for (int fd = 0; fd < FD_FIRST; fd++) {
        if (fcntl(fd, F_GETFD) != -1) {
            abort(); /* nobody could read a text */
        }
    }
}

static void open_everything(void *unused)
{
    (void)unused;
    close_standard();
    int file = fd_open("/dev/null", O_RDONLY, 0);
    DIR *dir = fd_open_dir("/");
    FILE *stream = fd_open_stream("/dev/null");
    int sock = fd_raise(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    int ends[2] = {-1, -1};
    if (!fd_pipe(ends) || ends[0] < FD_FIRST || ends[1] < FD_FIRST || write(ends[1], "x", 1) != 1) {
        abort();
    }
    if (file < FD_FIRST || dir == NULL || dirfd(dir) < FD_FIRST || stream == NULL ||
        fileno(stream) < FD_FIRST || sock < FD_FIRST) {
        abort();
    }
    expect_standard_closed();
    const int all[] = {file, dirfd(dir), fileno(stream), sock, ends[0], ends[1]};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (fcntl(all[i], F_GETFD) != FD_CLOEXEC) {
            abort();
        }
    }
    closedir(dir);
    fclose(stream);
}

START_TEST(nothing_is_opened_on_a_standard_descriptor)
{
    files_in_child(open_everything, NULL);
}
END_TEST

static void open_at_the_limit(void *unused)
{
    (void)unused;
    close_standard();
    const struct rlimit few = {.rlim_cur = FD_FIRST, .rlim_max = FD_FIRST};
    if (setrlimit(RLIMIT_NOFILE, &few) != 0) {
        abort();
    }
    /* The system has 0 to 2 to give, but nothing above. */
    if (fd_open("/dev/null", O_RDONLY, 0) != -1 || (errno != EMFILE && errno != EINVAL)) {
        abort();
    }
    expect_standard_closed();
}

START_TEST(a_descriptor_that_cannot_be_moved_up_is_closed_and_the_call_fails)
{
    files_in_child(open_at_the_limit, NULL);
}
END_TEST

START_TEST(what_cannot_be_opened_keeps_the_systems_reason)
{
    errno = 0;
    ck_assert_int_eq(fd_open("/nowhere/at/all", O_RDONLY, 0), -1);
    ck_assert_int_eq(errno, ENOENT);
    errno = 0;
    ck_assert_ptr_null(fd_open_dir("/dev/null"));
    ck_assert_int_eq(errno, ENOTDIR);
    ck_assert_ptr_null(fd_open_stream("/nowhere/at/all"));
    ck_assert_int_eq(errno, ENOENT);
}
END_TEST

static void fill(void *unused)
{
    (void)unused;
    close_standard();
    char byte = 'x';
    if (!fd_fill_standard() || read(0, &byte, 1) != -1 || errno != EBADF) {
        abort();
    }
    for (int fd = 1; fd < FD_FIRST; fd++) {
        if (write(fd, &byte, 1) != -1 || errno != EBADF) {
            abort();
        }
    }
    if (open("/dev/null", O_RDONLY) < FD_FIRST) {
        abort();
    }
}

START_TEST(filled_standard_descriptors_are_taken_and_can_neither_be_read_nor_written)
{
    files_in_child(fill, NULL);
}
END_TEST

static void fill_open_ones(void *unused)
{
    (void)unused;
    int before = open("/dev/null", O_RDONLY);
    if (!fd_fill_standard() || open("/dev/null", O_RDONLY) != before + 1 || write(2, "", 0) != 0) {
        abort();
    }
}

START_TEST(open_standard_descriptors_are_left_as_they_are)
{
    files_in_child(fill_open_ones, NULL);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("common/fd");
    TCase *tcase = tcase_create("fd");

    tcase_add_test(tcase, nothing_is_opened_on_a_standard_descriptor);
    tcase_add_test(tcase, a_descriptor_that_cannot_be_moved_up_is_closed_and_the_call_fails);
    tcase_add_test(tcase, what_cannot_be_opened_keeps_the_systems_reason);
    tcase_add_test(tcase,
                   filled_standard_descriptors_are_taken_and_can_neither_be_read_nor_written);
    tcase_add_test(tcase, open_standard_descriptors_are_left_as_they_are);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
