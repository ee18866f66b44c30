/* How a node is configured: which source decides, what is refused and with which words. */
#include <stdio.h>
#include <string.h>

#include "node/config.h"
#include "sapling/error.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/suite.h"

static FileBed bed;
static Config *config;

static void set_up(void)
{
    file_bed_start(&bed);
    EXPECT_RC(config_new(&config), SAP_OK);
}

static void tear_down(void)
{
    config_free(config);
    file_bed_end(&bed);
}

static void write_file(const char *text)
{
    FILE *file = fopen(bed.path, "w");
    EXPECT(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0, "no file %s", bed.path);
}

static int read_text(const char *text)
{
    write_file(text);
    return config_read_file(config, bed.path);
}

/* The line of the file in an origin or a message. */
static void expect_place(const char *text, unsigned line)
{
    char place[FILES_PATH_MAX + 16];
    (void)snprintf(place, sizeof place, "%s:%u", bed.path, line);
    EXPECT(strncmp(text, place, strlen(place)) == 0, "%s, not %s", text, place);
}

static void expect_message(const char *message, const char *hint)
{
    EXPECT(strstr(config_message(config), message) != NULL, "it says: %s", config_message(config));
    EXPECT(strstr(config_hint(config), hint) != NULL, "its hint: %s", config_hint(config));
}

START_TEST(without_sources_all_keys_have_their_defaults)
{
    size_t count = 1;
    ck_assert_str_eq(config_text(config, CONFIG_LISTEN), "127.0.0.1:7227");
    ck_assert_str_eq(config_text(config, CONFIG_STORE), "");
    ck_assert_uint_eq(config_number(config, CONFIG_MAX_MEMORY), 256u << 20);
    ck_assert_uint_eq(config_number(config, CONFIG_EXEC_TIMEOUT), 10000);
    (void)config_list(config, CONFIG_ROLE, &count);
    ck_assert_uint_eq(count, 0);
    for (int key = 0; key < CONFIG_COUNT; key++) {
        ck_assert_str_eq(config_origin(config, (ConfigKey)key), "default");
    }
    EXPECT_RC(config_read_file(config, "/no/such/file"), SAP_NOTFOUND);
}
END_TEST

START_TEST(a_source_replaces_what_the_sources_after_it_say_and_origins_name_it)
{
    static const char *const environment[] = {"HOME=/root", "SAPLING_NODE=127.0.0.1:1",
                                              "SAPLING_NODE_LISTEN=127.0.0.1:2",
                                              "SAPLING_NODE_SOCKET_GROUP=www", NULL};
    static const char *const flags[] = {"127.0.0.1:3"};
    EXPECT_RC(read_text("# a node\n\n  listen = 127.0.0.1:1  # here\nmax-memory=1G\ndata = /a#b\n"),
              SAP_OK);
    ck_assert_str_eq(config_text(config, CONFIG_LISTEN), "127.0.0.1:1");
    expect_place(config_origin(config, CONFIG_LISTEN), 3);
    ck_assert_str_eq(config_text(config, CONFIG_DATA), "/a#b");
    EXPECT_RC(config_read_environment(config, environment), SAP_OK);
    ck_assert_str_eq(config_text(config, CONFIG_LISTEN), "127.0.0.1:2");
    ck_assert_str_eq(config_origin(config, CONFIG_LISTEN), "SAPLING_NODE_LISTEN");
    EXPECT_RC(config_set(config, CONFIG_LISTEN, flags, 1, "--listen"), SAP_OK);
    ck_assert_str_eq(config_text(config, CONFIG_LISTEN), "127.0.0.1:3");
    ck_assert_str_eq(config_origin(config, CONFIG_LISTEN), "--listen");
    ck_assert_str_eq(config_text(config, CONFIG_SOCKET_GROUP), "www");
    ck_assert_uint_eq(config_number(config, CONFIG_MAX_MEMORY), 1u << 30);
}
END_TEST

START_TEST(a_list_is_all_that_the_first_source_gives)
{
    static const char *const environment[] = {"SAPLING_NODE_ROLE=http", NULL};
    size_t count = 0;
    EXPECT_RC(read_text("role = worlds, timers\nrole = reaper\n"), SAP_OK);
    const char *const *roles = config_list(config, CONFIG_ROLE, &count);
    ck_assert_uint_eq(count, 3);
    ck_assert_str_eq(roles[1], "timers");
    ck_assert_str_eq(roles[2], "reaper");
    EXPECT(roles[3] == NULL, "it does not end");
    EXPECT_RC(config_read_environment(config, environment), SAP_OK);
    roles = config_list(config, CONFIG_ROLE, &count);
    ck_assert_uint_eq(count, 1);
    ck_assert_str_eq(roles[0], "http");
}
END_TEST

START_TEST(an_unknown_key_is_refused_and_a_near_one_is_named)
{
    static const char *const environment[] = {"SAPLING_NODE_LISEN=1", NULL};
    static const char *const token[] = {"SAPLING_NODE_TOKEN=abc", NULL};
    EXPECT_RC(read_text("\nlisten-on = 1\nlisen = 2\n"), SAP_INVALID);
    expect_place(config_message(config), 2);
    EXPECT_RC(read_text("lisen = 2\n"), SAP_INVALID);
    expect_place(config_message(config), 1);
    expect_message("there is no such setting: lisen", "did you mean listen?");
    EXPECT_RC(config_read_environment(config, environment), SAP_INVALID);
    expect_message("SAPLING_NODE_LISEN", "did you mean SAPLING_NODE_LISTEN?");
    EXPECT_RC(config_read_environment(config, token), SAP_INVALID);
    expect_message("tokens are read from files only", "DIR/token");
    EXPECT(strstr(config_message(config), "abc") == NULL, "it shows the token");
    ck_assert_str_eq(config_text(config, CONFIG_LISTEN), "127.0.0.1:7227");
}
END_TEST

START_TEST(values_that_cannot_be_are_refused_with_what_can)
{
    static const struct {
        const char *line;
        const char *message;
        const char *hint;
    } bad[] = {
        {"handlers = 0", "handlers cannot be 0", "from 1 to 1024"},
        {"handlers = 1025", "handlers cannot be 1025", "from 1 to 1024"},
        {"handlers = -1", "handlers cannot be -1", "from 1 to 1024"},
        {"handlers = ", "handlers cannot be ", "from 1 to 1024"},
        {"max-memory = 64MB", "max-memory cannot be 64MB", "64M"},
        {"max-memory = 99999999999999999999", "max-memory cannot be", "64M"},
        {"max-idle = 5w", "max-idle cannot be 5w", "500ms, 30s"},
        {"max-idle = 2d", "max-idle cannot be 2d", "up to a day"},
        {"role = worlds, all", "role cannot be all", "worlds|effects"},
        {"log-level = loud", "log-level cannot be loud", "debug|info|warn|error"},
        {"listen", "'listen' has no =", "NAME = VALUE"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        EXPECT_RC(read_text(bad[i].line), SAP_INVALID);
        expect_place(config_message(config), 1);
        expect_message(bad[i].message, bad[i].hint);
    }
    EXPECT_RC(config_read_file(config, "/"), SAP_INVALID);
}
END_TEST

START_TEST(a_line_that_is_too_long_is_refused)
{
    char line[10000];
    memset(line, 'x', sizeof line);
    line[sizeof line - 1] = '\0';
    EXPECT_RC(read_text(line), SAP_INVALID);
    expect_message("longer than", "");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("node_config");
    TCase *test_case = tcase_create("config");
    tcase_add_checked_fixture(test_case, set_up, tear_down);
    tcase_add_test(test_case, without_sources_all_keys_have_their_defaults);
    tcase_add_test(test_case, a_source_replaces_what_the_sources_after_it_say_and_origins_name_it);
    tcase_add_test(test_case, a_list_is_all_that_the_first_source_gives);
    tcase_add_test(test_case, an_unknown_key_is_refused_and_a_near_one_is_named);
    tcase_add_test(test_case, values_that_cannot_be_are_refused_with_what_can);
    tcase_add_test(test_case, a_line_that_is_too_long_is_refused);
    suite_add_tcase(suite, test_case);
    return suite_run(suite);
}
