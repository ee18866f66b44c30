/* outbound_secrets.c - see outbound_secrets.h. */
#include "node/outbound_secrets.h"

#include "common/fd.h"
#include "node/outbound_json.h"
#include "sapling/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SECRET_FILE_MAX = 1 << 20, SECRET_MASKED_MIN = 4 };

__attribute__((format(printf, 3, 4))) static int refuse_secret(char *reason, int rc,
                                                               const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(reason, SECRET_REASON_MAX, format, args);
    va_end(args);
    return rc;
}

void secret_wipe(Buf *value)
{
    if (value->data != NULL) {
        explicit_bzero(value->data, value->cap);
    }
    buf_release(value);
}

void secret_mask(const Buf *value, void *bytes, size_t len)
{
    uint8_t *at = len == 0 || value->len < SECRET_MASKED_MIN
                      ? NULL
                      : (uint8_t *)memmem(bytes, len, value->data, value->len);
    while (at != NULL) {
        memset(at, '*', value->len);
        at += value->len;
        at = (uint8_t *)memmem(at, len - (size_t)(at - (uint8_t *)bytes), value->data, value->len);
    }
}

/* ---- The file -------------------------------------------------------------------------------- */

static int check_file(int fd, const char *path, size_t *size_out, char *reason)
{
    struct stat st;
    if (fstat(fd, &st) != 0) {
        return refuse_secret(reason, SAP_IO, "%s: %s", path, strerror(errno));
    }
    if (!S_ISREG(st.st_mode) || st.st_size > SECRET_FILE_MAX) {
        return refuse_secret(reason, SAP_INVALID, "%s: must be a file of at most 1 MiB", path);
    }
    if ((st.st_mode & 077) != 0 || (st.st_uid != geteuid() && st.st_uid != 0)) {
        return refuse_secret(
            reason, SAP_INVALID,
            "%s: others may read or write it, so nothing in it is used: chown it to "
            "the user of the node, and chmod 600 it",
            path);
    }
    *size_out = (size_t)st.st_size;
    return SAP_OK;
}

static int read_bytes(int fd, const char *path, size_t size, Buf *out, char *reason)
{
    int rc = buf_reserve(out, size + 1);
    if (rc != SAP_OK) {
        return rc;
    }
    while (out->len < size) {
        ssize_t got = read(fd, out->data + out->len, size - out->len);
        if (got == 0) {
            return SAP_OK; /* it is being written: what there is will not be JSON */
        }
        if (got < 0 && errno != EINTR) {
            return refuse_secret(reason, SAP_IO, "%s: %s", path, strerror(errno));
        }
        out->len += got > 0 ? (size_t)got : 0;
    }
    return SAP_OK;
}

static int read_file(const char *path, Buf *out, char *reason)
{
    size_t size = 0;
    int fd = fd_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
    if (fd < 0) {
        return errno == ENOENT
                   ? refuse_secret(
                         reason, SAP_NOTFOUND,
                         "there are no secrets: %s does not exist. Make it with mode 0600 and "
                         "{\"NAME\":{\"value\":\"...\",\"hosts\":[\"api.example.com\"]}}",
                         path)
                   : refuse_secret(reason, SAP_IO, "%s: %s", path, strerror(errno));
    }
    int rc = check_file(fd, path, &size, reason);
    rc = rc == SAP_OK ? read_bytes(fd, path, size, out, reason) : rc;
    (void)close(fd);
    return rc;
}

/* ---- What is in it --------------------------------------------------------------------------- */

/* Whether an entry of "hosts" names where `url` points. */
static bool host_matches(const char *entry, const Url *url)
{
    static const char plain[] = "http://";
    char host[GUARD_HOST_MAX + 1];
    uint16_t port = url->port;
    bool tls = true;
    if (strncasecmp(entry, plain, sizeof plain - 1) == 0) {
        entry += sizeof plain - 1;
        tls = false;
    }
    if (tls != url->tls) {
        return false;
    }
    return strcasecmp(entry, url->host) == 0 ||
           (guard_read_place(entry, host, &port) && port == url->port &&
            strcasecmp(host, url->host) == 0);
}

static bool may_go_to(const json_t *hosts, const Url *url)
{
    for (size_t i = 0; i < json_array_size(hosts); i++) {
        const char *entry = json_string_value(json_array_get(hosts, i));
        if (entry != NULL && host_matches(entry, url)) {
            return true;
        }
    }
    return false;
}

static int take_secret(const json_t *root, const char *path, const char *name, const Url *url,
                       Buf *value_out, char *reason)
{
    const json_t *entry = json_object_get(root, name);
    const json_t *value = json_object_get(entry, "value");
    const json_t *hosts = json_object_get(entry, "hosts");
    char origin[URL_ORIGIN_MAX];
    size_t len = json_string_length(value);
    if (!json_is_object(root)) {
        return refuse_secret(reason, SAP_INVALID, "%s: is not a JSON object of secrets", path);
    }
    if (entry == NULL) {
        return refuse_secret(reason, SAP_NOTFOUND, "%s has no secret of the name \"%.128s\"", path,
                             name);
    }
    if (len == 0 || len > SECRET_VALUE_MAX || !json_is_array(hosts)) {
        return refuse_secret(
            reason, SAP_INVALID,
            "%s: the secret \"%.128s\" must be {\"value\":\"...\",\"hosts\":[\"HOST\"]}", path,
            name);
    }
    if (!may_go_to(hosts, url)) {
        url_origin(url, origin);
        return refuse_secret(reason, SAP_FENCED,
                             "the secret \"%.128s\" may not go to %s: add %s%s to its hosts in %s",
                             name, origin, url->tls ? "" : "http://", url->host, path);
    }
    return buf_append(value_out, json_string_value(value), len);
}

static int get_from_file(void *ctx, const char *name, const Url *url, Buf *value_out, char *reason)
{
    const char *path = (const char *)ctx;
    char why[JSON_REASON_MAX];
    Buf bytes = {0};
    json_t *root = NULL;
    int rc = read_file(path, &bytes, reason);
    if (rc == SAP_OK) {
        rc = outbound_json_load(bytes.data, bytes.len, &root, why);
        if (rc == SAP_OK) {
            rc = take_secret(root, path, name, url, value_out, reason);
        } else if (rc == SAP_INVALID) {
            rc = refuse_secret(reason, SAP_INVALID, "%s: is not JSON: %s", path, why);
        }
    }
    json_decref(root);
    secret_wipe(&bytes);
    return rc;
}

SecretSource secrets_file_source(const char *path)
{
    return (SecretSource){get_from_file, (void *)(uintptr_t)path};
}
