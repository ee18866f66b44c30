/* api_tokens.c - see api_tokens.h. */
#include "node/api_tokens.h"

#include <string.h>

#include "node/api_list.h"

static const struct {
    const char *name;
    uint32_t scope;
} scopes[] = {{"read", SCOPE_READ}, {"send", SCOPE_SEND}, {"admin", SCOPE_ADMIN}};

enum { SCOPE_COUNT = sizeof scopes / sizeof scopes[0] };

static json_t *scopes_json(uint32_t wanted)
{
    json_t *list = json_array();
    for (size_t i = 0; list != NULL && i < SCOPE_COUNT; i++) {
        if ((wanted & scopes[i].scope) != 0 &&
            json_array_append_new(list, json_string(scopes[i].name)) != 0) {
            json_decref(list);
            list = NULL;
        }
    }
    return list;
}

static json_t *token_info_json(const TokenInfo *info)
{
    return json_pack("{s:s, s:o, s:s, s:I}", "id", info->id, "scopes", scopes_json(info->scopes),
                     "name", info->name, "created_ms", (json_int_t)info->created_ms);
}

static void list_token(void *ctx, const TokenInfo *info)
{
    json_t **list = (json_t **)ctx;
    if (*list != NULL && json_array_append_new(*list, token_info_json(info)) != 0) {
        json_decref(*list);
        *list = NULL;
    }
}

void api_tokens_list(Call *call)
{
    json_t *list = json_array();
    tokens_each(call->api->tokens, list_token, &list);
    list_answer(call, list, NULL);
}

static bool read_scopes(Call *call, uint32_t *out)
{
    const json_t *list = json_object_get(call->fields, "scopes");
    size_t count = json_array_size(list);
    *out = 0;
    for (size_t i = 0; i < count; i++) {
        const char *name = json_string_value(json_array_get(list, i));
        uint32_t found = 0;
        for (size_t s = 0; name != NULL && s < SCOPE_COUNT; s++) {
            found |= strcmp(name, scopes[s].name) == 0 ? scopes[s].scope : 0;
        }
        *out |= found;
        count = found == 0 ? 0 : count;
    }
    return count > 0 ||
           call_fail_detail(call, API_BAD_REQUEST, json_pack("{s:s}", "field", "scopes"),
                            "the field \"scopes\" is to be an array of \"read\", \"send\" and "
                            "\"admin\", at least one; \"admin\" includes the others");
}

void api_token_create(Call *call)
{
    const char *name = NULL;
    uint32_t wanted = 0;
    TokenInfo info;
    char text[TOKEN_TEXT_SIZE];
    if (!call_read_body(call) || !read_scopes(call, &wanted) ||
        !call_field_text(call, "name", TOKEN_NAME_SIZE - 1, false, &name)) {
        return;
    }
    TokenKey key = {call->caller.id, call->key};
    int rc = tokens_create(call->api->tokens, wanted, name == NULL ? "" : name,
                           call->key[0] == 0 ? NULL : &key, &info, text);
    if (rc == SAP_OK) {
        json_t *answer = token_info_json(&info);
        if (answer != NULL && json_object_set_new(answer, "token", json_string(text)) != 0) {
            json_decref(answer);
            answer = NULL;
        }
        call_answer(call, 201, answer);
    } else if (rc == SAP_EXISTS) {
        (void)call_fail(
            call, API_KEY_REUSED,
            "the Idempotency-Key was used for another token, or that one was revoked: use "
            "a new key");
    } else if (rc == SAP_FULL) {
        (void)call_fail(call, API_CONFLICT, "there are %d tokens: revoke some", TOKENS_MOST);
    } else {
        (void)call_fail_code(call, rc, "token");
    }
}

void api_token_revoke(Call *call)
{
    int rc = tokens_revoke(call->api->tokens, call->arg);
    if (rc == SAP_OK) {
        call_answer(call, 200, json_pack("{s:s, s:b}", "id", call->arg, "revoked", 1));
    } else if (rc == SAP_NOTFOUND) {
        (void)call_fail(call, API_NOT_FOUND,
                        "there is no token \"%s\": GET /v1/tokens lists their ids", call->arg);
    } else {
        (void)call_fail_code(call, rc, "token");
    }
}
