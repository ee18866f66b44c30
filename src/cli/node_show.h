/* node_show.h - what a node answered, for people and as JSON.
 *
 * A Field says where something is in an item and how people read it. Lists of fields make tables, one item a
 * line, and descriptions, one field a line. With --json items go out as they came, one a line.
 *
 * What an item lacks, or has in another form, is shown as "-": an answer is somebody else's. Texts
 * are shown so that a terminal acts on none of their bytes. */
#ifndef SAPLING_CLI_NODE_SHOW_H
#define SAPLING_CLI_NODE_SHOW_H

#include "cli/node_client.h"

typedef enum FieldKind {
    FIELD_TEXT,   /* also numbers, and yes or no */
    FIELD_COUNT,  /* to the right; "10,000+" where a `capped` beside it says so */
    FIELD_NUMBER, /* "-" for 0, which is none, or the default */
    FIELD_AGE,    /* milliseconds: "3s"; "-" for 0 */
    FIELD_SINCE,  /* milliseconds since 1970: how long ago */
    FIELD_HASH,   /* its beginning, in tables */
    FIELD_VALUE,  /* any JSON; its beginning, in tables */
    FIELD_NAMES,  /* a list of texts, or of objects with name and version */
    FIELD_PAIRS,  /* an object: "k=v, k=v" */
} FieldKind;

typedef struct Field {
    const char *head;   /* what it is called; NULL ends a list */
    const char *member; /* of the item: "inbox.age_ms" is one of an object in it */
    FieldKind kind;
} Field;

/* Milliseconds as people say it: "0.4s", "3s", "2m", "5h", "4d". Answers `text`. */
const char *show_age(int64_t ms, char text[UI_TEXT]);

/* The member at the end of a path of names with dots; NULL: there is none. */
json_t *show_member(const json_t *item, const char *path);
/* The text of a member, or `otherwise`. */
const char *show_text(const json_t *item, const char *path, const char *otherwise);

/* Prints a value as a line of JSON on standard output. EXIT_DONE, or what went wrong. */
int show_line(const Ui *ui, const json_t *value);

/* Prints the fields of an item, one a line: "NAME  VALUE"; with --json the item. */
int show_item(const Ui *ui, const json_t *item, const Field *fields);

/* The rows of a table, whose columns are as wide as the widest of them; all zero but the first two. */
typedef struct Table {
    const Ui *ui;
    const Field *fields;
    Buf cells; /* one after another, each ended by NUL */
    size_t widths[12];
    bool headed;
} Table;
/* SAP_OK or SAP_NOMEM. */
int table_add(Table *table, const json_t *item);
/* Prints the rows and forgets them; before the first the names of the columns. EXIT_DONE, or what went wrong. */
int table_print(Table *table);
void table_release(Table *table);

/* Called for each item of a list. EXIT_DONE: go on. */
typedef int (*show_fn)(void *ctx, json_t *item);
/* All items of a list of the node, page by page, at most `limit` (0: all). A path whose list has no pages
 * begins with SHOW_WHOLE. Takes ownership of the path. */
#define SHOW_WHOLE "!"
int show_each(NodeClient *client, char *path, uint64_t limit, show_fn fn, void *ctx);

/* A whole command: prints a list of the node, at most --limit items, as a table, with --names the first field
 * of each; where there are none, the note `none`. Takes ownership of the path, which is as show_each() has
 * it. */
int show_list_command(const Call *call, char *path, const Field *fields, const char *none);

#endif
