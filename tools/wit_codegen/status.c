/* status.c - whether the tables that code opens are those that the schema calls active.
 *
 * Code names a table by its constant WIT_DBI_NAME; a table is open to code if some file under the
 * directory names it. */
#include "emit.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static bool names(const char *text, const char *word)
{
    size_t len = strlen(word);

    for (const char *p = strstr(text, word); p != NULL; p = strstr(p + 1, word)) {
        if ((p == text || !is_word(p[-1])) && !is_word(p[len])) {
            return true;
        }
    }
    return false;
}

static bool is_source(const char *name)
{
    size_t len = strlen(name);

    return len > 2 && name[len - 2] == '.' && (name[len - 1] == 'c' || name[len - 1] == 'h');
}

static bool named_under(const char *directory, const char *word)
{
    DIR *dir = opendir(directory);
    bool found = false;

    if (dir == NULL) {
        die("cannot open the directory %s", directory);
    }
    for (const struct dirent *entry = readdir(dir); entry != NULL && !found; entry = readdir(dir)) {
        const char *path = take_printf("%s/%s", directory, entry->d_name);
        if (entry->d_name[0] == '.') {
            continue;
        }
        if (entry->d_type == DT_DIR) {
            found = named_under(path, word);
        } else if (is_source(entry->d_name)) {
            size_t len;
            const char *text = read_text(path, &len);
            if (text == NULL) {
                die("cannot read %s: %s", path, strerror(errno));
            }
            found = names(text, word);
        }
    }
    closedir(dir);
    return found;
}

void check_status(Schema *schema, const char *directory)
{
    for (size_t i = 0; i < schema->table_count; i++) {
        const Table *table = &schema->tables[i];
        const char *word = take_printf("WIT_DBI_%s", upper(table->name));
        bool active = table->key->status != NULL && strcmp(table->key->status, "active") == 0;
        bool used = named_under(directory, word);
        if (active && !used) {
            mistake(table->key->at, "table %s is @status(active), but nothing in %s names %s",
                    table->name, directory, word);
        } else if (!active && used) {
            mistake(table->key->at, "code in %s names %s, but table %s is not @status(active)",
                    directory, word, table->name);
        }
    }
}
