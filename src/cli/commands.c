/* commands.c - the second part of the table of commands: see command.h.
 *
 * Every example is run by a test, in order of the table, in one directory. */
#include "cli/command.h"
#include "cli/db.h"
#include "cli/help.h"
#include "cli/queue.h"
#include "cli/simulate.h"
#include "cli/store.h"

enum { MANY = 1 << 20 };

#define NO_MORE                                       \
    {                                                 \
        OPTION_NONE, 0, NULL, NULL, NULL, false, NULL \
    }
#define TABLE_OPTION                                                                        \
    {                                                                                       \
        OPTION_TABLE, 't', "table", "N", NULL, true, "the table, 0 to 1023; 0 if not given" \
    }
#define HEX_OPTION                                                                        \
    {                                                                                     \
        OPTION_HEX, 0, "hex", NULL, NULL, false, "keys and values are hexadecimal digits" \
    }
#define YES_OPTION                                                                        \
    {                                                                                     \
        OPTION_YES, 'y', "yes", NULL, NULL, true, "do not ask; needed without a terminal" \
    }
#define FORCE_OPTION                                                                \
    {                                                                               \
        OPTION_FORCE, 'f', "force", NULL, NULL, true, "replace a file of that name" \
    }
#define FORCE_RUNNER_OPTION                                                                        \
    {                                                                                              \
        OPTION_FORCE, 'f', "force", NULL, NULL, false, "change also the tables that queues are in" \
    }
#define DUPSORT_OPTION                                           \
    {                                                            \
        OPTION_DUPSORT, 0, "dupsort", NULL, NULL, false,         \
            "a table that is made now holds many values per key" \
    }
#define PAGE_SIZE_OPTION                                                           \
    {                                                                              \
        OPTION_PAGE_SIZE, 0, "page-size", "BYTES", "4096|8192|16384|32768", false, \
            "of a file that is made now: 4096 (the default) to 32768"              \
    }

const Option global_options[] = {
    {OPTION_JSON, 0, "json", NULL, NULL, false, "results and errors as JSON, one object a line"},
    {OPTION_QUIET, 'q', "quiet", NULL, NULL, false, "no notes and no progress on standard error"},
    {OPTION_COLOR, 0, "color", "WHEN", "auto|always|never", false,
     "colour: auto (at a terminal, unless NO_COLOR is set), always or never"},
    {OPTION_HELP, 'h', "help", NULL, NULL, false, "this text"},
    NO_MORE,
};

static const Option stat_options[] = {NO_MORE};
static const Option get_options[] = {TABLE_OPTION, HEX_OPTION, NO_MORE};
static const Option scan_options[] = {
    TABLE_OPTION,
    {OPTION_PREFIX, 'p', "prefix", "P", NULL, true, "only keys that begin with P"},
    {OPTION_FROM, 0, "from", "KEY", NULL, true, "from this key on"},
    {OPTION_TO, 0, "to", "KEY", NULL, true, "up to this key, which is not shown"},
    {OPTION_LIMIT, 'n', "limit", "N", NULL, true, "at most N rows"},
    {OPTION_FORMAT, 0, "format", "F", "text|hex|csv|json", true,
     "text (the default), hex, csv or json"},
    {OPTION_SCHEMA, 0, "schema", "[=FILE]", NULL, true,
     "rows taken apart by the schema of the runtime, or of a FILE.wit"},
    {OPTION_REVERSE, 'r', "reverse", NULL, NULL, false, "from the last row to the first"},
    {OPTION_KEYS, 'k', "keys", NULL, NULL, false, "keys without values"},
    {OPTION_COUNT_ONLY, 'c', "count", NULL, NULL, false,
     "only how many rows there are, without visiting them"},
    {OPTION_HEX, 0, "hex", NULL, NULL, false,
     "bounds are hexadecimal digits, and so is the output"},
    NO_MORE,
};
static const Option put_options[] = {
    TABLE_OPTION,
    {OPTION_NEW, 0, "new", NULL, NULL, true, "fail with exit code 4 if the key is there"},
    DUPSORT_OPTION,
    HEX_OPTION,
    FORCE_RUNNER_OPTION,
    PAGE_SIZE_OPTION,
    NO_MORE,
};
static const Option del_options[] = {
    TABLE_OPTION,
    {OPTION_PREFIX, 'p', "prefix", "P", NULL, true, "all keys that begin with P"},
    {OPTION_RANGE, 0, "range", NULL, NULL, true,
     "all keys from FROM on and below TO, which follow FILE"},
    YES_OPTION,
    {OPTION_DRY_RUN, 0, "dry-run", NULL, NULL, false, "say how many, delete none"},
    HEX_OPTION,
    FORCE_RUNNER_OPTION,
    NO_MORE,
};
static const Option load_options[] = {
    TABLE_OPTION,
    {OPTION_FORMAT, 0, "format", "F", "text|hex|csv|dump", true,
     "text, hex, csv or dump; csv if INPUT ends in .csv, else text"},
    {OPTION_HEADER, 0, "header", NULL, NULL, true, "csv: the first line has the names of columns"},
    {OPTION_KEY, 0, "key", "COLUMN", NULL, true,
     "csv: name or number of the key's column; again: further parts of it"},
    {OPTION_VALUE, 0, "value", "COLUMN", NULL, true,
     "csv: the value's column; otherwise all that are no key"},
    {OPTION_SKIP_BAD, 0, "skip-bad", NULL, NULL, true, "name and count bad lines, and go on"},
    {OPTION_NEW, 0, "new", NULL, NULL, false, "a key that is there is a bad line, not replaced"},
    {OPTION_FROM_LINE, 0, "from-line", "N", NULL, false, "leave out rows before line N"},
    {OPTION_BATCH, 0, "batch", "N", NULL, false, "rows of one commit; 10000 if not given"},
    {OPTION_JOIN, 0, "join", "TEXT", NULL, false,
     "csv: what stands between the parts of a key; ':' if not given"},
    {OPTION_DELIMITER, 0, "delimiter", "C", NULL, false,
     "csv: what stands between columns; a comma if not given"},
    DUPSORT_OPTION,
    FORCE_RUNNER_OPTION,
    PAGE_SIZE_OPTION,
    NO_MORE,
};
static const Option dump_options[] = {
    {OPTION_FORMAT, 0, "format", "F", "dump|stream|text|hex|csv", true,
     "dump (the default), stream: all tables; text, hex, csv: one table"},
    TABLE_OPTION,
    FORCE_OPTION,
    NO_MORE,
};
static const Option verify_options[] = {NO_MORE};
static const Option target_options[] = {FORCE_OPTION, NO_MORE};
static const Option restore_options[] = {
    {OPTION_FORCE, 'f', "force", NULL, NULL, true,
     "replace the database FILE: asks, or needs --yes"},
    YES_OPTION,
    {OPTION_PAGE_SIZE, 0, "page-size", "BYTES", "4096|8192|16384|32768", false,
     "of a database made of a stream: 4096 (the default) to 32768"},
    NO_MORE,
};
static const Option migrate_options[] = {
    {OPTION_TO, 0, "to", "VERSION", NULL, true,
     "the version to end at, as in 0.2; that of this program if not given"},
    {OPTION_DRY_RUN, 0, "dry-run", NULL, NULL, true,
     "say what each migration would do, change nothing"},
    YES_OPTION,
    NO_MORE,
};
static const Option recover_options[] = {
    {OPTION_YES, 'y', "yes", NULL, NULL, true, "do not ask, whatever is lost"},
    NO_MORE,
};
#define QUEUE_OPTION                                                                      \
    {                                                                                     \
        OPTION_QUEUE, 'Q', "queue", "NAME", NULL, true, "the queue; default if not given" \
    }
#define ANY_QUEUE_OPTION                                                     \
    {                                                                        \
        OPTION_QUEUE, 'Q', "queue", "NAME", NULL, true, "only of this queue" \
    }
#define ALL_OPTION                                                                   \
    {                                                                                \
        OPTION_ALL, 'a', "all", NULL, NULL, true, "all of the file, or of the queue" \
    }

static const Option push_options[] = {
    QUEUE_OPTION,
    {OPTION_RAW, 0, "raw", NULL, NULL, true, "all of standard input is one message"},
    {OPTION_DELAY, 0, "delay", "TIME", NULL, true, "not before this time is over: 500ms, 5s, 2h"},
    {OPTION_PRIORITY, 0, "priority", "P", "normal|high", true, "high: before all that are not"},
    {OPTION_ID, 0, "id", "ID", NULL, false, "the id of the message; one is made if not given"},
    {OPTION_DEDUPE, 0, "dedupe", NULL, NULL, false,
     "not if the queue handled one of this id within a day"},
    {OPTION_TRACE, 0, "trace", "ID", NULL, false, "a trace id that goes with the message"},
    NO_MORE,
};
static const Option pop_options[] = {
    QUEUE_OPTION,
    {OPTION_EXEC, 'x', "exec", "CMD", NULL, true,
     "run CMD by /bin/sh for each message, its standard input"},
    {OPTION_COUNT, 'n', "count", "N", NULL, true, "up to N messages; 1 if not given"},
    {OPTION_WAIT, 'w', "wait", "TIME", NULL, true, "wait so long for a message: 500ms, 10s, 5m"},
    {OPTION_FOLLOW, 'f', "follow", NULL, NULL, true,
     "go on for ever, or until none comes in --wait"},
    {OPTION_RAW, 0, "raw", NULL, NULL, false, "no line end behind each message"},
    {OPTION_LEASE, 0, "lease", "TIME", NULL, false,
     "--exec: how long others leave it alone if this command dies; 30s"},
    {OPTION_RETRY_DELAY, 0, "retry-delay", "TIME", NULL, false,
     "--exec: a message whose CMD failed comes back after this, always"},
    {OPTION_MAX_ATTEMPTS, 0, "max-attempts", "N", NULL, false,
     "--exec: after N that failed it is a dead letter; 10 if not given"},
    NO_MORE,
};
static const Option peek_options[] = {
    QUEUE_OPTION,
    {OPTION_LIMIT, 'n', "limit", "N", NULL, true, "at most N messages; 10 if not given"},
    NO_MORE,
};
static const Option queue_stat_options[] = {ANY_QUEUE_OPTION, NO_MORE};
static const Option dlq_list_options[] = {
    ANY_QUEUE_OPTION,
    {OPTION_LIMIT, 'n', "limit", "N", NULL, true, "at most N dead letters"},
    NO_MORE,
};
static const Option dlq_show_options[] = {NO_MORE};
static const Option dlq_replay_options[] = {
    ALL_OPTION,
    ANY_QUEUE_OPTION,
    {OPTION_DRY_RUN, 0, "dry-run", NULL, NULL, true, "say which, replay none"},
    NO_MORE,
};
static const Option dlq_drop_options[] = {
    ALL_OPTION, ANY_QUEUE_OPTION,
    YES_OPTION, {OPTION_DRY_RUN, 0, "dry-run", NULL, NULL, true, "say which, drop none"},
    NO_MORE,
};
static const Option replay_log_options[] = {
    {OPTION_MESSAGE, 'm', "message", "ID", NULL, true, "only what is about this message"},
    NO_MORE,
};
static const Option store_init_options[] = {
    {OPTION_TABLES, 't', "tables", "LIST", NULL, true,
     "tables of programs, 16 to 1023: numbers and ranges, as in 16-20,64"},
    {OPTION_SCHEMA, 's', "schema", "NAME", NULL, true,
     "write the marker: the program's name for what the tables hold"},
    {OPTION_UNIVERSE, 'u', "universe", NULL, NULL, true,
     "the tables and the schema of worlds, as sap_universe_init() makes them"},
    NO_MORE,
};
static const Option store_check_options[] = {NO_MORE};
static const Option simulate_options[] = {
    {OPTION_SEED, 's', "seed", "N", NULL, true, "the run of this number; 1 if not given"},
    {OPTION_SEEDS, 0, "seeds", "A..B", NULL, true, "all runs from A to B"},
    {OPTION_STEPS, 'n', "steps", "M", NULL, true,
     "steps of each run before all settles; 200 if not given"},
    {OPTION_TRACE, 0, "trace", NULL, NULL, false, "print every step, call and fault"},
    NO_MORE,
};
static const Option help_options[] = {
    {OPTION_MAN, 0, "man", NULL, NULL, false, "the man page"},
    NO_MORE,
};
static const Option completion_options[] = {NO_MORE};

const Command file_commands[] = {
    {"db",
     "put",
     "Change rows",
     "put a row, and make the file if there is none",
     "FILE KEY VALUE|-",
     3,
     3,
     put_options,
     {"sapling db put shop.db apple 3",
      "printf 'a pear' | sapling db put shop.db --table 8 pear -"},
     "  VALUE - is all of standard input, as it is. In arguments \\t \\n \\r \\\\ and \\xHH stand for\n"
     "  bytes. The row is on disk when the command ends. Tables 0 to 7 of a file with queues are\n"
     "  theirs: exit code 4 without --force.\n",
     {EXIT_CONFLICT, EXIT_CORRUPT},
     db_put_verb},
    {"db",
     "load",
     "Change rows",
     "put many rows from a file",
     "FILE [INPUT]",
     1,
     2,
     load_options,
     {"printf 'plum\\t7\\nquince\\t2\\n' | sapling db load shop.db",
      "printf 'id,name,city\\n7,Ann,Rome\\n8,Bob,Oslo\\n' > people.csv",
      "sapling db load people.db people.csv --header --key id"},
     "  A bad line is named INPUT:LINE. Without --skip-bad the load ends there; the rows before it\n"
     "  are in. So are all whole batches if it is interrupted, and it says where to go on with\n"
     "  --from-line. Meanwhile others can use the file through FILE.sock.\n"
     "  csv: RFC 4180. Key: column 1, unless --key; its parts are joined by --join, which no part\n"
     "  may contain. Value: the one other column as it is, or several as CSV again.\n",
     {EXIT_NOT_FOUND, EXIT_CONFLICT, EXIT_CORRUPT, EXIT_INTERRUPTED},
     db_load_verb},
    {"db",
     "del",
     "Change rows",
     "delete a row, or many",
     "FILE [KEY [VALUE]] | FILE FROM TO",
     1,
     3,
     del_options,
     {"sapling db del shop.db quince", "sapling db del shop.db --prefix old/ --yes",
      "sapling db del shop.db --range x z --dry-run"},
     "  With VALUE only that value of the key, in a table with many values per key.\n"
     "  --range and --prefix delete many: they ask, or need --yes.\n",
     {EXIT_NOT_FOUND, EXIT_CONFLICT, EXIT_CORRUPT},
     db_del_verb},
    {"db",
     "get",
     "Look",
     "show the value of a key",
     "FILE KEY",
     2,
     2,
     get_options,
     {"sapling db get shop.db apple", "sapling db get shop.db 706c756d --hex"},
     "  The value goes to standard output byte by byte; at a terminal a line end follows. With many\n"
     "  values per key it is the first; scan shows all.\n",
     {EXIT_NOT_FOUND, EXIT_CONFLICT, EXIT_CORRUPT},
     db_get_verb},
    {"db",
     "scan",
     "Look",
     "show rows in the order of their keys",
     "FILE [TABLE]",
     1,
     2,
     scan_options,
     {"sapling db scan shop.db --prefix p",
      "sapling db scan shop.db --from b --limit 10 --format csv", "sapling db scan shop.db --count",
      "sapling db scan shop.db app_state --schema"},
     "  A line is KEY TAB VALUE. Bytes that do not print are \\t \\n \\r \\\\ or \\xHH, so that load\n"
     "  reads the same rows again. json: a key or value that is not UTF-8 is key_hex, value_hex.\n"
     "  --schema: a line is a JSON object with the fields of key and value; TABLE may be a name, and\n"
     "  without it all tables of the schema are shown. A row that does not decode has its bytes and\n"
     "  the reason, and the exit code is 6.\n",
     {EXIT_NOT_FOUND, EXIT_CONFLICT, EXIT_CORRUPT},
     db_scan_verb},
    {"db",
     "stat",
     "Look",
     "show what a file holds, and its size",
     "FILE",
     1,
     1,
     stat_options,
     {"sapling db stat shop.db", "sapling db stat shop.db --json"},
     NULL,
     {EXIT_NOT_FOUND, EXIT_CONFLICT, EXIT_CORRUPT},
     db_stat_verb},
    {"db",
     "backup",
     "Keep it safe",
     "copy a database while it is in use",
     "FILE TARGET|-",
     2,
     2,
     target_options,
     {"sapling db backup shop.db shop.backup",
      "sapling db backup shop.db - | gzip > shop.backup.gz"},
     "  TARGET is a database itself, of one moment; it appears when it is complete and on disk.\n",
     {EXIT_NOT_FOUND, EXIT_CONFLICT, EXIT_CORRUPT, EXIT_INTERRUPTED},
     db_backup_verb},
    {"db",
     "restore",
     "Keep it safe",
     "make a database of a backup",
     "BACKUP|- FILE",
     2,
     2,
     restore_options,
     {"sapling db restore shop.backup again.db",
      "gunzip < shop.backup.gz | sapling db restore - again.db --force --yes"},
     "  BACKUP is what backup wrote, or dump --format stream. All of it is checked before anything\n"
     "  stands under the name FILE. --force replaces a database, which nobody may have open.\n",
     {EXIT_NOT_FOUND, EXIT_CONFLICT, EXIT_CORRUPT, EXIT_INTERRUPTED},
     db_restore_verb},
    {"db",
     "verify",
     "Keep it safe",
     "check every page and row of a file",
     "FILE",
     1,
     1,
     verify_options,
     {"sapling db verify shop.db", "sapling db verify shop.db --json"},
     "  Each finding is a line on standard output, and the exit code is 6 then.\n",
     {EXIT_NOT_FOUND, EXIT_CONFLICT, EXIT_CORRUPT},
     db_verify_verb},
    {"db",
     "recover",
     "Keep it safe",
     "save what can still be read of a damaged file",
     "FILE [TARGET]",
     1,
     2,
     recover_options,
     {"sapling db recover shop.db", "sapling db recover shop.db saved.db --yes"},
     "  Without TARGET it only says what would be lost, with exit code 6 if anything is. With it, that\n"
     "  is shown first, and it asks. FILE, which nobody may have open, is not changed.\n",
     {EXIT_NOT_FOUND, EXIT_CONFLICT, EXIT_CORRUPT, EXIT_INTERRUPTED},
     db_recover_verb},
    {"db",
     "migrate",
     "Keep it safe",
     "bring the runtime's rows to another version of their schema",
     "FILE",
     1,
     1,
     migrate_options,
     {"sapling db put queue.db --hex 72756e6e65722e736368656d612e76657273696f6e 5253563000000100",
      "sapling db migrate queue.db --dry-run", "sapling db migrate queue.db --yes"},
     "  Goes by the schema marker that the runner keeps in table 0 (the first example puts one). All\n"
     "  migrations on the way are one commit: a crash or a failure leaves FILE as it was. It asks, or\n"
     "  needs --yes. Exit code 3: there is no marker; 4: no migrations lead from it to VERSION, or FILE\n"
     "  is in use.\n",
     {EXIT_NOT_FOUND, EXIT_CONFLICT, EXIT_CORRUPT},
     db_migrate_verb},
    {"db",
     "dump",
     "Move it",
     "write rows as text, or all as one stream",
     "FILE [OUTPUT]",
     1,
     2,
     dump_options,
     {"sapling db dump shop.db shop.dump", "sapling db dump shop.db --format csv",
      "sapling db dump shop.db --format stream > shop.stream"},
     "  dump and stream are of one moment and hold all tables: load --format dump and restore read\n"
     "  them. The same rows give the same stream, byte by byte.\n",
     {EXIT_NOT_FOUND, EXIT_CONFLICT, EXIT_CORRUPT, EXIT_INTERRUPTED},
     db_dump_verb},
    {"db",
     "compact",
     "Move it",
     "copy a database without its free space",
     "FILE TARGET",
     2,
     2,
     target_options,
     {"sapling db compact shop.db small.db", "sapling db compact shop.db small.db --force"},
     "  There is no compaction in place: check TARGET, stop what uses FILE, and rename it over.\n",
     {EXIT_NOT_FOUND, EXIT_CONFLICT, EXIT_CORRUPT, EXIT_INTERRUPTED},
     db_compact_verb},
    {"queue",
     "push",
     "Queues",
     "put messages into a queue, and make it if there is none",
     "FILE MESSAGE... | FILE - | FILE --raw",
     1,
     MANY,
     push_options,
     {"sapling queue push work.db 'first job' 'second job'",
      "seq 3 | sapling queue push work.db --queue numbers -",
      "printf 'two\\nlines' | sapling queue push work.db --raw --delay 1h"},
     "  Prints the number of each message once it is on disk. - is one message for each line of\n"
     "  standard input. All arguments are one commit, and so are the lines that come together.\n"
     "  A delayed message has the number of its timer, and gets another one when it comes.\n"
     "  Interrupted while it reads lines, it ends after those that it has read; a line that has\n"
     "  not ended is not pushed.\n",
     {EXIT_CONFLICT, EXIT_CORRUPT, EXIT_INTERRUPTED},
     queue_push_verb},
    {"queue",
     "peek",
     "Queues",
     "show the first messages of a queue and leave them there",
     "FILE",
     1,
     1,
     peek_options,
     {"sapling queue peek work.db", "sapling queue peek work.db --queue numbers --limit 2 --json"},
     "  A number with ! is of high priority. ATTEMPTS counts those that have failed, and one that is\n"
     "  under way.\n",
     {EXIT_NOT_FOUND, EXIT_CONFLICT, EXIT_CORRUPT},
     queue_peek_verb},
    {"queue",
     "pop",
     "Queues",
     "take messages out of a queue, or run a command for each",
     "FILE",
     1,
     1,
     pop_options,
     {"sapling queue pop work.db", "sapling queue pop work.db --wait 10s --exec 'cat > job.txt'",
      "sapling queue pop work.db --queue numbers --count 3"},
     "  A message is gone from the queue when it has been printed, or when CMD has ended with exit\n"
     "  code 0. Otherwise it comes back, at the tail: after 100 ms at first, then after twice as long\n"
     "  each time, up to a minute, a little less at random; or after --retry-delay (0: at once). After\n"
     "  --max-attempts it is a dead letter. A command that died with its lease counts, without a wait.\n"
     "  CMD finds SAPLING_QUEUE, SAPLING_SEQ, SAPLING_MESSAGE_ID, SAPLING_ATTEMPT and, if there is\n"
     "  one, SAPLING_TRACE_ID in its environment. While it runs the lease is renewed, and others can\n"
     "  use the file. An interruption is passed on to it, and the message is put back in its place.\n"
     "  --wait is for each message; 124 if none came at all. With --json CMD prints to standard error.\n",
     {EXIT_NOT_FOUND, EXIT_CONFLICT, EXIT_CORRUPT, EXIT_TIMED_OUT, EXIT_INTERRUPTED},
     queue_pop_verb},
    {"queue",
     "stat",
     "Queues",
     "show how much each queue of a file holds",
     "FILE",
     1,
     1,
     queue_stat_options,
     {"sapling queue stat work.db", "sapling queue stat work.db --json"},
     "  OLDEST is how long the first message that nobody has claimed has been waiting. RETRY are those\n"
     "  of DELAYED that failed and wait for their next attempt.\n",
     {EXIT_NOT_FOUND, EXIT_CONFLICT, EXIT_CORRUPT},
     queue_stat_verb},
    {"queue",
     "dlq list",
     "Messages given up",
     "show the messages that failed too often",
     "FILE",
     1,
     1,
     dlq_list_options,
     {"sapling queue push bad.db oops && ! sapling queue pop bad.db --max-attempts 1 --exec 'exit 1'",
      "sapling queue dlq list bad.db", "sapling queue dlq list bad.db --json"},
     NULL,
     {EXIT_NOT_FOUND, EXIT_CONFLICT, EXIT_CORRUPT},
     queue_dlq_list_verb},
    {"queue",
     "dlq show",
     "Messages given up",
     "show one of them with all of its payload",
     "FILE SEQ",
     2,
     2,
     dlq_show_options,
     {"sapling queue dlq show bad.db 1", "sapling queue dlq show bad.db 1 --json"},
     NULL,
     {EXIT_NOT_FOUND, EXIT_CONFLICT, EXIT_CORRUPT},
     queue_dlq_show_verb},
    {"queue",
     "dlq replay",
     "Messages given up",
     "put them back into their queues",
     "FILE SEQ... | FILE --all",
     1,
     MANY,
     dlq_replay_options,
     {"sapling queue dlq replay bad.db --all --dry-run", "sapling queue dlq replay bad.db 1"},
     "  Each goes to the tail, with all its attempts before it; its new number is printed.\n",
     {EXIT_NOT_FOUND, EXIT_CONFLICT, EXIT_CORRUPT},
     queue_dlq_replay_verb},
    {"queue",
     "dlq drop",
     "Messages given up",
     "delete them for ever",
     "FILE SEQ... | FILE --all",
     1,
     MANY,
     dlq_drop_options,
     {"sapling queue dlq drop bad.db --all --dry-run", "sapling queue dlq drop bad.db --all --yes"},
     "  It asks, or needs --yes.\n",
     {EXIT_NOT_FOUND, EXIT_CONFLICT, EXIT_CORRUPT},
     queue_dlq_drop_verb},
    {"queue",
     "replay-log",
     "Messages given up",
     "show a log of a runner's replay hook, message by message",
     "LOG|-",
     1,
     1,
     replay_log_options,
     {"touch run.log && sapling queue replay-log run.log",
      "sapling queue replay-log run.log --json"},
     "  A program writes the log with sap_runner_v0_replay_encode() from its replay hook. An id that\n"
     "  does not print is hexadecimal digits. Damage is told with its place, and exit code 6.\n",
     {EXIT_NOT_FOUND, EXIT_CORRUPT},
     queue_replay_log_verb},
    {"store",
     "init",
     "Stores",
     "make a store, or the tables that it lacks",
     "URL",
     1,
     1,
     store_init_options,
     {"sapling store init sapling:orders.db --tables 16-18 --schema orders@1",
      "sapling store init sapling:orders.db --tables 16-20 --schema orders@1 --json",
      "sapling store init sapling:worlds.db --universe"},
     "  URL is sapling:PATH or postgres://USER@HOST:PORT/DATABASE?schema=NAME. Says what was made and\n"
     "  what was there; running it again changes nothing. On a server it makes the PostgreSQL schema\n"
     "  (sapling, unless the URL has another) and the store's own tables too; without --schema the\n"
     "  first program that opens the store writes the marker. sapling:PATH needs tables and schema, or\n"
     "  universe. Keep passwords out of the URL: PGPASSWORD, or ~/.pgpass. Exit code 4: the store holds\n"
     "  another schema, or is in use; 6: it is damaged, or not a store.\n",
     {EXIT_CONFLICT, EXIT_CORRUPT},
     store_init_verb},
    {"store",
     "check",
     "Stores",
     "show a store, and what keeps programs from opening it",
     "URL",
     1,
     1,
     store_check_options,
     {"sapling store check sapling:orders.db", "sapling store check sapling:orders.db --json"},
     "  Changes nothing. Each line has a name and its values; rows and dead_rows of a server are its\n"
     "  estimates. What would keep a program from opening the store is an error on standard error with\n"
     "  what to do, and the exit code is that of the first: 3: no such store, schema or table; 4: no\n"
     "  connection is free, or the file is in use; 6: the store is damaged, of another format, or not a\n"
     "  store; otherwise 1. Of a file it reads marker and tables: sapling db verify checks every page.\n",
     {EXIT_NOT_FOUND, EXIT_CONFLICT, EXIT_CORRUPT},
     store_check_verb},
    {NULL,
     "simulate",
     "Simulation",
     "run workers and worlds in a simulator that tries to break them",
     "",
     0,
     0,
     simulate_options,
     {"sapling simulate --seed 7 --steps 50", "sapling simulate --seeds 1..3 --steps 50 --json"},
     "  Three nodes with workers, senders and operators share a store in memory. At every call of the\n"
     "  store another may run, a node die, a commit lose its answer, a clock jump, or the power fail.\n"
     "  What must hold is checked after every commit and at the end. A seed is the same run each time:\n"
     "  trace shows it. Exit code 1: something did not hold, and the message says what and where.\n",
     {0},
     simulate_verb},
    {NULL,
     "help",
     "This command",
     "show help",
     "[COMMAND [VERB]]",
     0,
     3,
     help_options,
     {"sapling help", "sapling help db scan"},
     NULL,
     {0},
     run_help},
    {NULL,
     "completion",
     "This command",
     "print a completion script",
     "bash|zsh|fish",
     1,
     1,
     completion_options,
     {"sapling completion bash > sapling.bash", "sapling completion fish > sapling.fish"},
     NULL,
     {0},
     run_completion},
    {.name = NULL},
};
