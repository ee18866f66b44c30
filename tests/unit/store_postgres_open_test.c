/* A PostgreSQL store that cannot be opened: each cause has its code and a text that says what to do,
 * nothing changes on the server, and no text has the password. */
#include "common/mem.h"
#include "common/random.h"
#include "sapling/store.h"
#include "support/expect.h"
#include "support/loop_disk.h"
#include "support/store_pg_server.h"
#include "support/store_proxy.h"
#include "support/store_suite.h"
#include "support/suite.h"

#include <inttypes.h>
#include <postgresql/libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SECRET "hunter2-the-secret"

enum {
    TABLE = 16,
    OTHER_TABLE = 17,
    TIMEOUT_S = 120,
    FEW_CONNECTIONS = 10,
    LARGE = 100000,
    MOST_ROWS = 2000,
    DIGEST_MAX = 64,
};

/* Which users may come how; the first line that fits counts. */
static const char access_lines[] = "host all locked 127.0.0.1/32 scram-sha-256\n"
                                   "host all rejected 127.0.0.1/32 reject\n"
                                   "hostssl all tlsonly 127.0.0.1/32 trust\n"
                                   "hostnossl all tlsonly 127.0.0.1/32 reject\n";

static PgServer server;
static bool is_there;

/* ---- Opening --------------------------------------------------------------------------------- */

static void expect_no_secret(const char *text)
{
    EXPECT(strstr(text, SECRET) == NULL && strstr(text, "wrong" SECRET) == NULL,
           "the text has the password: %s", text);
}

static void hear_message(const char *text, void *ctx)
{
    (void)ctx;
    expect_no_secret(text);
}

static SapStoreOptions plain_options(void)
{
    static const uint32_t tables[] = {TABLE, OTHER_TABLE};
    return (SapStoreOptions){.size = sizeof(SapStoreOptions),
                             .tables = tables,
                             .table_count = 2,
                             .schema = "open@1",
                             .on_message = hear_message};
}

/* Of everything that is not the system's: names, columns and rows. */
static void take_digest(char *digest)
{
    pg_server_ask(
        &server, digest, DIGEST_MAX,
        "SELECT md5(string_agg(x, ',' ORDER BY x)) FROM (SELECT n.nspname || '.' || c.relname || "
        "CASE WHEN c.relkind = 'r' THEN md5(query_to_xml(format('SELECT * FROM %%I.%%I ORDER BY "
        "1', n.nspname, c.relname), true, false, '')::text) ELSE '' END AS x FROM pg_class c JOIN "
        "pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname !~ '^pg_' AND n.nspname <> "
        "'information_schema' UNION ALL SELECT 'schema ' || nspname FROM pg_namespace "
        "WHERE nspname !~ '^pg_') y");
}

static bool is_in(const char *text, const char *words)
{
    char copy[256];
    char *rest = copy;
    (void)snprintf(copy, sizeof copy, "%s", words);
    for (char *word = strsep(&rest, "|"); word != NULL; word = strsep(&rest, "|")) {
        if (strstr(text, word) != NULL) {
            return true;
        }
    }
    return false;
}

/* A refused open or init. The text has one of the words of each list, such as "GRANT|grant". */
static void expect_refused_by(bool by_init, const char *url, int code, const char *words,
                              const char *advice)
{
    char before[DIGEST_MAX];
    char after[DIGEST_MAX];
    SapStoreOptions options = plain_options();
    SapStore *store = (SapStore *)&server;
    expect_context("%s of %s", by_init ? "init" : "open", url);
    take_digest(before);
    int rc = by_init ? sap_store_init(url, &options) : sap_store_open(url, &options, &store);
    const char *text = sap_open_error();
    EXPECT(rc == code, "%s instead of %s: %s", code_name(rc), code_name(code), text);
    EXPECT((void *)store == (void *)&server, "the out-parameter was written");
    EXPECT(text[0] != 0, "there is no text");
    EXPECT(is_in(text, words), "the text lacks %s: %s", words, text);
    EXPECT(is_in(text, advice), "the text does not advise (%s): %s", advice, text);
    expect_no_secret(text);
    take_digest(after);
    EXPECT(strcmp(before, after) == 0, "something has changed on the server");
    EXPECT(mem_live_bytes(MEM_STORE) == 0, "%zu bytes are left", mem_live_bytes(MEM_STORE));
    printf("store_postgres_open: %s: %s\n", code_name(rc), text);
}

static void expect_refused(const char *url, int code, const char *words, const char *advice)
{
    expect_refused_by(false, url, code, words, advice);
}

static SapStore *open_url(const char *url)
{
    SapStoreOptions options = plain_options();
    SapStore *store = NULL;
    expect_context("open of %s", url);
    int rc = sap_store_open(url, &options, &store);
    EXPECT(rc == SAP_OK, "%s: %s", code_name(rc), sap_open_error());
    return store;
}

static void close_store(SapStore *store)
{
    EXPECT_RC(sap_store_close(store), SAP_OK);
    EXPECT(mem_live_bytes(MEM_STORE) == 0, "%zu bytes are left", mem_live_bytes(MEM_STORE));
}

static void init_url(const char *url)
{
    SapStoreOptions options = plain_options();
    expect_context("init of %s", url);
    int rc = sap_store_init(url, &options);
    EXPECT(rc == SAP_OK, "%s: %s", code_name(rc), sap_open_error());
}

/* The url of the user's store in that schema. */
static const char *tcp_url(const char *user, const char *schema, const char *more)
{
    static char url[PG_SERVER_URL_MAX];
    char params[PG_SERVER_URL_MAX / 2];
    (void)snprintf(params, sizeof params, "schema=%s%s%s", schema, more[0] == 0 ? "" : "&", more);
    pg_server_tcp_url(&server, user, params, url, sizeof url);
    return url;
}

/* ---- The server ------------------------------------------------------------------------------ */

/* One server for all tests of the file that do not need one of their own. */
static void start_server(void)
{
    PgServerOptions options = {.access = access_lines};
    is_there = pg_server_start(&server, &options);
    if (is_there) {
        pg_server_sql(
            &server,
            "CREATE ROLE locked LOGIN SUPERUSER PASSWORD '" SECRET "';"
            "CREATE ROLE rejected LOGIN; CREATE ROLE tlsonly LOGIN; CREATE ROLE poor LOGIN;"
            "CREATE ROLE limited LOGIN SUPERUSER CONNECTION LIMIT 0;"
            "CREATE ROLE sloppy LOGIN SUPERUSER; CREATE ROLE reader LOGIN SUPERUSER;"
            "ALTER ROLE sloppy SET synchronous_commit = off;"
            "ALTER ROLE reader SET default_transaction_read_only = on");
        /* The limit does not count for superusers. */
        pg_server_sql(&server, "ALTER ROLE limited NOSUPERUSER");
        init_url(tcp_url("postgres", "good", ""));
    }
}

static void end_server(void)
{
    pg_server_end(&server);
}

/* ---- Who may come ---------------------------------------------------------------------------- */

START_TEST(a_store_that_was_made_can_be_opened_and_init_changes_nothing_then)
{
    char before[DIGEST_MAX];
    char after[DIGEST_MAX];
    if (!is_there) {
        return;
    }
    take_digest(before);
    init_url(tcp_url("postgres", "good", ""));
    take_digest(after);
    EXPECT(strcmp(before, after) == 0, "a second init changed something");
    close_store(open_url(tcp_url("postgres", "good", "")));
    close_store(open_url(tcp_url("locked:" SECRET, "good", "")));
    char url[PG_SERVER_URL_MAX];
    (void)snprintf(url, sizeof url, "postgresql%s",
                   tcp_url("postgres", "good",
                           "pool=2&lock_timeout_ms=100&statement_timeout_ms=500"
                           "&connect_timeout=5") +
                       strlen("postgres"));
    close_store(open_url(url));
}
END_TEST

START_TEST(a_server_that_is_not_there_is_an_io_error)
{
    if (!is_there) {
        return;
    }
    expect_refused("postgres://locked:" SECRET "@127.0.0.1:1/postgres?schema=good", SAP_IO,
                   "127.0.0.1", "running|start|check");
    expect_refused("postgres://locked:" SECRET "@/postgres?host=/nowhere&schema=good", SAP_IO,
                   "/nowhere", "running|start|check");
}
END_TEST

START_TEST(a_server_that_does_not_answer_is_an_io_error_after_the_connect_timeout)
{
    char path[PG_SERVER_URL_MAX];
    char url[PG_SERVER_URL_MAX];
    struct timespec start;
    struct timespec end;
    if (!is_there) {
        return;
    }
    pg_server_socket(&server, path, sizeof path);
    StoreProxy *proxy = proxy_start(path);
    proxy_black_hole(proxy, true);
    (void)snprintf(url, sizeof url,
                   "postgres://locked:" SECRET
                   "@127.0.0.1:%u/postgres?schema=good&connect_timeout=2",
                   proxy_port(proxy));
    clock_gettime(CLOCK_MONOTONIC, &start);
    expect_refused(url, SAP_IO, "127.0.0.1|time", "running|start|check");
    clock_gettime(CLOCK_MONOTONIC, &end);
    EXPECT(end.tv_sec - start.tv_sec <= 6, "it took %ld s", (long)(end.tv_sec - start.tv_sec));
    proxy_end(proxy);
}
END_TEST

START_TEST(a_user_who_may_not_connect_is_invalid)
{
    if (!is_there) {
        return;
    }
    expect_refused(tcp_url("locked:wrong" SECRET, "good", ""), SAP_INVALID, "password", "password");
    expect_refused(tcp_url("locked", "good", ""), SAP_INVALID, "password", "password");
    expect_refused(tcp_url("rejected:" SECRET, "good", ""), SAP_INVALID, "pg_hba", "pg_hba");
    expect_refused(tcp_url("nobody:" SECRET, "good", ""), SAP_INVALID, "nobody", "role|user");
    expect_refused(tcp_url("tlsonly:" SECRET, "good", "sslmode=disable"), SAP_INVALID,
                   "encryption|TLS|SSL", "sslmode");
    expect_refused(tcp_url("postgres", "good", "sslmode=require"), SAP_INVALID, "SSL|TLS",
                   "sslmode");
    pg_server_sql(&server, "CREATE DATABASE closed");
    pg_server_sql(&server, "REVOKE CONNECT ON DATABASE closed FROM PUBLIC");
    char url[PG_SERVER_URL_MAX];
    (void)snprintf(url, sizeof url, "postgres://poor:" SECRET "@127.0.0.1:%u/closed", server.port);
    expect_refused(url, SAP_INVALID, "closed", "GRANT|grant|right");
}
END_TEST

START_TEST(a_user_without_rights_is_invalid)
{
    if (!is_there) {
        return;
    }
    init_url(tcp_url("postgres", "kept", ""));
    expect_refused_by(true, tcp_url("poor", "new_one", ""), SAP_INVALID, "permission|right",
                      "GRANT|grant|right");
    expect_refused(tcp_url("poor", "kept", ""), SAP_INVALID, "permission|right|kept",
                   "GRANT|grant");
    pg_server_sql(&server, "GRANT USAGE ON SCHEMA kept TO poor");
    expect_refused(tcp_url("poor", "kept", ""), SAP_INVALID, "permission|right|kept",
                   "GRANT|grant");
    pg_server_sql(&server, "GRANT SELECT ON ALL TABLES IN SCHEMA kept TO poor");
    expect_refused(tcp_url("poor", "kept", ""), SAP_INVALID, "permission|right|kept",
                   "GRANT|grant");
    pg_server_sql(&server, "GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA kept TO poor");
    close_store(open_url(tcp_url("poor", "kept", "")));
    /* One of the tables of the program is enough. */
    pg_server_sql(&server, "REVOKE UPDATE ON kept.t%d FROM poor", OTHER_TABLE);
    expect_refused(tcp_url("poor", "kept", ""), SAP_INVALID, "permission|right|t17", "GRANT|grant");
}
END_TEST

START_TEST(a_server_that_is_too_old_is_invalid)
{
    char path[PG_SERVER_URL_MAX];
    char url[PG_SERVER_URL_MAX];
    if (!is_there) {
        return;
    }
    pg_server_socket(&server, path, sizeof path);
    StoreProxy *proxy = proxy_start(path);
    (void)snprintf(url, sizeof url, "postgres://postgres@127.0.0.1:%u/postgres?schema=good",
                   proxy_port(proxy));
    proxy_set_version(proxy, "11");
    expect_refused(url, SAP_INVALID, "older|version|11", "12");
    proxy_set_version(proxy, "12");
    close_store(open_url(url));
    proxy_end(proxy);
}
END_TEST

/* ---- Servers that cannot keep the promise ------------------------------------------------------ */

START_TEST(a_server_that_acknowledges_before_the_disk_is_invalid)
{
    if (!is_there) {
        return;
    }
    expect_refused(tcp_url("sloppy", "good", ""), SAP_INVALID, "synchronous_commit",
                   "ALTER ROLE|set |Set |on");
    expect_refused(tcp_url("postgres", "good", "options=-csynchronous_commit%3Doff"), SAP_INVALID,
                   "synchronous_commit", "set |Set |on");
    pg_server_sql(&server, "ALTER SYSTEM SET fsync = off");
    pg_server_sql(&server, "SELECT pg_reload_conf()");
    while (pg_server_count(&server, "SELECT count(*) FROM pg_settings WHERE name = 'fsync' AND "
                                    "setting = 'off'") == 0) {
    }
    expect_refused(tcp_url("postgres", "good", ""), SAP_INVALID, "fsync", "set |Set |on");
    pg_server_sql(&server, "ALTER SYSTEM RESET fsync");
    pg_server_sql(&server, "SELECT pg_reload_conf()");
    while (pg_server_count(&server, "SELECT count(*) FROM pg_settings WHERE name = 'fsync' AND "
                                    "setting = 'on'") == 0) {
    }
    close_store(open_url(tcp_url("postgres", "good", "")));
}
END_TEST

START_TEST(a_read_only_server_is_readonly)
{
    if (!is_there) {
        return;
    }
    expect_refused(tcp_url("reader", "good", ""), SAP_READONLY, "read-only|read only|read_only",
                   "primary|default_transaction_read_only");
    expect_refused_by(true, tcp_url("reader", "new_one", ""), SAP_READONLY,
                      "read-only|read only|read_only", "primary|default_transaction_read_only");
    close_store(open_url(tcp_url("postgres", "good", "")));
}
END_TEST

START_TEST(a_standby_is_readonly)
{
    PgServer standby;
    char url[PG_SERVER_URL_MAX];
    PgServer primary = {0};
    if (!pg_server_start(&primary, NULL)) {
        return;
    }
    server = primary;
    init_url(tcp_url("postgres", "good", ""));
    pg_server_start_standby(&standby, &server);
    pg_server_tcp_url(&standby, "postgres", "schema=good", url, sizeof url);
    expect_refused(url, SAP_READONLY, "standby|recovery|read-only|read only", "primary");
    pg_server_end(&standby);
    /* Nobody is to wait for one that is gone. */
    pg_server_end(&server);
}
END_TEST

/* ---- What is in the database ------------------------------------------------------------------- */

START_TEST(a_store_that_was_never_made_is_not_found)
{
    char url[PG_SERVER_URL_MAX];
    if (!is_there) {
        return;
    }
    expect_refused(tcp_url("locked:" SECRET, "absent", ""), SAP_NOTFOUND, "absent",
                   "sapling store init");
    pg_server_sql(&server, "CREATE SCHEMA hollow");
    expect_refused(tcp_url("postgres", "hollow", ""), SAP_NOTFOUND, "hollow", "sapling store init");
    /* The default schema is `sapling`. */
    pg_server_tcp_url(&server, "postgres", "", url, sizeof url);
    expect_refused(url, SAP_NOTFOUND, "sapling", "sapling store init");
}
END_TEST

START_TEST(a_store_that_lacks_a_table_is_not_found_and_init_makes_that_one)
{
    static const uint32_t one[] = {TABLE};
    SapStoreOptions options = plain_options();
    if (!is_there) {
        return;
    }
    options.tables = one;
    options.table_count = 1;
    EXPECT_RC(sap_store_init(tcp_url("postgres", "half", ""), &options), SAP_OK);
    pg_server_sql(&server, "INSERT INTO half.t%d VALUES ('row', 'kept')", TABLE);
    expect_refused(tcp_url("postgres", "half", ""), SAP_NOTFOUND, "t17|17", "sapling store init");
    init_url(tcp_url("postgres", "half", ""));
    close_store(open_url(tcp_url("postgres", "half", "")));
    EXPECT(pg_server_count(&server, "SELECT count(*) FROM half.t%d", TABLE) == 1,
           "init lost a row");
    pg_server_sql(&server, "DROP TABLE half.t8");
    expect_refused(tcp_url("postgres", "half", ""), SAP_NOTFOUND, "t8|8", "sapling store init");
}
END_TEST

START_TEST(tables_of_another_layout_are_invalid)
{
    static const char *const layouts[] = {
        "CREATE TABLE %s.t17 (k text PRIMARY KEY, v bytea NOT NULL)",
        "CREATE TABLE %s.t17 (k bytea PRIMARY KEY)",
        "CREATE TABLE %s.t17 (key bytea PRIMARY KEY, value bytea NOT NULL)",
        "CREATE VIEW %s.t17 AS SELECT 'k'::bytea AS k, 'v'::bytea AS v",
        "CREATE TABLE %s.t17 (k bytea, v bytea NOT NULL)",
    };
    if (!is_there) {
        return;
    }
    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
        char schema[32];
        char make[128];
        (void)snprintf(schema, sizeof schema, "layout%zu", i);
        init_url(tcp_url("postgres", schema, ""));
        (void)snprintf(make, sizeof make, layouts[i], schema); // NOLINT: a format of this file
        pg_server_sql(&server, "DROP TABLE %s.t17", schema);
        pg_server_sql(&server, "%s", make);
        expect_refused(tcp_url("postgres", schema, ""), SAP_INVALID, "t17",
                       "another schema|other schema|choose|move|drop|rename|layout");
        expect_refused_by(true, tcp_url("postgres", schema, ""), SAP_INVALID, "t17",
                          "another schema|other schema|choose|move|drop|rename|layout");
    }
}
END_TEST

START_TEST(a_marker_that_does_not_fit_is_refused)
{
    if (!is_there) {
        return;
    }
    init_url(tcp_url("postgres", "newer", ""));
    pg_server_sql(&server, "UPDATE newer.t8 SET v = set_byte(v, 8, 2) WHERE k = '\\x00'");
    expect_refused(tcp_url("locked:" SECRET, "newer", ""), SAP_INVALID, "format 2", "version");
    pg_server_sql(&server, "UPDATE newer.t8 SET v = '\\x0102' WHERE k = '\\x00'");
    expect_refused(tcp_url("locked:" SECRET, "newer", ""), SAP_CORRUPT, "marker", "restore|backup");
    init_url(tcp_url("postgres", "mine", ""));
    SapStoreOptions options = plain_options();
    SapStore *store = NULL;
    options.schema = "open@2";
    EXPECT_RC(sap_store_open(tcp_url("locked:" SECRET, "mine", ""), &options, &store), SAP_INVALID);
    EXPECT(strstr(sap_open_error(), "open@1") != NULL && strstr(sap_open_error(), "open@2") != NULL,
           "the text lacks a schema: %s", sap_open_error());
    expect_no_secret(sap_open_error());
    /* Nor does init replace it. */
    EXPECT_RC(sap_store_init(tcp_url("postgres", "mine", ""), &options), SAP_INVALID);
    close_store(open_url(tcp_url("postgres", "mine", "")));
}
END_TEST

/* ---- Addresses --------------------------------------------------------------------------------- */

START_TEST(an_address_that_is_none_is_invalid)
{
    static const char *const params[] = {"pool=0",
                                         "pool=x",
                                         "pool=-1",
                                         "pool=99999999999",
                                         "pool=",
                                         "lock_timeout_ms=x",
                                         "statement_timeout_ms=-5",
                                         "no_such_parameter=1",
                                         "sslmode=bad",
                                         "connect_timeout=soon"};
    static const char *const schemas[] = {"", "pg_catalog", "a%00b",
                                          "s2345678901234567890123456789012345678901234567890"};
    if (!is_there) {
        return;
    }
    for (size_t i = 0; i < sizeof params / sizeof params[0]; i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(params[i], "="), params[i]);
        expect_refused(tcp_url("locked:" SECRET, "good", params[i]), SAP_INVALID, name, name);
    }
    for (size_t i = 0; i < sizeof schemas / sizeof schemas[0]; i++) {
        expect_refused_by(true, tcp_url("locked:" SECRET, schemas[i], ""), SAP_INVALID,
                          "schema|%00", "schema|%00");
    }
    expect_refused("postgres://locked:" SECRET "@127.0.0.1:bad/postgres", SAP_INVALID, "port|bad",
                   "port|bad");
    expect_refused("postgres://locked:" SECRET "@[::1/postgres", SAP_INVALID, "url", "postgres://");
    expect_refused("postgres://locked:%zz" SECRET "@127.0.0.1/postgres", SAP_INVALID, "url",
                   "postgres://");
}
END_TEST

/* What a schema is called is data: it is quoted, or refused. */
/* Nothing is connected to: what libpq would take for a host is part of the password. */
START_TEST(a_password_that_was_not_encoded_is_not_shown)
{
    static const char *const urls[] = {
        "postgres://me:Se@CrEt@127.0.0.1:1/db",
        "postgres://me:Se/CrEt@127.0.0.1:1/db",
        "postgres://me:Se?CrEt@127.0.0.1:1/db",
        "postgres//me:CrEt@127.0.0.1:1/db",
        "me:CrEt@127.0.0.1:1/db",
        "host=127.0.0.1 password=CrEt",
        "sapling:postgres://me:CrEt@h/db",
        "postgres://me@127.0.0.1:1/db?password=CrEt&x=CrEt",
    };
    uint32_t table = TABLE;
    SapStoreOptions options = {.size = sizeof options, .tables = &table, .table_count = 1};
    for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++) {
        SapStore *store = NULL;
        EXPECT_RC(sap_store_open(urls[i], &options, &store), SAP_INVALID);
        EXPECT(strstr(sap_open_error(), "CrEt") == NULL, "%s", sap_open_error());
        EXPECT(sap_open_error()[0] != 0, "no text for %s", urls[i]);
    }
}
END_TEST

START_TEST(the_name_of_a_schema_is_never_sql)
{
    static const char *const names[] = {"a%22%3B%20DROP%20SCHEMA%20good%20CASCADE%3B--",
                                        "with%20space", "Upper", "quo%27te", "select"};
    char before[DIGEST_MAX];
    char after[DIGEST_MAX];
    if (!is_there) {
        return;
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        SapStoreOptions options = plain_options();
        take_digest(before);
        int rc = sap_store_init(tcp_url("postgres", names[i], ""), &options);
        EXPECT(rc == SAP_OK || rc == SAP_INVALID, "%s: %s", code_name(rc), sap_open_error());
        take_digest(after);
        EXPECT((rc == SAP_OK) == (strcmp(before, after) != 0), "%s, and the server %s",
               code_name(rc), "does not show it");
        if (rc == SAP_OK) {
            close_store(open_url(tcp_url("postgres", names[i], "")));
        }
        close_store(open_url(tcp_url("postgres", "good", "")));
    }
}
END_TEST

/* ---- Out of connections ------------------------------------------------------------------------ */

START_TEST(a_user_who_has_no_connection_left_is_busy)
{
    if (!is_there) {
        return;
    }
    expect_refused(tcp_url("limited:" SECRET, "good", ""), SAP_BUSY, "connection",
                   "max_connections|pool|CONNECTION LIMIT|later");
}
END_TEST

/* Takes every connection that a user who is no superuser can have. Returns how many. */
static int take_connections(PGconn **taken, int most)
{
    char info[PG_SERVER_URL_MAX];
    int count = 0;
    (void)snprintf(info, sizeof info, "host=%s port=%u user=plain dbname=postgres", server.dir,
                   server.port);
    while (count < most) {
        taken[count] = PQconnectdb(info);
        if (PQstatus(taken[count]) != CONNECTION_OK) {
            PQfinish(taken[count]);
            break;
        }
        count++;
    }
    return count;
}

static void release_connections(PGconn **taken, int count)
{
    for (int i = 0; i < count; i++) {
        PQfinish(taken[i]);
    }
}

/* Begins transactions until one is refused; returns how many there were. */
static int begin_most(SapStore *store, SapStoreTxn **txns, int most, int *rc_out)
{
    int count = 0;
    *rc_out = SAP_OK;
    while (count < most && *rc_out == SAP_OK) {
        *rc_out = sap_store_begin(store, SAP_STORE_GUARDED, &txns[count]);
        count += *rc_out == SAP_OK;
    }
    return count;
}

/* A server takes a moment to see that a client has gone. `kept` of them are still in use. */
static void await_free_connections(int kept)
{
    while (pg_server_count(
               &server, "SELECT count(*) FROM pg_stat_activity WHERE usename = 'plain'") > kept) {
    }
}

START_TEST(a_server_without_free_connections_is_busy_and_the_store_goes_on_later)
{
    PgServerOptions settings = {.max_connections = FEW_CONNECTIONS};
    PGconn *taken[FEW_CONNECTIONS];
    SapStoreTxn *txns[FEW_CONNECTIONS];
    PgServer own = {0};
    int rc = SAP_OK;
    if (!pg_server_start(&own, &settings)) {
        return;
    }
    server = own;
    pg_server_sql(&server, "CREATE ROLE plain LOGIN; GRANT CREATE ON DATABASE postgres TO plain");
    init_url(tcp_url("plain", "few", ""));
    int count = take_connections(taken, FEW_CONNECTIONS);
    EXPECT(count > 0, "none was free");
    expect_refused(tcp_url("plain", "few", ""), SAP_BUSY, "connection",
                   "max_connections|pool|later");
    release_connections(taken, count);
    await_free_connections(0);
    SapStore *store = open_url(tcp_url("plain", "few", ""));
    count = take_connections(taken, FEW_CONNECTIONS);
    int begun = begin_most(store, txns, FEW_CONNECTIONS, &rc);
    EXPECT(rc == SAP_BUSY, "%s when there was no connection for transaction %d", code_name(rc),
           begun + 1);
    release_connections(taken, count);
    for (int i = 0; i < begun; i++) {
        sap_store_abort(txns[i]);
    }
    await_free_connections(FEW_CONNECTIONS / 2);
    EXPECT_RC(sap_store_begin(store, SAP_STORE_GUARDED, &txns[0]), SAP_OK);
    EXPECT_RC(sap_store_put(txns[0], TABLE, "k", 1, "1", 1), SAP_OK);
    EXPECT_RC(sap_store_commit(txns[0], NULL), SAP_OK);
    printf("store_postgres_open: of %d connections the store got %d, then SAP_BUSY\n",
           FEW_CONNECTIONS, begun);
    close_store(store);
    pg_server_end(&server);
}
END_TEST

START_TEST(a_pool_that_is_used_up_is_busy)
{
    SapStoreTxn *txns[8];
    int rc = SAP_OK;
    if (!is_there) {
        return;
    }
    SapStore *store = open_url(tcp_url("postgres", "good", "pool=3&lock_timeout_ms=200"));
    int begun = begin_most(store, txns, 8, &rc);
    EXPECT(rc == SAP_BUSY && begun > 0 && begun <= 3, "%s after %d transactions", code_name(rc),
           begun);
    for (int i = 0; i < begun; i++) {
        sap_store_abort(txns[i]);
    }
    EXPECT_RC(sap_store_begin(store, SAP_STORE_READ_NEWEST, &txns[0]), SAP_OK);
    sap_store_abort(txns[0]);
    close_store(store);
}
END_TEST

/* ---- A full disk ------------------------------------------------------------------------------- */

/* Bytes that do not compress. */
static int put_large(SapStore *store, uint32_t number)
{
    static uint8_t value[LARGE];
    Rng rng;
    SapStoreTxn *txn = NULL;
    bool unknown = true;
    rng_seed(&rng, number + 1);
    for (size_t i = 0; i < sizeof value; i++) {
        value[i] = (uint8_t)rng_below(&rng, 256);
    }
    EXPECT_RC(sap_store_begin(store, SAP_STORE_GUARDED, &txn), SAP_OK);
    int rc = sap_store_put(txn, TABLE, &number, sizeof number, value, sizeof value);
    EXPECT(rc == SAP_OK || rc == SAP_FULL, "put returned %s", code_name(rc));
    int committed = sap_store_commit(txn, &unknown);
    EXPECT(!unknown, "a full disk is a definite abort");
    EXPECT(rc == SAP_OK || committed == rc, "commit returned %s", code_name(committed));
    return committed;
}

static bool has_large(SapStore *store, uint32_t number)
{
    SapStoreTxn *txn = NULL;
    const void *val = NULL;
    uint32_t len = 0;
    EXPECT_RC(sap_store_begin(store, SAP_STORE_READ_NEWEST, &txn), SAP_OK);
    int rc = sap_store_get(txn, TABLE, &number, sizeof number, &val, &len);
    sap_store_abort(txn);
    EXPECT(rc == SAP_OK || rc == SAP_NOTFOUND, "get returned %s", code_name(rc));
    return rc == SAP_OK;
}

/* The tables are on a small disk of their own; a log that cannot grow stops a whole server. */
START_TEST(a_full_disk_is_a_definite_abort)
{
    LoopDisk disk;
    PgServerOptions settings = {.place = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"};
    char space[128];
    uint32_t number = 0;
    PgServer own = {0};
    if (!pg_server_is_installed() || !loop_disk_start(&disk, LOOP_EXT4)) {
        return;
    }
    EXPECT(pg_server_start(&own, &settings), "no server");
    server = own;
    (void)snprintf(space, sizeof space, "%s/space", disk.mount);
    loop_disk_run("chmod 755 %s && mkdir %s && if [ $(id -u) = 0 ]; then chown postgres %s; fi",
                  disk.mount, space, space);
    loop_disk_run("fallocate -l 5M %s/reserve", disk.mount);
    pg_server_sql(&server, "CREATE TABLESPACE small LOCATION '%s'", space);
    const char *more = "options=-cdefault_tablespace%3Dsmall";
    init_url(tcp_url("postgres", "full", more));
    SapStore *store = open_url(tcp_url("postgres", "full", more));
    int rc = SAP_OK;
    while (rc == SAP_OK && number < MOST_ROWS) {
        rc = put_large(store, ++number);
    }
    EXPECT(rc == SAP_FULL, "%s at row %u", code_name(rc), number);
    EXPECT(!has_large(store, number) && has_large(store, number - 1), "what was refused is there");
    loop_disk_run("rm %s/reserve", disk.mount);
    EXPECT_RC(put_large(store, number), SAP_OK);
    EXPECT(has_large(store, number), "what was acknowledged is not there");
    printf("store_postgres_open: full after %u rows of %d bytes\n", number - 1, LARGE);
    close_store(store);
    pg_server_end(&server);
    loop_disk_end(&disk);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("store_postgres_open");
    TCase *shared = tcase_create("one server");
    TCase *own = tcase_create("servers of their own");
    tcase_set_timeout(shared, TIMEOUT_S);
    tcase_set_timeout(own, TIMEOUT_S);
    tcase_add_unchecked_fixture(shared, start_server, end_server);
    tcase_add_test(shared, a_store_that_was_made_can_be_opened_and_init_changes_nothing_then);
    tcase_add_test(shared, a_server_that_is_not_there_is_an_io_error);
    tcase_add_test(shared, a_server_that_does_not_answer_is_an_io_error_after_the_connect_timeout);
    tcase_add_test(shared, a_user_who_may_not_connect_is_invalid);
    tcase_add_test(shared, a_user_without_rights_is_invalid);
    tcase_add_test(shared, a_server_that_is_too_old_is_invalid);
    tcase_add_test(shared, a_server_that_acknowledges_before_the_disk_is_invalid);
    tcase_add_test(shared, a_read_only_server_is_readonly);
    tcase_add_test(shared, a_store_that_was_never_made_is_not_found);
    tcase_add_test(shared, a_store_that_lacks_a_table_is_not_found_and_init_makes_that_one);
    tcase_add_test(shared, tables_of_another_layout_are_invalid);
    tcase_add_test(shared, a_marker_that_does_not_fit_is_refused);
    tcase_add_test(shared, an_address_that_is_none_is_invalid);
    tcase_add_test(shared, a_password_that_was_not_encoded_is_not_shown);
    tcase_add_test(shared, the_name_of_a_schema_is_never_sql);
    tcase_add_test(shared, a_user_who_has_no_connection_left_is_busy);
    tcase_add_test(shared, a_pool_that_is_used_up_is_busy);
    tcase_add_test(own, a_standby_is_readonly);
    tcase_add_test(own, a_server_without_free_connections_is_busy_and_the_store_goes_on_later);
    tcase_add_test(own, a_full_disk_is_a_definite_abort);
    suite_add_tcase(suite, shared);
    suite_add_tcase(suite, own);
    (void)pg_server_is_installed(); /* once for all tests */
    return suite_run(suite);
}
