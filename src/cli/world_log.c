/* world_log.c - what a world did, step by step, and its state. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/format.h"
#include "cli/json_write.h"
#include "cli/node_commands.h"
#include "cli/node_common.h"

enum {
    LAST_STEPS = 20,       /* that are shown without --limit */
    PAGE_MOST = 1000,      /* entries of a page */
    FOLLOW_LEAST_MS = 100, /* between two looks at a world that works */
    FOLLOW_MOST_MS = 1000, /* ... at one that does not */
};

/* ---- An entry ---------------------------------------------------------------------------------- */

static void append_time(char text[UI_TEXT], json_int_t time_ms)
{
    time_t seconds = (time_t)(time_ms / 1000);
    struct tm local;

    if (time_ms <= 0 || localtime_r(&seconds, &local) == NULL ||
        strftime(text, UI_TEXT, "%Y-%m-%d %H:%M:%S", &local) == 0) {
        (void)snprintf(text, UI_TEXT, "-");
    }
}

/* Appends " WORD", as it may be shown; nothing for NULL. */
static int append_word(Buf *out, const char *word)
{
    int rc = word != NULL && word[0] != '\0' ? buf_append_u8(out, ' ') : SAP_OK;

    return rc == SAP_OK && word != NULL ? format_shown(out, slice_from_str(word), false) : rc;
}

/* Appends " JSON"; nothing for NULL and null. */
static int append_json(Buf *out, const json_t *value)
{
    Buf text = {0};
    bool any = value != NULL && !json_is_null(value);
    int rc = any ? json_write(&text, value) : SAP_OK;

    if (any && rc == SAP_OK) {
        rc = buf_append_u8(out, ' ');
        rc = rc == SAP_OK ? format_shown(out, (Slice){text.data, text.len}, false) : rc;
    }
    buf_release(&text);
    return rc;
}

/* A key of the state: text, or {"b64": ...}. */
static int append_key(Buf *out, const json_t *key)
{
    return json_is_string(key)
               ? format_text(out, (Slice){json_string_value(key), json_string_length(key)})
               : json_write(out, key);
}

static int append_change(Buf *out, const json_t *change)
{
    const json_t *value = json_object_get(change, "value");
    int rc = buf_append_str(out, value != NULL ? "          put  " : "          del  ");

    rc = rc == SAP_OK ? append_key(out, json_object_get(change, "key")) : rc;
    if (rc == SAP_OK && value != NULL) {
        rc = buf_append_str(out, json_is_null(value) ? " = null" : " =");
    }
    rc = rc == SAP_OK ? append_json(out, value) : rc;
    return rc == SAP_OK ? buf_append_u8(out, '\n') : rc;
}

/* KIND REF PARAMS, or whatever else the intent has but its hash. */
static int append_intent(Buf *out, const json_t *intent)
{
    int rc = buf_append_str(out, "          do  ");
    json_t *rest = json_copy((json_t *)(uintptr_t)intent);

    rc = rc == SAP_OK ? append_word(out, show_text(intent, "kind", "-")) : rc;
    rc = rc == SAP_OK ? append_word(out, show_text(intent, "ref", NULL)) : rc;
    (void)json_object_del(rest, "kind");
    (void)json_object_del(rest, "ref");
    (void)json_object_del(rest, "hash");
    const json_t *params = json_object_get(rest, "params");
    bool alone = params != NULL && json_object_size(rest) == 1;
    rc = rc == SAP_OK && json_object_size(rest) > 0 ? append_json(out, alone ? params : rest) : rc;
    json_decref(rest);
    return rc == SAP_OK ? buf_append_u8(out, '\n') : rc;
}

/* STEP TIME KIND of the event, and what it is about. */
static int append_event(Buf *out, const json_t *entry)
{
    static const char *const words[] = {"name", "ref", "status", "code", "from"};
    const json_t *event = json_object_get(entry, "event");
    char time[UI_TEXT];
    const char *kind = show_text(entry, "kind", "-");
    const char *type = show_text(event, "type", kind);

    append_time(time, json_integer_value(json_object_get(entry, "time_ms")));
    int rc = buf_printf(out, "%8" JSON_INTEGER_FORMAT "  %s ",
                        json_integer_value(json_object_get(entry, "step")), time);
    rc = rc == SAP_OK ? append_word(out, type) : rc;
    if (rc == SAP_OK && strcmp(kind, "item") != 0 && strcmp(kind, type) != 0) {
        rc = append_word(out, kind);
    }
    for (size_t i = 0; i < sizeof words / sizeof words[0] && rc == SAP_OK; i++) {
        const char *word = show_text(event, words[i], "");
        rc = append_word(out, strcmp(word, type) != 0 ? word : NULL);
    }
    rc = rc == SAP_OK ? append_json(out, json_object_get(event, "body")) : rc;
    return rc == SAP_OK ? buf_append_u8(out, '\n') : rc;
}

static int append_entry(Buf *out, const json_t *entry)
{
    const json_t *error = json_object_get(entry, "error");
    int rc = append_event(out, entry);
    json_t *item;
    size_t i;

    json_array_foreach(json_object_get(entry, "changes"), i, item)
    {
        rc = rc == SAP_OK ? append_change(out, item) : rc;
    }
    json_array_foreach(json_object_get(entry, "intents"), i, item)
    {
        rc = rc == SAP_OK ? append_intent(out, item) : rc;
    }
    if (rc == SAP_OK && error != NULL && !json_is_null(error)) {
        rc = buf_append_str(out, "          failed:");
        rc = rc == SAP_OK && json_is_string(error) ? append_word(out, json_string_value(error))
             : rc == SAP_OK                        ? append_json(out, error)
                                                   : rc;
        rc = rc == SAP_OK ? buf_append_u8(out, '\n') : rc;
    }
    return rc;
}

static int print_entry(const Ui *ui, const json_t *entry)
{
    Buf text = {0};

    if (ui->json) {
        return show_line(ui, entry);
    }
    int rc = append_entry(&text, entry);
    bool written = rc == SAP_OK && fwrite(text.data, 1, text.len, stdout) == text.len;
    buf_release(&text);
    return rc != SAP_OK ? ui_no_memory(ui) : written ? EXIT_DONE : ui_finish(ui);
}

/* ---- log --------------------------------------------------------------------------------------- */

typedef struct Log {
    const Call *call;
    NodeClient *client;
    const char *world;
    uint64_t after; /* the step that was shown last */
    uint64_t left;  /* entries that are still wanted */
    uint64_t shown;
} Log;

/* Prints the next page. *more_out: there may be another at once. */
static int print_page(Log *log, bool *more_out)
{
    NodeAnswer answer = {0};
    char number[UI_TEXT];
    json_t *entry;
    size_t i;
    uint64_t most = log->left < PAGE_MOST ? log->left : PAGE_MOST;
    NodeRequest request = {.method = "GET", .world = log->world};

    (void)snprintf(number, sizeof number, "%" PRIu64, log->after);
    request.path = node_query(node_path("/v1/worlds/%s/journal", log->world), "after", number);
    (void)snprintf(number, sizeof number, "%" PRIu64, most);
    request.path = node_query(request.path, "limit", number);
    int code = node_call(log->client, request, &answer);
    const json_t *entries = json_object_get(answer.json, "entries");
    if (code == EXIT_DONE && !json_is_array(entries)) {
        code = node_nonsense(log->client, "its journal has no entries");
    }
    *more_out = json_array_size(entries) == most;
    json_array_foreach(code == EXIT_DONE ? entries : NULL, i, entry)
    {
        json_int_t step = json_integer_value(json_object_get(entry, "step"));
        if (step <= 0 || (uint64_t)step <= log->after || log->left == 0) {
            code = node_nonsense(log->client, "its journal goes back");
            break;
        }
        code = print_entry(log->call->ui, entry);
        if (code != EXIT_DONE) {
            break;
        }
        log->after = (uint64_t)step;
        log->left--;
        log->shown++;
    }
    node_answer_release(&answer);
    return code;
}

/* Where the last `limit` steps begin. */
static int find_start(Log *log, uint64_t limit)
{
    NodeAnswer answer = {0};
    int code = node_call(log->client,
                         (NodeRequest){.method = "GET",
                                       .path = node_path("/v1/worlds/%s", log->world),
                                       .world = log->world},
                         &answer);

    if (code == EXIT_DONE) {
        json_int_t step = json_integer_value(json_object_get(answer.json, "step"));
        log->after = step > 0 && (uint64_t)step > limit ? (uint64_t)step - limit : 0;
    }
    node_answer_release(&answer);
    return code;
}

/* Shows what comes, until somebody interrupts it. */
static int follow_log(Log *log)
{
    uint64_t pause_ms = FOLLOW_LEAST_MS;
    int code = EXIT_DONE;
    bool more = false;

    while (code == EXIT_DONE) {
        uint64_t before = log->shown;
        code = ui_finish(log->call->ui);
        if (code == EXIT_DONE && !more) {
            node_pause(pause_ms);
        }
        log->left = UINT64_MAX;
        code = code == EXIT_DONE ? print_page(log, &more) : code;
        pause_ms = log->shown > before             ? FOLLOW_LEAST_MS
                   : pause_ms * 2 < FOLLOW_MOST_MS ? pause_ms * 2
                                                   : FOLLOW_MOST_MS;
    }
    return code;
}

int world_log_verb(const Call *call)
{
    NodeClient client;
    Log log = {.call = call, .client = &client, .world = call_operand(call, 0)};
    bool after_given = call_has(call, OPTION_AFTER);
    uint64_t limit = 0;
    bool more = true;
    int code = call_number(call, OPTION_AFTER, 0, INT64_MAX, 0, &log.after);

    code = code == EXIT_DONE ? call_number(call, OPTION_LIMIT, 1, INT64_MAX,
                                           after_given ? INT64_MAX : LAST_STEPS, &limit)
                             : code;
    if (code != EXIT_DONE) {
        return code;
    }
    code = node_open(call, &client);
    code = code == EXIT_DONE && !after_given ? find_start(&log, limit) : code;
    if (code == EXIT_DONE && log.after > 0 && !after_given) {
        ui_note(call->ui, "the last %" PRIu64 " steps; all: --after 0", limit);
    }
    log.left = limit;
    while (code == EXIT_DONE && more && log.left > 0) {
        code = print_page(&log, &more);
    }
    if (code == EXIT_DONE && call_has(call, OPTION_FOLLOW)) {
        code = follow_log(&log);
    } else if (code == EXIT_DONE && log.shown == 0) {
        ui_note(call->ui, "it has made no step%s", after_given ? " after that" : " yet");
    }
    node_close(&client);
    return code;
}

/* ---- state ------------------------------------------------------------------------------------- */

static int print_row(const Ui *ui, const json_t *row)
{
    Buf line = {0};

    if (ui->json) {
        return show_line(ui, row);
    }
    int rc = append_key(&line, json_object_get(row, "key"));
    rc = rc == SAP_OK ? buf_append_u8(&line, '\t') : rc;
    rc = rc == SAP_OK ? json_write(&line, json_object_get(row, "value")) : rc;
    rc = rc == SAP_OK ? buf_append_u8(&line, '\n') : rc;
    bool written = rc == SAP_OK && ui_write(stdout, (Slice){line.data, line.len});
    buf_release(&line);
    return rc != SAP_OK ? ui_no_memory(ui) : written ? EXIT_DONE : ui_finish(ui);
}

/* The path of a page of the state, after the key or mark `after` (NULL: from the first). */
static char *state_path(const Call *call, uint64_t most, const char *after)
{
    char number[UI_TEXT];
    char *path = node_path("/v1/worlds/%s/state", call_operand(call, 0));

    (void)snprintf(number, sizeof number, "%" PRIu64, most);
    path = node_query(path, "prefix", call_value(call, OPTION_PREFIX));
    path = node_query(path, "step", call_value(call, OPTION_STEP));
    path = node_query(path, "limit", number);
    return node_query(path, "after", after);
}

static int print_state(const Call *call, NodeClient *client, uint64_t limit)
{
    uint64_t left = limit > 0 ? limit : UINT64_MAX;
    char *after = NULL;
    bool more = true;
    bool any = false;
    int code = EXIT_DONE;

    while (code == EXIT_DONE && more && left > 0) {
        NodeAnswer answer = {0};
        json_t *row;
        size_t i;
        NodeRequest request = {.method = "GET", .world = call_operand(call, 0)};
        request.path = state_path(call, left < PAGE_MOST ? left : PAGE_MOST, after);
        code = node_call(client, request, &answer);
        const json_t *rows = json_object_get(answer.json, "rows");
        const char *next = json_string_value(json_object_get(answer.json, "next"));
        if (code == EXIT_DONE &&
            (!json_is_array(rows) || (next != NULL && after != NULL && strcmp(next, after) == 0))) {
            code = node_nonsense(client, "its state has no rows, or does not go on");
        }
        json_array_foreach(code == EXIT_DONE ? rows : NULL, i, row)
        {
            if (left == 0 || (code = print_row(call->ui, row)) != EXIT_DONE) {
                break;
            }
            left--;
            any = true;
        }
        free(after);
        after = next != NULL ? strdup(next) : NULL;
        more = after != NULL;
        node_answer_release(&answer);
    }
    free(after);
    if (code == EXIT_DONE && !any) {
        ui_note(call->ui, "its state has no such rows");
    }
    return code;
}

int world_state_verb(const Call *call)
{
    NodeClient client;
    uint64_t limit = 0;
    uint64_t step = 0;
    int code = call_number(call, OPTION_LIMIT, 1, UINT64_MAX, 0, &limit);

    code = code == EXIT_DONE ? call_number(call, OPTION_STEP, 0, INT64_MAX, 0, &step) : code;
    if (code != EXIT_DONE) {
        return code;
    }
    code = node_open(call, &client);
    code = code == EXIT_DONE ? print_state(call, &client, limit) : code;
    node_close(&client);
    return code;
}
