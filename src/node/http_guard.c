/* http_guard.c - see http_guard.h. */
#include "node/http_guard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/utf8.h"
#include "node/api_routes.h"

/* ---- The other end of the socket ------------------------------------------------------------- */

static bool has_group(int fd, const struct ucred *peer, gid_t group)
{
    gid_t groups[256];
    socklen_t size = sizeof groups;
    if (peer->gid == group) {
        return true;
    }
    if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &size) != 0) {
        return false;
    }
    for (size_t i = 0; i < size / sizeof groups[0]; i++) {
        if (groups[i] == group) {
            return true;
        }
    }
    return false;
}

void guard_peer(int fd, long group, Caller *caller_out)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    *caller_out = (Caller){.known = false};
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
        return;
    }
    if (peer.uid == geteuid() || peer.uid == 0 ||
        (group >= 0 && has_group(fd, &peer, (gid_t)group))) {
        caller_out->known = true;
        caller_out->socket = true;
        caller_out->scopes = SCOPE_ALL;
        (void)snprintf(caller_out->id, sizeof caller_out->id, "uid:%u", (unsigned)peer.uid);
    }
}

/* ---- Host and Origin ------------------------------------------------------------------------- */

/* The host of "host:port" or "[address]:port". */
static Slice host_name(const char *host)
{
    size_t len = strlen(host);
    if (host[0] == '[') {
        const char *end = strchr(host, ']');
        return (Slice){host, end == NULL ? len : (size_t)(end - host) + 1};
    }
    return (Slice){host, strcspn(host, ":")};
}

/* What follows the host is a port, or nothing. */
static bool port_is_plain(const char *rest)
{
    return rest[0] == 0 ||
           (rest[0] == ':' && strspn(rest + 1, "0123456789") == strlen(rest + 1) && rest[1] != 0);
}

static bool same_name(Slice name, const char *other)
{
    return strlen(other) == name.len && strncasecmp((const char *)name.data, other, name.len) == 0;
}

static bool host_is_ours(const HttpOptions *options, const char *host)
{
    static const char *const ours[] = {"localhost", "127.0.0.1", "[::1]"};
    Slice name = host_name(host);
    if (!port_is_plain(host + name.len)) {
        return false;
    }
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++) {
        if (same_name(name, ours[i])) {
            return true;
        }
    }
    for (size_t i = 0; i < options->name_count; i++) {
        if (same_name(name, options->names[i])) {
            return true;
        }
    }
    return false;
}

static bool check_host(Call *call, const GuardHeaders *headers)
{
    const char *host = headers->host;
    if (host == NULL || !host_is_ours(&call->api->options, host)) {
        return call_fail(
            call, API_BAD_HOST,
            "the header Host is \"%.200s\": address the node as localhost or 127.0.0.1, or "
            "give it this name with --host-name",
            host == NULL ? "" : host);
    }
    const char *origin = headers->origin;
    if (origin != NULL &&
        (strncasecmp(origin, "http://", 7) != 0 || strcasecmp(origin + 7, host) != 0)) {
        return call_fail(
            call, API_BAD_ORIGIN,
            "the header Origin is \"%.200s\": pages of other sites may not call the node", origin);
    }
    return true;
}

/* ---- Credentials ----------------------------------------------------------------------------- */

static bool fail_no_token(Call *call, const char *what)
{
    return call_fail(call, API_NEEDS_TOKEN,
                     "%s: -H \"Authorization: Bearer $(cat %s/token)\", or --unix-socket "
                     "%s/node.sock",
                     what, call->api->options.data, call->api->options.data);
}

/* Takes the token, unless the socket has said already who it is. */
static bool find_caller(Call *call, const Caller *peer, const GuardHeaders *headers)
{
    static const char bearer[] = "Bearer ";
    const char *text = headers->authorization;
    TokenInfo info;
    call->caller = *peer;
    if (peer->known || text == NULL) {
        return true;
    }
    if (strncasecmp(text, bearer, sizeof bearer - 1) != 0) {
        return fail_no_token(call, "this authorization is no bearer token");
    }
    text += sizeof bearer - 1;
    text += strspn(text, " ");
    if (!tokens_find(call->api->tokens, text, strlen(text), &info)) {
        return fail_no_token(call, "the token is not valid, or was revoked");
    }
    call->caller.known = true;
    call->caller.scopes = (info.scopes & SCOPE_ADMIN) != 0 ? (uint32_t)SCOPE_ALL : info.scopes;
    (void)snprintf(call->caller.id, sizeof call->caller.id, "token:%s", info.id);
    return true;
}

static const char *scope_name(uint32_t scope)
{
    return scope == SCOPE_READ ? "read" : scope == SCOPE_SEND ? "send" : "admin";
}

static bool check_scope(Call *call)
{
    uint32_t scope = call->route->scope;
    if (scope == SCOPE_OPEN || (call->caller.scopes & scope) != 0) {
        return true;
    }
    return call_fail_detail(call, API_NEEDS_SCOPE, json_pack("{s:s}", "scope", scope_name(scope)),
                            "%s %s needs a token with the scope \"%s\": POST /v1/tokens makes one",
                            call->route->method, call->route->path, scope_name(scope));
}

static bool read_key(Call *call, const GuardHeaders *headers)
{
    const char *key = headers->key;
    size_t len = key == NULL ? 0 : strlen(key);
    if (key == NULL) {
        return true;
    }
    bool plain = len > 0 && len <= API_KEY_MOST && utf8_valid(key, len);
    for (size_t i = 0; plain && i < len; i++) {
        plain = (uint8_t)key[i] >= 0x20 && key[i] != 0x7f;
    }
    if (!plain) {
        return call_fail(call, API_BAD_REQUEST,
                         "the header Idempotency-Key is to be text of 1 to %d bytes", API_KEY_MOST);
    }
    memcpy(call->key, key, len + 1);
    return true;
}

/* One that is malformed is ignored, as the W3C says. */
static void read_trace_parent(Call *call, const GuardHeaders *headers)
{
    const char *text = headers->trace_parent;
    if (text != NULL && strlen(text) == API_TRACE_PARENT &&
        strspn(text, "0123456789abcdef-") == API_TRACE_PARENT) {
        memcpy(call->trace_parent, text, API_TRACE_PARENT + 1);
    }
}

/* ---- All together ---------------------------------------------------------------------------- */

bool guard_request(Call *call, const Caller *peer, const char *method, const char *path,
                   const GuardHeaders *headers)
{
    if (!check_host(call, headers)) {
        return false;
    }
    /* A route that is not there says so only to those who may ask for one. */
    const Route *route = api_route_match(method, path);
    if (route == NULL || route->scope != SCOPE_OPEN) {
        if (!find_caller(call, peer, headers)) {
            return false;
        }
        if (!call->caller.known) {
            return fail_no_token(call, "needs a token");
        }
    }
    read_trace_parent(call, headers);
    return api_route_find(call, method, path) && check_scope(call) && read_key(call, headers);
}

bool guard_content_type(Call *call, const GuardHeaders *headers)
{
    static const char json[] = "application/json";
    const char *type = headers->content_type;
    size_t len = sizeof json - 1;
    if (type != NULL && strncasecmp(type, json, len) == 0 && strchr("; ", type[len]) != NULL) {
        return true; /* strchr finds the NUL too */
    }
    return call_fail(call, API_SEND_JSON,
                     "the content type is \"%.100s\": send JSON: curl --json '...'",
                     type == NULL ? "" : type);
}
