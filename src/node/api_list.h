/* api_list.h - pages of lists: ?limit= and ?after=, and the answer {"items": [...], "next": "..."}. */
#ifndef SAPLING_NODE_API_LIST_H
#define SAPLING_NODE_API_LIST_H

#include "node/api_call.h"

/* What the callback of a list of the universe is given as its context. */
typedef struct Page {
    Call *call;
    SapListQuery query;
    SapListEnd end;
    json_t *items;
} Page;

/* Reads what is common to all lists; "world", "prefix", "kind", "module" and "tag" where the route has them. */
bool page_begin(Call *call, Page *page);

/* Takes ownership of `item`; NULL: no memory. */
int page_add(Page *page, json_t *item);

/* Answers with the page, or with what `rc` of the list means; page_release() in any case. */
void page_answer(Page *page, int rc);
void page_release(Page *page);

/* The same of a list that is not of the universe's kind. `next` NULL: it is the end. Takes ownership of both. */
void list_answer(Call *call, json_t *items, json_t *next);

#endif
