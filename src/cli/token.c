/* token.c - credentials of a node. */
#include <string.h>

#include "cli/node_commands.h"
#include "cli/node_common.h"

static const Field token_columns[] = {
    {"ID", "id", FIELD_TEXT},
    {"SCOPES", "scopes", FIELD_NAMES},
    {"NAME", "name", FIELD_TEXT},
    {0},
};

/* "read,send" as a list; NULL after saying what is wrong. */
static json_t *read_scopes(const Call *call, const char *text)
{
    json_t *scopes = json_array();

    while (scopes != NULL && *text != '\0') {
        size_t len = strcspn(text, ",");
        bool known =
            (len == 4 && (strncmp(text, "read", 4) == 0 || strncmp(text, "send", 4) == 0)) ||
            (len == 5 && strncmp(text, "admin", 5) == 0);
        if (!known || json_array_append_new(scopes, json_stringn(text, len)) != 0) {
            json_decref(scopes);
            (void)(known ? ui_no_memory(call->ui)
                         : call_usage(call, "--scope %s: read, send, admin, or several with commas",
                                      text));
            return NULL;
        }
        text += len + (text[len] == ',' ? 1 : 0);
    }
    return scopes;
}

/* The token alone on standard output: it goes into a file. */
static int print_token(const Call *call, NodeClient *client, const NodeAnswer *answer)
{
    const char *token = show_text(answer->json, "token", NULL);

    if (token == NULL || !node_token_valid(token)) {
        return node_nonsense(client, "it gave no token");
    }
    if (call->ui->json) {
        return show_line(call->ui, answer->json);
    }
    ui_note(call->ui, "the token %s, which is not shown again", show_text(answer->json, "id", "-"));
    return ui_write(stdout, slice_from_str(token)) && putchar('\n') != EOF ? EXIT_DONE
                                                                           : ui_finish(call->ui);
}

int token_create_verb(const Call *call)
{
    const char *given = call_value(call, OPTION_SCOPE);
    json_t *scopes = read_scopes(call, given != NULL ? given : "read");
    NodeClient client;
    NodeAnswer answer = {0};

    if (scopes == NULL || json_array_size(scopes) == 0) {
        json_decref(scopes);
        return scopes == NULL ? EXIT_USAGE : call_usage(call, "--scope names no scope");
    }
    int code = node_open(call, &client);
    if (code == EXIT_DONE) {
        NodeRequest request = {.method = "POST", .path = node_path("/v1/tokens")};
        request.body =
            json_pack("{s:O, s:s*}", "scopes", scopes, "name", call_value(call, OPTION_NAME));
        code = node_call(&client, request, &answer);
    }
    code = code == EXIT_DONE ? print_token(call, &client, &answer) : code;
    json_decref(scopes);
    node_answer_release(&answer);
    node_close(&client);
    return code;
}

int token_list_verb(const Call *call)
{
    return show_list_command(call, node_path(SHOW_WHOLE "/v1/tokens"), token_columns,
                             "there are no tokens");
}

int token_revoke_verb(const Call *call)
{
    int code =
        command_once(call,
                     (NodeRequest){.method = "DELETE",
                                   .path = node_path("/v1/tokens/%s", call_operand(call, 0))},
                     NULL);

    if (code == EXIT_DONE) {
        ui_note(call->ui, "the token %s is good for nothing now", call_operand(call, 0));
    }
    return code;
}
