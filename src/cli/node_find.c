#include "cli/node_find.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/assert.h"
#include "common/fd.h"
#include "node/registry.h"

enum { ENTRY_MOST = 65536, NODES_NAMED = 8 };

void node_place_release(NodePlace *place)
{
    free(place->address);
    free(place->socket);
    free(place->token_file);
    *place = (NodePlace){0};
}

/* ---- What nodes leave behind ------------------------------------------------------------------- */

/* The text of a file of this user or of root; NULL: there is none that could be read. Caller frees. */
static char *read_entry_text(const char *path, size_t *len_out)
{
    struct stat st;
    char *text = NULL;
    int fd = fd_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);

    if (fd < 0) {
        return NULL;
    }
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= ENTRY_MOST &&
        (st.st_uid == geteuid() || st.st_uid == 0)) {
        text = (char *)malloc(ENTRY_MOST);
    }
    ssize_t len = text != NULL ? read(fd, text, ENTRY_MOST) : -1;
    (void)close(fd);
    if (len < 0) {
        free(text);
        return NULL;
    }
    *len_out = (size_t)len;
    return text;
}

static bool is_alive(json_int_t pid)
{
    return pid > 0 && pid <= INT_MAX && (kill((pid_t)pid, 0) == 0 || errno == EPERM);
}

/* Copies the member, if it is a text. False: no memory. */
static bool copy_member(const json_t *entry, const char *name, char **copy_out)
{
    const char *text = json_string_value(json_object_get(entry, name));

    if (text != NULL) {
        *copy_out = strdup(text);
    }
    return text == NULL || *copy_out != NULL;
}

typedef enum Entry { ENTRY_NONE, ENTRY_LIVE, ENTRY_NO_MEMORY } Entry;

/* Reads DIRECTORY/ADDRESS.json. ENTRY_LIVE: *place_out is what it says of a node that runs. */
static Entry read_entry(const char *directory, const char *address, NodePlace *place_out)
{
    char path[PATH_MAX];
    size_t len = 0;
    NodePlace place = {0};
    int path_len = snprintf(path, sizeof path, "%s/%s.json", directory, address);

    if (path_len < 0 || path_len >= (int)sizeof path) {
        return ENTRY_NONE;
    }
    char *text = read_entry_text(path, &len);
    json_t *entry = text != NULL ? json_loadb(text, len, 0, NULL) : NULL;
    free(text);
    if (!is_alive(json_integer_value(json_object_get(entry, "pid")))) {
        json_decref(entry);
        return ENTRY_NONE;
    }
    place.address = strdup(address);
    bool ok = place.address != NULL && copy_member(entry, "socket", &place.socket) &&
              copy_member(entry, "token_file", &place.token_file);
    json_decref(entry);
    if (!ok) {
        node_place_release(&place);
        return ENTRY_NO_MEMORY;
    }
    *place_out = place;
    return ENTRY_LIVE;
}

/* ---- Without a name ---------------------------------------------------------------------------- */

typedef struct Nodes {
    NodePlace first; /* or the one at the usual address */
    uint32_t count;
    bool usual;
    char names[512]; /* ", " between them */
} Nodes;

/* Adds the node of a file of the directory. ENTRY_NO_MEMORY. */
static Entry add_node(Nodes *nodes, const char *directory, const char *file)
{
    size_t len = strlen(file);
    char address[NAME_MAX + 1];
    NodePlace place = {0};

    if (len <= 5 || len > NAME_MAX || strcmp(file + len - 5, ".json") != 0) {
        return ENTRY_NONE;
    }
    (void)snprintf(address, sizeof address, "%.*s", (int)(len - 5), file);
    Entry entry = read_entry(directory, address, &place);
    if (entry != ENTRY_LIVE) {
        return entry;
    }
    bool usual = strcmp(address, NODE_ADDRESS) == 0;
    if (nodes->count < NODES_NAMED) {
        size_t at = strlen(nodes->names);
        (void)snprintf(nodes->names + at, sizeof nodes->names - at, "%s%.50s",
                       nodes->count == 0 ? "" : ", ", address);
    }
    if (nodes->count == 0 || usual) {
        node_place_release(&nodes->first);
        nodes->first = place;
    } else {
        node_place_release(&place);
    }
    nodes->usual = nodes->usual || usual;
    nodes->count++;
    return ENTRY_LIVE;
}

/* All nodes that run and have a file in the directory. False: no memory. */
static bool list_nodes(const char *directory, Nodes *nodes)
{
    DIR *dir = fd_open_dir(directory);
    const struct dirent *file;
    Entry entry = ENTRY_NONE;

    while (dir != NULL && entry != ENTRY_NO_MEMORY && (file = readdir(dir)) != NULL) {
        entry = add_node(nodes, directory, file->d_name);
    }
    if (dir != NULL) {
        (void)closedir(dir);
    }
    return entry != ENTRY_NO_MEMORY;
}

/* The usual node, or the only one; an address nobody told of if there is none. */
static int find_usual(const Call *call, NodePlace *place_out)
{
    char directories[REGISTRY_DIRS][REGISTRY_PATH_MAX];
    size_t count = registry_dirs(directories);
    Nodes nodes = {0};

    for (size_t i = 0; i < count && nodes.count == 0; i++) {
        if (!list_nodes(directories[i], &nodes)) {
            node_place_release(&nodes.first);
            return ui_no_memory(call->ui);
        }
    }
    if (nodes.count > 1 && !nodes.usual) {
        node_place_release(&nodes.first);
        return ui_fail(call->ui, EXIT_USAGE, "say which: --node ADDRESS, or SAPLING_NODE=ADDRESS",
                       "%u nodes run here: %s%s", (unsigned)nodes.count, nodes.names,
                       nodes.count > NODES_NAMED ? ", ..." : "");
    }
    *place_out = nodes.first;
    if (nodes.count == 0) {
        place_out->address = strdup(NODE_ADDRESS);
    }
    return place_out->address != NULL ? EXIT_DONE : ui_no_memory(call->ui);
}

/* ---- By name ----------------------------------------------------------------------------------- */

/* HOST:PORT of what was given; false: it is neither that nor a port. */
static bool full_address(const char *named, char address[NAME_MAX + 1])
{
    const char *colon = strrchr(named, ':');
    const char *port = colon != NULL ? colon + 1 : named;
    size_t digits = strspn(port, "0123456789");
    size_t host_len = colon != NULL ? (size_t)(colon - named) : 0;
    unsigned long number = digits > 0 && digits <= 5 ? strtoul(port, NULL, 10) : 0;

    if (port[digits] != '\0' || number < 1 || number > 65535 || (colon != NULL && host_len == 0) ||
        host_len > NAME_MAX - 16) {
        return false;
    }
    for (size_t i = 0; i < host_len; i++) {
        if (!isalnum((unsigned char)named[i]) && strchr(".-_:[]", named[i]) == NULL) {
            return false;
        }
    }
    bool local = host_len == 0 || (host_len == 9 && strncmp(named, "localhost", 9) == 0);
    (void)snprintf(address, NAME_MAX + 1, "%.*s:%lu", local ? 9 : (int)host_len,
                   local ? "127.0.0.1" : named, number);
    return true;
}

/* A socket, or a directory that has one. */
static int find_by_path(const Call *call, const char *path, NodePlace *place_out)
{
    struct stat st;
    NodePlace place = {.address = strdup(path)};
    bool directory = stat(path, &st) == 0 && S_ISDIR(st.st_mode);

    if (place.address == NULL ||
        asprintf(&place.socket, "%s%s", path, directory ? "/node.sock" : "") < 0) {
        place.socket = NULL;
        node_place_release(&place);
        return ui_no_memory(call->ui);
    }
    *place_out = place;
    return EXIT_DONE;
}

static int find_by_name(const Call *call, const char *named, NodePlace *place_out)
{
    char address[NAME_MAX + 1];
    char directories[REGISTRY_DIRS][REGISTRY_PATH_MAX];
    size_t count = registry_dirs(directories);

    if (strchr(named, '/') != NULL) {
        return find_by_path(call, named, place_out);
    }
    if (!full_address(named, address)) {
        return call_usage(call,
                          "'%s' is not the address of a node: HOST:PORT as in " NODE_ADDRESS
                          ", or the path of its socket or data directory",
                          named);
    }
    for (size_t i = 0; i < count; i++) {
        Entry entry = read_entry(directories[i], address, place_out);
        if (entry != ENTRY_NONE) {
            return entry == ENTRY_LIVE ? EXIT_DONE : ui_no_memory(call->ui);
        }
    }
    place_out->address = strdup(address);
    return place_out->address != NULL ? EXIT_DONE : ui_no_memory(call->ui);
}

/* A value of an option, or of the environment in its place; NULL: neither is given. */
static const char *option_or_environment(const Call *call, OptionId id, const char *variable)
{
    const char *value = call_value(call, id);

    if (value == NULL) {
        value = getenv(variable);
        value = value != NULL && value[0] == '\0' ? NULL : value;
    }
    return value;
}

int node_find(const Call *call, NodePlace *place_out)
{
    const char *named = option_or_environment(call, OPTION_ADDRESS, "SAPLING_NODE");
    const char *token_file = option_or_environment(call, OPTION_TOKEN_FILE, "SAPLING_TOKEN_FILE");
    NodePlace place = {0};
    int code = named != NULL ? find_by_name(call, named, &place) : find_usual(call, &place);

    if (code == EXIT_DONE && token_file != NULL) {
        SAP_ASSERT(place.address != NULL);
        free(place.token_file);
        place.token_file = strdup(token_file);
        if (strchr(place.address, '/') == NULL) {
            free(place.socket);
            place.socket = NULL;
        }
        code = place.token_file != NULL ? EXIT_DONE : ui_no_memory(call->ui);
    }
    if (code != EXIT_DONE) {
        node_place_release(&place);
        return code;
    }
    *place_out = place;
    return EXIT_DONE;
}
