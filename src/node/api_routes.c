/* api_routes.c - see api_routes.h. */
#include "node/api_routes.h"

#include <stdio.h>
#include <string.h>

#include "common/assert.h"
#include "node/api_effects.h"
#include "node/api_history.h"
#include "node/api_letters.h"
#include "node/api_messages.h"
#include "node/api_modules.h"
#include "node/api_node.h"
#include "node/api_tokens.h"
#include "node/api_workers.h"
#include "node/api_worlds.h"

#define PAGE "limit after"

static const Route routes[] = {
    {"GET", "/healthz", SCOPE_OPEN, ROUTE_INLINE, api_healthz, "", ""},
    {"GET", "/readyz", SCOPE_OPEN, 0, api_readyz, "", ""},
    {"GET", "/metrics", SCOPE_READ, 0, api_metrics, "", ""},
    {"GET", "/v1/status", SCOPE_READ, 0, api_status, "", ""},

    {"GET", "/v1/modules", SCOPE_READ, 0, api_modules_list, PAGE, ""},
    {"GET", "/v1/modules/{}", SCOPE_READ, 0, api_module_show, "", ""},
    {"PUT", "/v1/modules/{}", SCOPE_ADMIN, 0, api_module_put, "",
     "runner state timeout_ms max_attempts on_failure settings schemas"},

    {"POST", "/v1/worlds", SCOPE_SEND, ROUTE_PAYLOAD, api_world_create, "", "world module"},
    {"GET", "/v1/worlds", SCOPE_READ, 0, api_worlds_list, PAGE " prefix status tag module", ""},
    {"GET", "/v1/worlds/{}", SCOPE_READ, 0, api_world_show, "", ""},
    {"DELETE", "/v1/worlds/{}", SCOPE_ADMIN, ROUTE_ONCE, api_world_delete, "reason", ""},
    {"POST", "/v1/worlds/{}/messages", SCOPE_SEND, ROUTE_PAYLOAD | ROUTE_SEND, api_message_send,
     "wait", "name id correlation_id priority module"},
    {"GET", "/v1/worlds/{}/state", SCOPE_READ, 0, api_world_state, PAGE " prefix step", ""},
    {"GET", "/v1/worlds/{}/journal", SCOPE_READ, 0, api_world_journal, PAGE, ""},
    {"GET", "/v1/worlds/{}/outstanding", SCOPE_READ, 0, api_world_outstanding, "", ""},
    {"POST", "/v1/worlds/{}/query", SCOPE_READ, ROUTE_PAYLOAD | ROUTE_QUERY, api_world_query,
     "strong", "name"},
    {"GET", "/v1/worlds/{}/result", SCOPE_READ, 0, api_world_result, "wait", ""},
    {"POST", "/v1/worlds/{}/pause", SCOPE_ADMIN, ROUTE_ONCE, api_world_pause, "", "reason"},
    {"POST", "/v1/worlds/{}/resume", SCOPE_ADMIN, ROUTE_ONCE, api_world_resume, "", "skip"},
    {"POST", "/v1/worlds/{}/cancel", SCOPE_ADMIN, 0, api_world_cancel, "", "reason"},
    {"POST", "/v1/worlds/{}/pin", SCOPE_ADMIN, ROUTE_ONCE, api_world_pin, "", "version"},
    {"GET", "/v1/worlds/{}/dead-letters", SCOPE_READ, 0, api_world_letters, PAGE, ""},

    {"GET", "/v1/dead-letters", SCOPE_READ, 0, api_letters_list, PAGE " world", ""},
    {"POST", "/v1/dead-letters/replay", SCOPE_ADMIN, ROUTE_ONCE, api_letters_replay, "",
     "letters all world dry_run"},
    {"POST", "/v1/dead-letters/drop", SCOPE_ADMIN, ROUTE_ONCE, api_letters_drop, "",
     "letters all world dry_run"},

    {"GET", "/v1/effects", SCOPE_READ, 0, api_effects_list, PAGE " world kind state", ""},
    {"GET", "/v1/effects/{}", SCOPE_READ, 0, api_effect_show, "world", ""},
    {"POST", "/v1/effects/{}/retry", SCOPE_ADMIN, ROUTE_ONCE, api_effect_retry, "", "world"},
    {"POST", "/v1/effects/{}/cancel", SCOPE_ADMIN, ROUTE_ONCE, api_effect_cancel, "", "world"},
    {"POST", "/v1/effects/{}/receipt", SCOPE_ADMIN, ROUTE_PAYLOAD | ROUTE_ONCE, api_effect_receipt,
     "", "world status code"},

    {"GET", "/v1/timers", SCOPE_READ, 0, api_timers_list, PAGE " world", ""},
    {"POST", "/v1/timers/{}/cancel", SCOPE_ADMIN, ROUTE_ONCE, api_timer_cancel, "", "world"},

    {"GET", "/v1/leases", SCOPE_READ, 0, api_leases_list, PAGE " prefix", ""},
    {"GET", "/v1/workers", SCOPE_READ, 0, api_workers_list, PAGE " prefix", ""},
    {"GET", "/v1/assignments", SCOPE_READ, 0, api_assignments_list, PAGE " prefix", ""},
    {"PUT", "/v1/assignments/{}", SCOPE_ADMIN, ROUTE_ONCE, api_assignment_put, "",
     "worker priority reason"},
    {"DELETE", "/v1/assignments/{}", SCOPE_ADMIN, ROUTE_ONCE, api_assignment_delete, "", ""},

    {"GET", "/v1/tokens", SCOPE_ADMIN, 0, api_tokens_list, "", ""},
    {"POST", "/v1/tokens", SCOPE_ADMIN, 0, api_token_create, "", "scopes name"},
    {"DELETE", "/v1/tokens/{}", SCOPE_ADMIN, 0, api_token_revoke, "", ""},
};

enum { ROUTE_COUNT = sizeof routes / sizeof routes[0] };

const Route *api_routes(size_t *count_out)
{
    *count_out = ROUTE_COUNT;
    return routes;
}

bool api_names_have(const char *names, const char *name)
{
    size_t len = strlen(name);
    for (const char *at = names; *at != 0;) {
        size_t this_len = strcspn(at, " ");
        if (this_len == len && memcmp(at, name, len) == 0) {
            return true;
        }
        at += this_len + (at[this_len] == ' ');
    }
    return false;
}

/* Whether the path has this form; *name_out is then what stands in the place of "{}". */
static bool match_path(const char *form, const char *path, Slice *name_out)
{
    *name_out = (Slice){NULL, 0};
    while (*form != 0) {
        if (form[0] == '{') {
            size_t len = strcspn(path, "/");
            *name_out = (Slice){path, len};
            path += len;
            form += 2;
            if (len == 0) {
                return false;
            }
        } else if (*form++ != *path++) {
            return false;
        }
    }
    return *path == 0;
}

static size_t common_prefix(const char *a, const char *b)
{
    size_t len = 0;
    while (a[len] != 0 && a[len] == b[len]) {
        len++;
    }
    return len;
}

static bool fail_unknown(Call *call, const char *path)
{
    const Route *near = &routes[0];
    size_t best = 0;
    for (size_t i = 0; i < ROUTE_COUNT; i++) {
        size_t len = common_prefix(routes[i].path, path);
        if (len > best) {
            best = len;
            near = &routes[i];
        }
    }
    return call_fail_detail(call, API_UNKNOWN_ROUTE, json_pack("{s:s}", "near", near->path),
                            "there is no route %.200s: the nearest is %s; names in it are "
                            "percent-encoded, and docs/reference/http-api.md has all",
                            path, near->path);
}

/* The methods that the path has, as the header Allow wants them. */
static bool fail_method(Call *call, const char *method, const char *path)
{
    Slice name;
    call->allow_text[0] = 0;
    for (size_t i = 0; i < ROUTE_COUNT; i++) {
        if (match_path(routes[i].path, path, &name)) {
            size_t used = strlen(call->allow_text);
            SAP_ASSERT(used + strlen(routes[i].method) + 3 < sizeof call->allow_text);
            (void)snprintf(call->allow_text + used, sizeof call->allow_text - used, "%s%s",
                           used > 0 ? ", " : "", routes[i].method);
        }
    }
    call->allow = call->allow_text;
    return call_fail_detail(call, API_METHOD, json_pack("{s:s}", "allow", call->allow),
                            "%.32s is not a method of %.200s: use %s", method, path, call->allow);
}

/* *name_out: what stands in the place of "{}". *found_out: some route has the path. */
static const Route *match_route(const char *method, const char *path, Slice *name_out,
                                bool *path_found_out)
{
    const char *wanted = strcmp(method, "HEAD") == 0 ? "GET" : method;
    *path_found_out = false;
    for (size_t i = 0; i < ROUTE_COUNT; i++) {
        if (match_path(routes[i].path, path, name_out)) {
            *path_found_out = true;
            if (strcmp(routes[i].method, wanted) == 0) {
                return &routes[i];
            }
        }
    }
    return NULL;
}

const Route *api_route_match(const char *method, const char *path)
{
    Slice name;
    bool path_found = false;
    return match_route(method, path, &name, &path_found);
}

bool api_route_find(Call *call, const char *method, const char *path)
{
    Slice name = {NULL, 0};
    bool path_found = false;
    call->route = match_route(method, path, &name, &path_found);
    if (call->route == NULL) {
        return path_found ? fail_method(call, method, path) : fail_unknown(call, path);
    }
    if (name.data != NULL &&
        !call_decode((const char *)name.data, name.len, false, call->arg, sizeof call->arg)) {
        return call_fail(
            call, API_BAD_REQUEST,
            "the name in the path is malformed, or longer than %u bytes: percent-encode "
            "it, in UTF-8",
            SAP_WORLD_MAX_NAME);
    }
    return true;
}
