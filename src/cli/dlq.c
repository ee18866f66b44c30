/* dlq.c - dead letters of worlds: items that a handler refused or failed at, which an operator skipped. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/node_commands.h"
#include "cli/node_common.h"

static const Field letter_columns[] = {
    {"WORLD", "world", FIELD_TEXT},  {"ID", "id", FIELD_TEXT},
    {"NAME", "name", FIELD_TEXT},    {"ATTEMPTS", "attempts", FIELD_COUNT},
    {"AGE", "time_ms", FIELD_SINCE}, {"BODY", "body", FIELD_VALUE},
    {"ERROR", "error", FIELD_TEXT},  {0},
};

static const Field letter_fields[] = {
    {"world", "world", FIELD_TEXT},
    {"id", "id", FIELD_TEXT},
    {"name", "name", FIELD_TEXT},
    {"item", "item_id", FIELD_TEXT},
    {"step", "step", FIELD_COUNT},
    {"seq", "seq", FIELD_TEXT},
    {"attempts", "attempts", FIELD_COUNT},
    {"age", "time_ms", FIELD_SINCE},
    {"error", "error", FIELD_TEXT},
    {"body", "body", FIELD_VALUE},
    {0},
};

/* Of all worlds, or of one (NULL: all). */
static char *letters_path(const char *world)
{
    return world != NULL ? node_path("/v1/worlds/%s/dead-letters", world)
                         : node_path("/v1/dead-letters");
}

int dlq_list_verb(const Call *call)
{
    return show_list_command(call, letters_path(call_operand(call, 0)), letter_columns,
                             "there are no dead letters");
}

/* ---- show -------------------------------------------------------------------------------------- */

typedef struct Wanted {
    const char *id;
    json_t *letter; /* a reference, once it was found */
} Wanted;

static int compare_letter(void *ctx, json_t *item)
{
    Wanted *wanted = (Wanted *)ctx;

    if (wanted->letter == NULL && strcmp(show_text(item, "id", ""), wanted->id) == 0) {
        wanted->letter = json_incref(item);
    }
    return EXIT_DONE;
}

int dlq_show_verb(const Call *call)
{
    const char *world = call_operand(call, 0);
    Wanted wanted = {.id = call_operand(call, 1)};
    NodeClient client;
    char hint[400];
    int code = node_open(call, &client);

    if (code == EXIT_DONE) {
        code = show_each(&client, letters_path(world), 0, compare_letter, &wanted);
    }
    if (code == EXIT_DONE && wanted.letter == NULL) {
        (void)snprintf(hint, sizeof hint, "see which there are: sapling dlq list %.300s", world);
        code =
            ui_fail(call->ui, EXIT_NOT_FOUND, hint, "%s has no dead letter %s", world, wanted.id);
    }
    if (code == EXIT_DONE) {
        code = show_item(call->ui, wanted.letter, letter_fields);
    }
    json_decref(wanted.letter);
    node_close(&client);
    return code;
}

/* ---- replay and drop --------------------------------------------------------------------------- */

/* What the operands and --all choose; NULL after saying what is wrong. */
static json_t *choose_letters(const Call *call)
{
    const char *world = call_operand(call, 0);
    bool all = call_has(call, OPTION_ALL);

    if (all ? call->operand_count > 1 : call->operand_count < 2) {
        (void)call_usage(call,
                         all ? "--all goes without ids" : "which? WORLD and their ids, or --all");
        return NULL;
    }
    json_t *chosen = all ? json_pack("{s:b, s:s*}", "all", 1, "world", world) : json_object();
    json_t *letters = all ? NULL : json_array();
    bool ok = chosen != NULL && (all || letters != NULL);
    for (uint32_t i = 1; i < call->operand_count && ok; i++) {
        ok = json_array_append_new(letters, json_pack("{s:s, s:s}", "world", world, "id",
                                                      call_operand(call, i))) == 0;
    }
    if (ok && !all) {
        ok = json_object_set(chosen, "letters", letters) == 0;
    }
    json_decref(letters);
    if (!ok) {
        json_decref(chosen);
        (void)ui_no_memory(call->ui);
        return NULL;
    }
    return chosen;
}

/* Posts the choice. *count_out: how many it is about. */
static int post_choice(NodeClient *client, const char *verb, const json_t *chosen, bool dry_run,
                       NodeAnswer *answer, json_int_t *count_out)
{
    json_t *body = json_copy((json_t *)(uintptr_t)chosen);

    if (dry_run && json_object_set_new(body, "dry_run", json_true()) != 0) {
        json_decref(body);
        body = NULL;
    }
    int code = node_call(client,
                         (NodeRequest){.method = "POST",
                                       .path = node_path("/v1/dead-letters/%s", verb),
                                       .world = call_operand(client->call, 0),
                                       .body = body},
                         answer);
    *count_out = code == EXIT_DONE ? json_integer_value(json_object_get(answer->json, "count")) : 0;
    return code;
}

static const char *letters_text(json_int_t count, char text[UI_TEXT])
{
    char digits[UI_TEXT];

    (void)snprintf(text, UI_TEXT, "%.20s dead letter%s",
                   ui_count(count > 0 ? (uint64_t)count : 0, digits), count == 1 ? "" : "s");
    return text;
}

/* Asks, with the number of those that would be gone. */
static int confirm_drop(NodeClient *client, const json_t *chosen)
{
    const Call *call = client->call;
    const char *world = call_operand(call, 0);
    NodeAnswer answer = {0};
    char text[UI_TEXT];
    char question[400];
    json_int_t count = 0;

    if (call_has(call, OPTION_YES)) {
        return EXIT_DONE;
    }
    int code = post_choice(client, "drop", chosen, true, &answer, &count);
    node_answer_release(&answer);
    if (code != EXIT_DONE) {
        return code;
    }
    (void)snprintf(question, sizeof question, "drop %s of %.300s for ever",
                   letters_text(count, text), world != NULL ? world : "all worlds");
    return ui_confirm(call->ui, false, question);
}

/* Tells of those that are still there. */
static int tell_undone(const Ui *ui, const json_t *items)
{
    int code = EXIT_DONE;
    json_t *item;
    size_t i;

    json_array_foreach(items, i, item)
    {
        if (json_is_false(json_object_get(item, "done"))) {
            code = ui_fail(ui, EXIT_NOT_FOUND, NULL, "dead letter %s of %s: %s",
                           show_text(item, "id", "-"), show_text(item, "world", "-"),
                           show_text(item, "error", "it was not done"));
        }
    }
    return code;
}

static int end_letters(const Call *call, const char *verb, const char *done)
{
    bool dry_run = call_has(call, OPTION_DRY_RUN);
    bool drop = strcmp(verb, "drop") == 0;
    json_t *chosen = choose_letters(call);
    NodeClient client;
    NodeAnswer answer = {0};
    json_int_t count = 0;
    char text[UI_TEXT];

    if (chosen == NULL) {
        return EXIT_USAGE;
    }
    int code = node_open(call, &client);
    code = code == EXIT_DONE && drop && !dry_run ? confirm_drop(&client, chosen) : code;
    code = code == EXIT_DONE ? post_choice(&client, verb, chosen, dry_run, &answer, &count) : code;
    if (code == EXIT_DONE && call->ui->json) {
        code = show_line(call->ui, answer.json);
    } else if (code == EXIT_DONE) {
        ui_note(call->ui, "%s %s%s", letters_text(count, text), dry_run ? "would be " : "", done);
    }
    if (code == EXIT_DONE) {
        code = tell_undone(call->ui, json_object_get(answer.json, "items"));
    }
    node_answer_release(&answer);
    json_decref(chosen);
    node_close(&client);
    return code;
}

int dlq_replay_verb(const Call *call)
{
    return end_letters(call, "replay", "put back into the inbox");
}

int dlq_drop_verb(const Call *call)
{
    return end_letters(call, "drop", "dropped");
}
