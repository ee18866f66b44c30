#include "diff.h"

#include <stdio.h>
#include <stdlib.h>

/* Two types of one name, or two rows of one table. */
typedef struct Pair {
    const Schema *old_schema;
    const Schema *new_schema;
    Type *old;
    Type *new;
    bool key; /* of a table, and not frozen */
} Pair;

static Diff diff;

static void add(Break found)
{
    diff.breaks = take_more(diff.breaks, diff.count, sizeof *diff.breaks);
    diff.breaks[diff.count++] = found;
}

static const char *part_name(const Type *type)
{
    return type->kind == TYPE_RECORD ? "field" : type->kind == TYPE_FLAGS ? "flag" : "case";
}

static void add_type(const Pair *pair, const char *kind, unsigned whom, const char *text)
{
    add((Break){pair->new->at, kind, pair->new->title, NULL, NULL, text, whom});
}

/* `type` is the one whose member it is. */
static void add_member(const Type *type, const Member *member, const char *kind, unsigned whom,
                       const char *text)
{
    add((Break){member->at, kind, type->title, member->name, part_name(type), text, whom});
}

/* --- bytes ------------------------------------------------------------------------------------ */

/* Whether both have the same bytes. Of two types of one name that is not asked: what is different
 * is told where they are declared. With `all`, it is asked of these two nevertheless. */
static bool same_bytes(Type *a, Type *b, bool all)
{
    a = real_type(a);
    b = real_type(b);
    if (a == NULL || b == NULL) {
        return a == b;
    }
    if (a->kind != b->kind) {
        return false;
    }
    if (type_is_named(a) && !all && strcmp(a->name, b->name) == 0) {
        return true;
    }
    bool magic = a->magic != NULL && b->magic != NULL ? strcmp(a->magic, b->magic) == 0
                                                      : a->magic == b->magic;
    if (a->member_count != b->member_count || a->frozen != b->frozen || !magic) {
        return false;
    }
    for (size_t i = 0; i < a->member_count; i++) {
        const Member *x = &a->members[i];
        const Member *y = &b->members[i];
        if (type_is_named(a) && strcmp(x->name, y->name) != 0) {
            return false;
        }
        if (x->rest != y->rest || x->big_endian != y->big_endian ||
            !same_bytes(x->type, y->type, false)) {
            return false;
        }
    }
    return true;
}

static bool uses(Type *type, const char *name)
{
    for (size_t i = 0; i < type->member_count; i++) {
        Type *of = real_type(type->members[i].type);
        if (of == NULL) {
            continue;
        }
        if (type_is_named(of) ? strcmp(of->name, name) == 0 : uses(of, name)) {
            return true;
        }
    }
    return false;
}

/* A type that has `name` as a part; NULL: it stands alone. */
static const Type *user_of(const Schema *schema, const char *name)
{
    for (size_t i = 0; i < schema->type_count; i++) {
        Type *type = schema->types[i];
        Type *holder = type->kind == TYPE_ALIAS ? type->target : type;
        if (holder->kind != TYPE_NAME && uses(holder, name)) {
            return type;
        }
    }
    return NULL;
}

/* --- members ---------------------------------------------------------------------------------- */

static size_t index_of(const Type *type, const char *name)
{
    const Member *member = find_member(type, name);

    return member == NULL ? type->member_count : (size_t)(member - type->members);
}

static bool has(const Type *type, const char *name)
{
    return find_member(type, name) != NULL;
}

/* Whether member i of one became member i of the other by a new name alone. */
static bool renamed(const Pair *pair, size_t i)
{
    const Type *old = pair->old;
    const Type *new = pair->new;

    return i < old->member_count && i < new->member_count && !has(new, old->members[i].name) &&
           !has(old, new->members[i].name) &&
           same_bytes(old->members[i].type, new->members[i].type, false);
}

/* Whether from member `first` of `type` on none is in `other`. */
static bool tail_alone(const Type *type, const Type *other, size_t first)
{
    for (size_t i = first; i < type->member_count; i++) {
        if (has(other, type->members[i].name)) {
            return false;
        }
    }
    return first >= other->member_count;
}

static void appended_field(const Pair *pair, const Member *member)
{
    const Type *user = user_of(pair->new_schema, pair->new->name);
    bool option = real_type(member->type)->kind == TYPE_OPTION;

    if (user == NULL) {
        user = user_of(pair->old_schema, pair->new->name);
    }
    if (pair->key) {
        add_member(pair->new, member, "key-changed", FOR_ALL,
                   "appended to a key: keys do not grow");
    } else if (pair->new->frozen) {
        add_member(pair->new, member, "frozen-changed", FOR_ALL,
                   "appended to a frozen record, which does not grow");
    } else if (user != NULL) {
        add_member(pair->new, member, "nested-grew", FOR_ALL,
                   take_printf("appended to a part of %s: only records that stand alone grow",
                               user->title));
    } else if (!option) {
        add_member(pair->new, member, "required-appended", FOR_NEW | FOR_ROWS,
                   take_printf("appended as %s: only an option can be missing in what was written "
                               "before",
                               type_text(member->type)));
    }
}

static void appended_case(const Pair *pair, const Member *member)
{
    add_member(pair->new, member, "case-appended", FOR_OLD,
               take_printf("appended: old readers know no such %s", part_name(pair->new)));
}

static void compare_added(const Pair *pair, size_t i)
{
    const Member *member = &pair->new->members[i];

    if (!tail_alone(pair->new, pair->old, i)) {
        add_member(pair->new, member, "inserted", FOR_ALL,
                   take_printf("inserted: what follows it has other %s",
                               pair->new->kind == TYPE_RECORD ? "places" : "numbers"));
    } else if (pair->new->kind == TYPE_RECORD) {
        appended_field(pair, member);
    } else {
        appended_case(pair, member);
    }
}

static void compare_removed(const Pair *pair, size_t i)
{
    const Member *member = &pair->old->members[i];
    bool tail = tail_alone(pair->old, pair->new, i);
    bool stands = pair->old->kind == TYPE_RECORD && !pair->old->frozen && !pair->key &&
                  user_of(pair->old_schema, pair->old->name) == NULL;

    if (tail && stands) {
        /* New readers ignore what is behind the fields they know; old ones miss all but options. */
        add_member(pair->old, member, "removed",
                   FOR_ROWS | (i < growth_start(pair->old) ? FOR_OLD : 0),
                   "removed: what rows have of it is lost when they are written again");
    } else if (tail && pair->old->kind != TYPE_RECORD) {
        add_member(pair->old, member, "removed", FOR_NEW | FOR_ROWS,
                   take_printf("removed: new readers know no such %s", part_name(pair->old)));
    } else {
        add_member(pair->old, member, "removed", FOR_ALL, "removed");
    }
}

/* Members that both have, in another order: only the first is told. */
static void compare_order(const Pair *pair)
{
    size_t at = 0;

    for (size_t i = 0; i < pair->old->member_count; i++) {
        if (!has(pair->new, pair->old->members[i].name)) {
            continue;
        }
        while (!has(pair->old, pair->new->members[at].name)) {
            at++;
        }
        const Member *member = &pair->new->members[at++];
        if (strcmp(member->name, pair->old->members[i].name) != 0) {
            add_member(pair->new, member, "moved", FOR_ALL,
                       take_printf("moved: it was number %zu, and '%s' stood here",
                                   index_of(pair->old, member->name), pair->old->members[i].name));
            return;
        }
    }
}

/* --- refinements ------------------------------------------------------------------------------ */

static const char *one_spaced(const char *text)
{
    char *copy = take_text(text, strlen(text));
    char *to = copy;

    for (const char *p = text; *p != '\0'; p++) {
        if (*p != ' ' && *p != '\t') {
            *to++ = *p;
        } else if (to > copy && to[-1] != ' ') {
            *to++ = ' ';
        }
    }
    *to = '\0';
    return copy;
}

static bool stated(const Refinement *list, const char *text)
{
    for (; list != NULL; list = list->next) {
        if (strcmp(one_spaced(list->text), one_spaced(text)) == 0) {
            return true;
        }
    }
    return false;
}

/* The refinements of `list` that `other` does not have; *count_out how many. */
static const Refinement *only_in(const Refinement *list, const Refinement *other, size_t *count_out)
{
    const Refinement *first = NULL;

    *count_out = 0;
    for (; list != NULL; list = list->next) {
        if (!stated(other, list->text)) {
            first = first == NULL ? list : first;
            ++*count_out;
        }
    }
    return first;
}

/* Of all refinements in one place: FOR_OLD and FOR_NEW as diff_refinements() says. */
static unsigned judge_refinements(const Member *field, const Refinement *old, const Refinement *new)
{
    size_t gone;
    size_t come;
    const Refinement *old_one = only_in(old, new, &gone);
    const Refinement *new_one = only_in(new, old, &come);

    if (gone == 1 && come == 1) {
        return diff_refinements(field, old_one, new_one);
    }
    return (gone > 0 ? FOR_OLD : 0) | (come > 0 ? FOR_NEW : 0);
}

/* The same of two types of the same bytes, where one is put in the place of the other. What two types
 * of one name have is told where they are declared; with `all`, it is asked of these two nevertheless. */
static unsigned judge_types(Type *old, Type *new, bool all)
{
    old = real_type(old);
    new = real_type(new);
    if (old == NULL || (type_is_named(old) && !all && strcmp(old->name, new->name) == 0)) {
        return 0;
    }
    unsigned whom = judge_refinements(NULL, old->refinements, new->refinements);
    for (size_t i = 0; i < old->member_count; i++) {
        const Member *was = &old->members[i];
        const Member *is = &new->members[i];
        whom |= judge_refinements(is, was->refinements, is->refinements);
        whom |= judge_types(was->type, is->type, false);
    }
    return whom;
}

static const char *refinement_kind(unsigned whom)
{
    return whom == FOR_OLD   ? "refinement-loosened"
           : whom == FOR_NEW ? "refinement-tightened"
                             : "refinement-changed";
}

/* What new readers refuse is refused in rows too. */
static unsigned with_rows(unsigned whom)
{
    return whom | ((whom & FOR_NEW) != 0 ? FOR_ROWS : 0);
}

static void compare_refinements(const Pair *pair, const Member *field, const Refinement *old,
                                const Refinement *new)
{
    Break found = {field == NULL ? pair->new->at : field->at,
                   "refinement-changed",
                   pair->new->title,
                   field == NULL ? NULL : field->name,
                   "field",
                   NULL,
                   0};
    size_t gone;
    size_t come;
    const Refinement *old_one = only_in(old, new, &gone);
    const Refinement *new_one = only_in(new, old, &come);

    if (gone == 1 && come == 1) {
        unsigned whom = diff_refinements(field, old_one, new_one);
        found.at = new_one->at;
        found.kind = refinement_kind(whom);
        found.text = take_printf("must hold: %s; it was: %s", new_one->text, old_one->text);
        found.whom = with_rows(whom);
        if (found.whom != 0) {
            add(found);
        }
        return;
    }
    for (const Refinement *r = new; r != NULL; r = r->next) {
        if (!stated(old, r->text)) {
            found.at = r->at;
            found.kind = "refinement-added";
            found.whom = FOR_NEW | FOR_ROWS;
            found.text = take_printf("must hold now: %s", r->text);
            add(found);
        }
    }
    for (const Refinement *r = old; r != NULL; r = r->next) {
        if (!stated(new, r->text)) {
            found.at = r->at;
            found.kind = "refinement-removed";
            found.whom = FOR_OLD;
            found.text = take_printf("need not hold any more: %s", r->text);
            add(found);
        }
    }
}

/* --- types ------------------------------------------------------------------------------------ */

/* A member of the same bytes whose type is another one: that may demand more of them, or less. */
static void compare_demands(const Pair *pair, const Member *old, const Member *new)
{
    unsigned whom = judge_types(old->type, new->type, false);

    if (whom != 0) {
        add_member(pair->new, new, refinement_kind(whom), with_rows(whom),
                   take_printf("was %s, is %s: the same bytes, but other refinements",
                               type_text(real_type(old->type)), type_text(real_type(new->type))));
    }
}

static void compare_member(const Pair *pair, const Member *old, const Member *new)
{
    if (!same_bytes(old->type, new->type, false)) {
        const char *was = old->type == NULL ? "without payload" : type_text(old->type);
        const char *is = new->type == NULL ? "without payload" : type_text(new->type);
        add_member(pair->new, new, pair->key ? "key-changed" : "type-changed", FOR_ALL,
                   take_printf("was %s, is %s", was, is));
    } else if (old->rest != new->rest) {
        add_member(pair->new, new, "frozen-changed", FOR_ALL,
                   new->rest ? "has no length any more: @rest" : "has a length now: it was @rest");
    } else if (old->big_endian != new->big_endian) {
        add_member(pair->new, new, "frozen-changed", FOR_ALL,
                   new->big_endian ? "is big-endian now" : "is little-endian now");
    } else {
        compare_demands(pair, old, new);
    }
    compare_refinements(pair, new, old->refinements, new->refinements);
}

static void compare_members(const Pair *pair)
{
    const Type *old = pair->old;
    const Type *new = pair->new;

    compare_order(pair);
    for (size_t i = 0; i < old->member_count; i++) {
        const Member *now = find_member(new, old->members[i].name);
        if (now != NULL) {
            compare_member(pair, &old->members[i], now);
        } else if (renamed(pair, i)) {
            add_member(new, &new->members[i], "renamed", FOR_OLD | FOR_NEW,
                       take_printf("was called '%s': the same bytes, but other JSON",
                                   old->members[i].name));
            compare_demands(pair, &old->members[i], &new->members[i]);
            compare_refinements(pair, &new->members[i], old->members[i].refinements,
                                new->members[i].refinements);
        } else {
            compare_removed(pair, i);
        }
    }
    for (size_t i = 0; i < new->member_count; i++) {
        if (!has(old, new->members[i].name) && !renamed(pair, i)) {
            compare_added(pair, i);
        }
    }
}

static void compare_width(const Pair *pair)
{
    bool flags = pair->new->kind == TYPE_FLAGS;
    unsigned was = flags ? flag_bytes(pair->old) : tag_bytes(pair->old);
    unsigned is = flags ? flag_bytes(pair->new) : tag_bytes(pair->new);

    if (was != is) {
        add_type(pair, "width-changed", FOR_ALL,
                 take_printf("its %s %u bytes now, had %u",
                             flags ? "flags have" : "case numbers have", is, was));
    }
}

static void compare_types(const Pair *pair)
{
    const Type *old = pair->old;
    const Type *new = pair->new;

    if (old->kind != new->kind) {
        add_type(pair, "kind-changed", FOR_ALL,
                 take_printf("was %s, is %s", kind_text(old), kind_text(new)));
        return;
    }
    if (old->kind != TYPE_RECORD) {
        compare_width(pair);
        compare_members(pair);
        return;
    }
    if (old->frozen != new->frozen) {
        add_type(pair, "frozen-changed", FOR_ALL,
                 new->frozen ? "is @frozen now: its bytes have no version any more"
                             : "is not @frozen any more: its bytes have a version now");
        return;
    }
    const char *was = old->magic == NULL ? "" : old->magic;
    const char *is = new->magic == NULL ? "" : new->magic;
    if (strcmp(was, is) != 0) {
        add_type(pair, "frozen-changed", FOR_ALL,
                 take_printf("begins with \"%s\" now, not with \"%s\"", is, was));
    }
    compare_members(pair);
    compare_refinements(pair, NULL, old->refinements, new->refinements);
}

/* --- tables and packages ---------------------------------------------------------------------- */

static const Table *table_named(const Schema *schema, const char *name)
{
    for (size_t i = 0; i < schema->table_count; i++) {
        if (strcmp(schema->tables[i].name, name) == 0) {
            return &schema->tables[i];
        }
    }
    return NULL;
}

static const Table *table_numbered(const Schema *schema, uint32_t dbi)
{
    for (size_t i = 0; i < schema->table_count; i++) {
        if (schema->tables[i].dbi == dbi) {
            return &schema->tables[i];
        }
    }
    return NULL;
}

static bool is_row(const Schema *schema, const Type *type)
{
    for (size_t i = 0; i < schema->table_count; i++) {
        if (schema->tables[i].key == type || schema->tables[i].value == type) {
            return true;
        }
    }
    return false;
}

static void add_table(const Table *table, Place at, const char *kind, unsigned whom,
                      const char *text)
{
    add((Break){at, kind, take_printf("table %s", table->name), NULL, NULL, text, whom});
}

static void compare_table(const Schema *old_schema, const Schema *new_schema, const Table *old)
{
    const Table *new = table_named(new_schema, old->name);
    const Table *instead = table_numbered(new_schema, old->dbi);

    if (new == NULL && instead == NULL) {
        add_table(old, old->key->at, "table-removed", FOR_ROWS,
                  take_printf("removed: rows in table %u are left behind", old->dbi));
        return;
    }
    if (new == NULL) {
        add_table(old, instead->key->at, "table-replaced", FOR_ALL,
                  take_printf("its number %u belongs to table %s now", old->dbi, instead->name));
        return;
    }
    if (new->dbi != old->dbi) {
        add_table(old, new->key->at, "table-renumbered", FOR_ALL,
                  take_printf("was number %u, is %u", old->dbi, new->dbi));
    }
    compare_types(&(Pair){old_schema, new_schema, old->key, new->key, !old->key->frozen});
    compare_types(&(Pair){old_schema, new_schema, old->value, new->value, false});
}

/* The new type that a type that is gone became by another name; NULL: none. */
static Type *heir_of(const Schema *old_schema, const Schema *new_schema, Type *type)
{
    Type *heir = NULL;

    for (size_t i = 0; i < new_schema->type_count; i++) {
        Type *other = new_schema->types[i];
        if (find_type(old_schema, other->name) != NULL || !same_bytes(type, other, true)) {
            continue;
        }
        if (heir == NULL || judge_types(type, other, true) == 0) {
            heir = other;
        }
    }
    return heir;
}

/* A type that goes on by another name, or as an alias of another. Where it is part of something, its
 * refinements are told there. */
static void compare_heir(const Schema *new_schema, Type *old, Type *heir)
{
    const Type *real = real_type(heir);
    unsigned whom = judge_types(old, heir, true);

    if (whom != 0 && user_of(new_schema, real->name) == NULL) {
        add((Break){heir->at, refinement_kind(whom), heir->title, NULL, NULL,
                    take_printf("was %s: the same bytes, but other refinements", old->title),
                    with_rows(whom)});
    }
}

static void compare_package(const Schema *old, const Schema *new)
{
    const char *what = take_printf("package %s", new->package);

    if (old->major != new->major) {
        add((Break){new->at, "major-changed", what, NULL, NULL,
                    take_printf("major version %u became %u: the first byte of every value that is "
                                "not frozen",
                                old->major, new->major),
                    FOR_ALL});
    } else if (new->minor < old->minor) {
        add((Break){
            new->at, "version-back", what, NULL, NULL,
            take_printf("version %u.%u went back to %u.%u: files with its marker are refused",
                        old->major, old->minor, new->major, new->minor),
            FOR_ROWS});
    }
    for (size_t i = 0; i < old->table_count; i++) {
        compare_table(old, new, &old->tables[i]);
    }
    for (size_t i = 0; i < old->type_count; i++) {
        Type *type = old->types[i];
        Type *now = find_type(new, type->name);
        if (type->kind == TYPE_ALIAS || is_row(old, type) || (now != NULL && is_row(new, now))) {
            continue;
        }
        if (now != NULL && now->kind != TYPE_ALIAS) {
            compare_types(&(Pair){old, new, type, now, false});
            continue;
        }
        Type *heir = now == NULL                   ? heir_of(old, new, type)
                     : same_bytes(type, now, true) ? now
                                                   : NULL;
        if (heir != NULL) {
            compare_heir(new, type, heir);
        } else {
            add((Break){now == NULL ? type->at : now->at,
                        now == NULL ? "type-removed" : "kind-changed", type->title, NULL, NULL,
                        now == NULL ? "removed"
                                    : take_printf("is an alias of %s now", type_text(now->target)),
                        FOR_NEW | FOR_ROWS});
        }
    }
}

static int by_place(const void *a, const void *b)
{
    const Break *x = a;
    const Break *y = b;
    int order = place_order(x->at, y->at);

    return order != 0 ? order : strcmp(x->text, y->text);
}

Diff diff_schemas(Schema *const *old, size_t old_count, Schema *const *new, size_t new_count)
{
    diff = (Diff){NULL, 0};
    for (size_t i = 0; i < old_count; i++) {
        const Schema *now = NULL;
        for (size_t j = 0; j < new_count; j++) {
            if (strcmp(old[i]->package, new[j]->package) == 0) {
                now = new[j];
            }
        }
        if (now != NULL) {
            compare_package(old[i], now);
        } else {
            add((Break){old[i]->at, "package-removed", take_printf("package %s", old[i]->package),
                        NULL, NULL, "removed, with all its types and tables", FOR_NEW | FOR_ROWS});
        }
    }
    if (diff.count > 0) {
        qsort(diff.breaks, diff.count, sizeof *diff.breaks, by_place);
    }
    return diff;
}
