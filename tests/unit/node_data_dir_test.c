/* The directory of a node: what is made, who may have it, what is refused and left as it was. */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "node/data_dir.h"
#include "node/registry.h"
#include "sapling/error.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/suite.h"

static FileBed bed;
static char where[FILES_PATH_MAX + 16];
static NodeError error;

static void set_up(void)
{
    file_bed_start(&bed);
    (void)snprintf(where, sizeof where, "%s/data", bed.dir);
    memset(&error, 0, sizeof error);
}

static void tear_down(void)
{
    char command[2 * FILES_DIR_MAX + 32];
    (void)snprintf(command, sizeof command, "rm -rf %s/data %s/home", bed.dir, bed.dir);
    EXPECT_RC(system(command), 0);
    file_bed_end(&bed);
}

static DataDir *open_dir(void)
{
    DataDir *dir = NULL;
    int rc = data_dir_open(where, &dir, &error);
    EXPECT(rc == SAP_OK, "%d: %s", rc, error.message);
    return dir;
}

static void path_of(const char *name, char path[FILES_PATH_MAX + 80])
{
    (void)snprintf(path, FILES_PATH_MAX + 80, "%s/%s", where, name);
}

static void put_text(const char *name, const char *text)
{
    char path[FILES_PATH_MAX + 80];
    path_of(name, path);
    FILE *file = fopen(path, "w");
    EXPECT(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0, "no file %s", path);
}

static const char *get_text(const char *name)
{
    static char text[1024];
    char path[FILES_PATH_MAX + 80];
    path_of(name, path);
    FILE *file = fopen(path, "r");
    size_t len = file != NULL ? fread(text, 1, sizeof text - 1, file) : 0;
    text[len] = '\0';
    if (file != NULL) {
        (void)fclose(file);
    }
    return text;
}

static unsigned mode_of(const char *name)
{
    struct stat info;
    char path[FILES_PATH_MAX + 80];
    path_of(name, path);
    EXPECT_RC(stat(path, &info), 0);
    return info.st_mode & 07777;
}

static void expect_refused(int rc, const char *message, const char *hint)
{
    DataDir *dir = NULL;
    EXPECT_RC(data_dir_open(where, &dir, &error), rc);
    EXPECT(dir == NULL && strstr(error.message, message) != NULL, "it says: %s", error.message);
    EXPECT(strstr(error.hint, hint) != NULL, "its hint: %s", error.hint);
}

START_TEST(the_first_start_makes_what_later_ones_find)
{
    char worker[DATA_NAME_MAX + 1];
    DataDir *dir = open_dir();
    EXPECT(data_dir_left(dir).made && !data_dir_left(dir).unclean, "it was there");
    ck_assert_uint_eq(mode_of("."), 0700);
    ck_assert_uint_eq(mode_of("worker"), 0600);
    ck_assert_str_eq(get_text("format"), "sapling data 1\n");
    (void)snprintf(worker, sizeof worker, "%s", data_dir_worker(dir));
    EXPECT(strlen(worker) > 7 && worker[strlen(worker) - 7] == '-', "the worker is %s", worker);
    data_dir_close(dir, true);
    dir = open_dir();
    EXPECT(!data_dir_left(dir).made && !data_dir_left(dir).unclean, "it was not");
    ck_assert_str_eq(data_dir_worker(dir), worker);
    data_dir_close(dir, true);
    data_dir_close(NULL, true);
}
END_TEST

START_TEST(a_directory_that_others_may_read_is_closed_to_them)
{
    data_dir_close(open_dir(), true);
    EXPECT_RC(chmod(where, 0755), 0);
    data_dir_close(open_dir(), true);
    ck_assert_uint_eq(mode_of("."), 0700);
}
END_TEST

/* In another process, since the lock is that of one. */
static pid_t hold_in_child(bool *held_out)
{
    int told[2];
    char byte = 0;
    EXPECT_RC(pipe(told), 0);
    pid_t pid = fork();
    if (pid == 0) {
        DataDir *dir = NULL;
        int rc = data_dir_open(where, &dir, &error);
        rc = rc == SAP_OK ? data_dir_note_running(dir, "127.0.0.1:1", 12345, &error) : rc;
        byte = rc == SAP_OK;
        (void)!write(told[1], &byte, 1);
        pause();
        _exit(0);
    }
    EXPECT(read(told[0], &byte, 1) == 1, "the child died");
    *held_out = byte == 1;
    (void)close(told[0]);
    (void)close(told[1]);
    return pid;
}

START_TEST(a_second_node_is_refused_by_the_pid_of_the_first_and_a_kill_is_seen)
{
    char text[64];
    bool held = false;
    int status = 0;
    pid_t pid = hold_in_child(&held);
    EXPECT(held, "the child was refused");
    (void)snprintf(text, sizeof text, "is in use by a node (pid %d)", (int)pid);
    expect_refused(SAP_BUSY, text, "stop it first (kill ");
    (void)snprintf(text, sizeof text, "%d\n", (int)pid);
    ck_assert_str_eq(get_text("node.pid"), text);
    EXPECT(strstr(get_text("node.json"), "\"address\":\"127.0.0.1:1\"") != NULL, "it is %s",
           get_text("node.json"));
    EXPECT_RC(kill(pid, SIGKILL), 0);
    EXPECT(waitpid(pid, &status, 0) == pid, "it does not end");
    DataDir *dir = open_dir();
    EXPECT(data_dir_left(dir).unclean && data_dir_left(dir).pid == pid &&
               data_dir_left(dir).started_ms == 12345,
           "it does not know");
    EXPECT_RC(data_dir_note_running(dir, NULL, 1, &error), SAP_OK);
    EXPECT(strstr(get_text("node.json"), "\"address\":null") != NULL, "it is %s",
           get_text("node.json"));
    data_dir_close(dir, true);
    ck_assert_str_eq(get_text("node.json"), "");
    dir = open_dir();
    EXPECT(!data_dir_left(dir).unclean, "it was clean");
    data_dir_close(dir, true);
}
END_TEST

START_TEST(a_newer_format_is_refused_and_both_are_named)
{
    data_dir_close(open_dir(), true);
    put_text("format", "sapling data 2\n");
    expect_refused(SAP_CONFLICT, "has format 2", "newer");
    EXPECT(strstr(error.message, "knows none above 1") != NULL, "it says: %s", error.message);
    static const char *const none[] = {"sapling data 0\n", "sapling data\n", "sapling data 1x\n",
                                       "", "2\n"};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        put_text("format", none[i]);
        expect_refused(SAP_CORRUPT, "is not a data directory", "--data");
    }
}
END_TEST

START_TEST(what_is_not_a_data_directory_is_left_as_it_was)
{
    EXPECT_RC(mkdir(where, 0755), 0);
    EXPECT_RC(chmod(where, 0755), 0);
    put_text("thesis.txt", "mine");
    expect_refused(SAP_CORRUPT, "is not a data directory, and has files in it (thesis.txt)",
                   "--data DIR");
    ck_assert_uint_eq(mode_of("."), 0755);
    struct dirent **names = NULL;
    int count = scandir(where, &names, NULL, NULL);
    ck_assert_int_eq(count, 3);
    while (count > 0) {
        free(names[--count]);
    }
    free(names);
    (void)snprintf(where, sizeof where, "%s/no/such", bed.dir);
    expect_refused(SAP_IO, "cannot make", "first");
    (void)snprintf(where, sizeof where, "/dev/null");
    expect_refused(SAP_CORRUPT, "is not a directory", "--data DIR");
    (void)snprintf(where, sizeof where, "/proc/data");
    DataDir *dir = NULL;
    EXPECT(data_dir_open(where, &dir, &error) != SAP_OK, "it can write /proc");
    (void)snprintf(where, sizeof where, "%s/data", bed.dir);
}
END_TEST

START_TEST(a_node_is_found_by_its_address_until_it_stops)
{
    char dirs[REGISTRY_DIRS][REGISTRY_PATH_MAX];
    char path[REGISTRY_PATH_MAX + 64];
    struct stat info;
    (void)snprintf(path, sizeof path, "%s/home", bed.dir);
    EXPECT_RC(mkdir(path, 0700), 0);
    EXPECT_RC(setenv("HOME", path, 1), 0);
    EXPECT_RC(unsetenv("XDG_STATE_HOME"), 0);
    size_t count = registry_dirs(dirs);
    EXPECT(count >= 1 && strstr(dirs[0], "/home/.local/state/sapling/nodes") != NULL, "%s",
           dirs[0]);
    RegistryEntry entry = {"127.0.0.1:65531", "/s", "/t", "/d"};
    EXPECT(registry_add(&entry) >= 1, "it was not written");
    (void)snprintf(path, sizeof path, "%s/127.0.0.1:65531.json", dirs[0]);
    EXPECT_RC(stat(path, &info), 0);
    ck_assert_uint_eq(info.st_mode & 07777, 0600);
    /* What a killed node has left goes with the next one. */
    char stale[REGISTRY_PATH_MAX + 64];
    (void)snprintf(stale, sizeof stale, "%s/127.0.0.1:65530.json", dirs[0]);
    EXPECT_RC(data_file_write(stale, "{\"pid\":2147483646}", 18), 0);
    EXPECT(registry_add(&entry) >= 1, "it was not written");
    EXPECT(stat(stale, &info) != 0, "a stale one is there");
    registry_remove("127.0.0.1:65531");
    EXPECT(stat(path, &info) != 0, "it is still there");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("node_data_dir");
    TCase *test_case = tcase_create("data_dir");
    tcase_add_checked_fixture(test_case, set_up, tear_down);
    tcase_add_test(test_case, the_first_start_makes_what_later_ones_find);
    tcase_add_test(test_case, a_directory_that_others_may_read_is_closed_to_them);
    tcase_add_test(test_case, a_second_node_is_refused_by_the_pid_of_the_first_and_a_kill_is_seen);
    tcase_add_test(test_case, a_newer_format_is_refused_and_both_are_named);
    tcase_add_test(test_case, what_is_not_a_data_directory_is_left_as_it_was);
    tcase_add_test(test_case, a_node_is_found_by_its_address_until_it_stops);
    suite_add_tcase(suite, test_case);
    return suite_run(suite);
}
