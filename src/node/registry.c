/* registry.c - see registry.h. */
#include "node/registry.h"

#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fd.h"
#include "node/data_dir.h"

enum { FILE_NAME_MAX = 256 };

#define SUFFIX ".json"

size_t registry_dirs(char dirs[REGISTRY_DIRS][REGISTRY_PATH_MAX])
{
    const char *state = getenv("XDG_STATE_HOME");
    const char *home = getenv("HOME");
    size_t count = 0;
    int len = 0;
    if (state != NULL && state[0] == '/') {
        len = snprintf(dirs[0], REGISTRY_PATH_MAX, "%s/sapling/nodes", state);
    } else if (home != NULL && home[0] == '/') {
        len = snprintf(dirs[0], REGISTRY_PATH_MAX, "%s/.local/state/sapling/nodes", home);
    }
    count += len > 0 && len < REGISTRY_PATH_MAX - FILE_NAME_MAX;
    if (geteuid() == 0 && state == NULL) {
        (void)snprintf(dirs[count++], REGISTRY_PATH_MAX, "/run/sapling/nodes");
    }
    return count;
}

/* All directories on the way; that of the files is for this user alone, but for /run: there others may read
 * the list, not the files. */
static bool make_dirs(const char *path)
{
    char part[REGISTRY_PATH_MAX];
    (void)snprintf(part, sizeof part, "%s", path);
    for (char *at = strchr(part + 1, '/'); at != NULL; at = strchr(at + 1, '/')) {
        *at = '\0';
        if (mkdir(part, 0755) != 0 && errno != EEXIST) {
            return false;
        }
        *at = '/';
    }
    return mkdir(part, strncmp(path, "/run/", 5) == 0 ? 0755 : 0700) == 0 || errno == EEXIST;
}

static void path_in(const char *dir, const char *name, char path[DATA_PATH_MAX])
{
    (void)snprintf(path, DATA_PATH_MAX, "%.*s/%s", DATA_PATH_MAX - FILE_NAME_MAX - 2, dir, name);
}

/* Of the process that wrote the file; 0: it is none of ours. */
static pid_t read_writer(const char *path)
{
    json_t *object = json_load_file(path, 0, NULL);
    json_int_t pid = json_integer_value(json_object_get(object, "pid"));
    json_decref(object);
    return pid > 0 ? (pid_t)pid : 0;
}

static bool is_stale(const char *path)
{
    pid_t pid = read_writer(path);
    return pid > 0 && kill(pid, 0) != 0 && errno == ESRCH;
}

static void remove_stale(const char *dir)
{
    const struct dirent *entry = NULL;
    DIR *list = fd_open_dir(dir);
    while (list != NULL && (entry = readdir(list)) != NULL) {
        char path[DATA_PATH_MAX];
        size_t len = strlen(entry->d_name);
        bool ours = len > strlen(SUFFIX) && len < FILE_NAME_MAX &&
                    strcmp(entry->d_name + len - strlen(SUFFIX), SUFFIX) == 0;
        path_in(dir, entry->d_name, path);
        if (ours && is_stale(path)) {
            (void)unlink(path);
        }
    }
    if (list != NULL) {
        (void)closedir(list);
    }
}

static void name_file(const char *address, char name[FILE_NAME_MAX])
{
    if (address != NULL) {
        (void)snprintf(name, FILE_NAME_MAX, "%.200s" SUFFIX, address);
    } else {
        (void)snprintf(name, FILE_NAME_MAX, "%lld" SUFFIX, (long long)getpid());
    }
    for (char *at = name; *at != '\0'; at++) {
        *at = *at == '/' ? '_' : *at;
    }
}

size_t registry_add(const RegistryEntry *entry)
{
    char dirs[REGISTRY_DIRS][REGISTRY_PATH_MAX];
    char name[FILE_NAME_MAX];
    size_t count = registry_dirs(dirs);
    size_t written = 0;
    json_t *object = json_pack("{s:s?, s:I, s:s, s:s, s:s}", "address", entry->address, "pid",
                               (json_int_t)getpid(), "socket", entry->socket, "token_file",
                               entry->token_file, "data", entry->data);
    char *text = object != NULL ? json_dumps(object, JSON_COMPACT) : NULL;
    json_decref(object);
    name_file(entry->address, name);
    for (size_t i = 0; text != NULL && i < count; i++) {
        char path[DATA_PATH_MAX];
        path_in(dirs[i], name, path);
        if (make_dirs(dirs[i])) {
            remove_stale(dirs[i]);
            written += data_file_write(path, text, strlen(text)) == 0;
        }
    }
    free(text);
    return written;
}

void registry_remove(const char *address)
{
    char dirs[REGISTRY_DIRS][REGISTRY_PATH_MAX];
    char name[FILE_NAME_MAX];
    size_t count = registry_dirs(dirs);
    name_file(address, name);
    for (size_t i = 0; i < count; i++) {
        char path[DATA_PATH_MAX];
        path_in(dirs[i], name, path);
        if (read_writer(path) == getpid()) { /* not of another that has the address by now */
            (void)unlink(path);
        }
    }
}
