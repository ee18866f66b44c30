/* config_show.c - `sapling config show`, and the configuration of a command. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli/node.h"
#include "sapling/error.h"
#include "store/pg_url.h"

#define OWN_FILE     "./sapling-node.conf"
#define MACHINE_FILE "/etc/sapling-node.conf"

enum { MOST_VALUES = 256 };

static int refuse_config(const Call *call, const Config *config, int rc)
{
    const char *hint = config_hint(config);
    return rc == SAP_NOMEM ? ui_no_memory(call->ui)
                           : ui_fail(call->ui, EXIT_USAGE, hint[0] != '\0' ? hint : NULL, "%s",
                                     config_message(config));
}

/* All values that were given for the key as flags. */
static int set_flags(const Call *call, Config *config, ConfigKey key)
{
    const char *values[MOST_VALUES];
    char origin[64] = "--";
    size_t count = 0;
    for (uint32_t i = 0; i < call->given_count; i++) {
        if (call->given[i].id == OPTION_NODE(key) && count < MOST_VALUES) {
            values[count++] = call->given[i].value;
        }
    }
    (void)strncat(origin, config_info(key)->name, sizeof origin - 3);
    return count > 0 ? config_set(config, key, values, count, origin) : SAP_OK;
}

int node_config(const Call *call, Config **config_out)
{
    const char *given = call_value(call, OPTION_CONFIG);
    Config *config = NULL;
    int rc = config_new(&config);
    if (rc != SAP_OK) {
        return ui_no_memory(call->ui);
    }
    rc = config_read_file(config, MACHINE_FILE);
    rc = rc == SAP_NOTFOUND ? SAP_OK : rc;
    if (rc == SAP_OK) {
        rc = config_read_file(config, given != NULL ? given : OWN_FILE);
    }
    if (rc == SAP_NOTFOUND && given != NULL) {
        config_free(config);
        return ui_fail(call->ui, EXIT_NOT_FOUND, NULL, "%s: there is no such file", given);
    }
    rc = rc == SAP_NOTFOUND ? SAP_OK : rc;
    rc = rc == SAP_OK ? config_read_environment(config, (const char *const *)environ) : rc;
    for (int key = 0; rc == SAP_OK && key < CONFIG_COUNT; key++) {
        rc = set_flags(call, config, (ConfigKey)key);
    }
    if (rc != SAP_OK) {
        int code = refuse_config(call, config, rc);
        config_free(config);
        return code;
    }
    *config_out = config;
    return EXIT_DONE;
}

/* ---- Showing --------------------------------------------------------------------------------- */

/* Lists with commas between; of a URL no password. */
static int append_value(const Config *config, ConfigKey key, Buf *text)
{
    char shown[PG_SHOWN_MAX];
    int rc = SAP_OK;
    if (config_info(key)->type == CONFIG_TYPE_LIST) {
        size_t count = 0;
        const char *const *values = config_list(config, key, &count);
        for (size_t i = 0; rc == SAP_OK && i < count; i++) {
            rc = buf_printf(text, "%s%s", i > 0 ? "," : "", values[i]);
        }
        return rc;
    }
    const char *value = config_text(config, key);
    if (key == CONFIG_STORE && value[0] != '\0') {
        store_url_show(value, shown, sizeof shown);
        value = shown;
    }
    return buf_append_str(text, value);
}

static int show_key(const Call *call, const Config *config, ConfigKey key)
{
    Buf text = {0};
    int code = EXIT_DONE;
    int rc = append_value(config, key, &text);
    rc = rc == SAP_OK ? buf_append(&text, "", 1) : rc;
    const char *value = (const char *)text.data;
    if (rc != SAP_OK) {
        code = ui_no_memory(call->ui);
    } else if (call->ui->json) {
        code = ui_object(call->ui, json_pack("{s:s, s:o, s:o}", "name", config_info(key)->name,
                                             "value", json_text(value), "origin",
                                             json_text(config_origin(config, key))));
    } else {
        (void)printf("%-15s %-26s %s\n", config_info(key)->name, value[0] != '\0' ? value : "-",
                     config_origin(config, key));
    }
    buf_release(&text);
    return code;
}

int config_show_verb(const Call *call)
{
    Config *config = NULL;
    int code = node_config(call, &config);
    for (int key = 0; code == EXIT_DONE && key < CONFIG_COUNT; key++) {
        code = show_key(call, config, (ConfigKey)key);
    }
    config_free(config);
    return code;
}
