/* emit_tables.c - the tables of all schemas: C metadata, the manifest, the reference page. */
#include "emit.h"

static const char *field_format(const Type *record, const Member *member)
{
    const Type *type = member->type;
    bool key = record->table_key;

    if (member->rest) {
        return take_printf("%s, all bytes left", member->name);
    }
    if (type_is_integer(type->kind)) {
        const char *order = type_bits(type->kind) == 8  ? ""
                            : key || member->big_endian ? "be"
                                                        : "le";
        return take_printf("%s %s%s%s", member->name, type_text(type), order,
                           key && type_is_signed(type->kind) ? " sign-flipped" : "");
    }
    return take_printf("%s %s%s", member->name, type_text(type),
                       key && (type->kind == TYPE_STRING || type->kind == TYPE_BYTES) ? " escaped"
                                                                                      : "");
}

static const char *row_format(const Schema *schema, const Type *record)
{
    const char *text = record->magic != NULL ? record->magic
                       : record->frozen      ? ""
                       : record->table_key   ? ""
                                             : take_printf("version %u", schema->major);

    for (size_t i = 0; i < record->member_count; i++) {
        text = take_printf("%s%s%s", text, text[0] == '\0' ? "" : "; ",
                           field_format(record, &record->members[i]));
    }
    return text;
}

static const char *status_of(const Table *table)
{
    return table->key->status != NULL ? table->key->status : "planned";
}

void emit_dbis_header(Schema *const *schemas, size_t count, Buf *buf)
{
    out(buf, "/* wit_schema_dbis.h - the tables that the schemas declare.\n *\n"
             " * Generated from schemas/wit by tools/wit_codegen: change the schemas. */\n"
             "#ifndef SAPLING_GENERATED_WIT_SCHEMA_DBIS_H\n"
             "#define SAPLING_GENERATED_WIT_SCHEMA_DBIS_H\n\n"
             "#include <stddef.h>\n#include <stdint.h>\n\nenum {\n");
    for (size_t s = 0; s < count; s++) {
        const Schema *schema = schemas[s];
        for (size_t i = 0; i < schema->table_count; i++) {
            out(buf, "    WIT_DBI_%s = %u,\n", upper(schema->tables[i].name),
                schema->tables[i].dbi);
        }
        const char *package = upper(schema->package);
        out(buf, "    WIT_%s_MAJOR = %u,\n    WIT_%s_MINOR = %u,\n", package, schema->major,
            package, schema->minor);
        if (schema->table_count > 0) {
            out(buf, "    WIT_%s_DBI_BASE = %u,\n    WIT_%s_DBI_COUNT = %zu,\n", package,
                schema->dbi_base, package, schema->table_count);
        }
    }
    out(buf,
        "};\n\n/* All static storage. */\ntypedef struct WitSchemaDbi {\n    uint32_t dbi;\n"
        "    const char *name;\n    const char *key_format;\n    const char *value_format;\n"
        "    const char *owner;\n    const char *status; /* \"active\" or \"planned\" */\n"
        "} WitSchemaDbi;\n\n"
        "/* Of all packages, by number. Those of one package are beside each other: _DBI_COUNT from\n"
        " * number _DBI_BASE on. */\n"
        "extern const WitSchemaDbi wit_schema_dbis[];\n"
        "extern const size_t wit_schema_dbi_count;\n\n#endif\n");
}

void emit_dbis_source(Schema *const *schemas, size_t count, Buf *buf)
{
    out(buf, "/* wit_schema_dbis.c - the tables that the schemas declare.\n *\n"
             " * Generated from schemas/wit by tools/wit_codegen: change the schemas. */\n"
             "#include \"wit_schema_dbis.h\"\n\nconst WitSchemaDbi wit_schema_dbis[] = {\n");
    for (size_t s = 0; s < count; s++) {
        const Schema *schema = schemas[s];
        for (size_t i = 0; i < schema->table_count; i++) {
            const Table *table = &schema->tables[i];
            out(buf, "    {%u, \"%s\",\n     %s,\n     %s,\n     %s, \"%s\"},\n", table->dbi,
                snake(table->name), c_string(row_format(schema, table->key)),
                c_string(row_format(schema, table->value)), c_string(schema->owner),
                status_of(table));
        }
    }
    out(buf, "};\n\nconst size_t wit_schema_dbi_count =\n"
             "    sizeof wit_schema_dbis / sizeof wit_schema_dbis[0];\n");
}

/* A field of CSV: quoted, quotes doubled. */
static void emit_csv(Buf *buf, const char *text, const char *end)
{
    out(buf, "\"");
    for (const char *p = text; *p != '\0'; p++) {
        out(buf, *p == '"' ? "\"\"" : "%c", *p);
    }
    out(buf, "\"%s", end);
}

void emit_manifest(Schema *const *schemas, size_t count, Buf *buf)
{
    out(buf, "dbi,name,key format,value format,owner,status,migration notes\n");
    for (size_t s = 0; s < count; s++) {
        const Schema *schema = schemas[s];
        for (size_t i = 0; i < schema->table_count; i++) {
            const Table *table = &schema->tables[i];
            out(buf, "%u,%s,", table->dbi, snake(table->name));
            emit_csv(buf, row_format(schema, table->key), ",");
            emit_csv(buf, row_format(schema, table->value), ",");
            emit_csv(buf, schema->owner, ",");
            out(buf, "%s,", status_of(table));
            emit_csv(buf, table->key->migration == NULL ? "" : table->key->migration, "\n");
        }
    }
}

static void emit_page_refinements(Buf *buf, const Refinement *refinement)
{
    for (; refinement != NULL; refinement = refinement->next) {
        out(buf, " `%s`", refinement->text);
    }
}

/* The text with a backslash before each character of `special`. */
static const char *escaped(const char *text, const char *special)
{
    Buf buf = {0};

    for (const char *p = text; *p != '\0'; p++) {
        out(&buf, strchr(special, *p) != NULL ? "\\%c" : "%c", *p);
    }
    const char *result = take_text(buf.len == 0 ? "" : (const char *)buf.data, buf.len);
    buf_release(&buf);
    return result;
}

static void emit_page_type(const Type *type, Buf *buf)
{
    out(buf, "### %s %s\n\n", kind_text(type), type->name);
    if (type->doc[0] != '\0') {
        out(buf, "%s\n\n", escaped(type->doc, "<"));
    }
    if (type->kind == TYPE_RECORD) {
        out(buf, type->frozen      ? "Frozen: exactly these bytes"
                 : type->table_key ? "Key: its bytes sort as its fields do"
                                   : "Begins with its major version");
        out(buf, type->magic != NULL ? ", behind `%s`.\n\n" : ".\n\n", type->magic);
    }
    bool typed = type->kind == TYPE_RECORD || type->kind == TYPE_VARIANT;
    out(buf, typed ? "| | name | type | what holds |\n| --- | --- | --- | --- |\n"
                   : "| | name | |\n| --- | --- | --- |\n");
    for (size_t i = 0; i < type->member_count; i++) {
        const Member *member = &type->members[i];
        out(buf, "| %zu | `%s` |", i, member->name);
        if (typed) {
            bool has_type = member->type != NULL;
            out(buf, has_type ? " `%s`%s%s |" : " %s%s%s|", has_type ? member->written : "",
                member->rest ? ", all bytes left" : "", member->big_endian ? ", big-endian" : "");
        }
        Buf holds = {0};
        emit_page_refinements(&holds, member->refinements);
        const char *refined = take_text(holds.len == 0 ? "" : (const char *)holds.data, holds.len);
        buf_release(&holds);
        out(buf, "%s%s%s |\n", escaped(refined, "|"), member->doc[0] != '\0' ? " " : "",
            escaped(member->doc, "|<"));
    }
    if (type->refinements != NULL) {
        out(buf, "\nTogether:");
        emit_page_refinements(buf, type->refinements);
        out(buf, "\n");
    }
    out(buf, "\n");
}

void emit_page(Schema *const *schemas, size_t count, Buf *buf)
{
    out(buf,
        "# Row layouts\n\n"
        "Generated from the schemas in `schemas/wit`: change those. How bytes follow from types is in\n"
        "[the schema language](schema-language.md).\n\n"
        "## Tables\n\n| DBI | name | key | value | owner | status |\n"
        "| --- | --- | --- | --- | --- | --- |\n");
    for (size_t s = 0; s < count; s++) {
        for (size_t i = 0; i < schemas[s]->table_count; i++) {
            const Table *table = &schemas[s]->tables[i];
            out(buf, "| %u | `%s` | %s | %s | %s | %s |\n", table->dbi, snake(table->name),
                escaped(row_format(schemas[s], table->key), "|<"),
                escaped(row_format(schemas[s], table->value), "|<"),
                escaped(schemas[s]->owner, "|<"), status_of(table));
        }
    }
    out(buf, "\n");
    for (size_t s = 0; s < count; s++) {
        const Schema *schema = schemas[s];
        out(buf, "## Package %s, version %u.%u.%u\n\n%s\n\n", schema->package, schema->major,
            schema->minor, schema->patch, escaped(schema->doc, "<"));
        for (size_t i = 0; i < schema->type_count; i++) {
            const Type *type = schema->types[i];
            if (type->kind != TYPE_ALIAS) {
                emit_page_type(type, buf);
            } else {
                out(buf, "### type %s\n\n`%s`. %s\n\n", type->name, type_text(type->target),
                    escaped(type->doc, "<"));
            }
        }
    }
    /* One line end at the end of the file. */
    buf_truncate(buf, buf->len - 1);
}
