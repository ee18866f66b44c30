/* api_list.c - see api_list.h. */
#include "node/api_list.h"

#include <string.h>

enum { LIMIT_DEFAULT = 100, LIMIT_MOST = 1000 };

bool page_begin(Call *call, Page *page)
{
    uint64_t limit = 0;
    *page = (Page){.call = call, .query = {.size = sizeof page->query}};
    if (!call_query_u64(call, "limit", LIMIT_MOST, LIMIT_DEFAULT, &limit)) {
        return false;
    }
    page->query.limit = (uint32_t)(limit == 0 ? LIMIT_DEFAULT : limit);
    page->query.after = call_query(call, "after");
    page->query.prefix = call_query(call, "prefix");
    page->query.world = call_query(call, "world");
    page->query.kind = call_query(call, "kind");
    page->query.module = call_query(call, "module");
    page->query.tag = call_query(call, "tag");
    page->items = json_array();
    return page->items != NULL || call_fail_code(call, SAP_NOMEM, "list");
}

int page_add(Page *page, json_t *item)
{
    return json_array_append_new(page->items, item) == 0 ? SAP_OK : SAP_NOMEM;
}

void list_answer(Call *call, json_t *items, json_t *next)
{
    json_t *answer = items == NULL ? NULL : json_pack("{s:o}", "items", items);
    if (answer != NULL && next != NULL && json_object_set_new(answer, "next", next) != 0) {
        json_decref(answer);
        answer = NULL;
    }
    call_answer(call, 200, answer);
}

void page_answer(Page *page, int rc)
{
    Call *call = page->call;
    if (rc == SAP_INVALID || rc == SAP_ERROR) {
        (void)call_fail(
            call, API_BAD_REQUEST,
            "a parameter of the list is not valid: \"after\" is the \"next\" of the page "
            "before, names are UTF-8 of up to %u bytes",
            SAP_WORLD_MAX_NAME);
    } else if (rc != SAP_OK) {
        (void)call_fail_code(call, rc, "list");
    } else {
        list_answer(call, page->items, page->end.more ? json_string(page->end.next) : NULL);
        page->items = NULL;
    }
    page_release(page);
}

void page_release(Page *page)
{
    json_decref(page->items);
    page->items = NULL;
}
