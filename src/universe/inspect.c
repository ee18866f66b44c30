/* inspect.c - reading the history of a world, and its state at any step of it. */
#include <string.h>

#include "common/mem.h"
#include "common/options.h"
#include "universe/handler.h"
#include "universe/universe_impl.h"

OPTIONS_LAYOUT(SapStateQuery, after_len, after_len);

enum { ENTRIES_DEFAULT = 100, ENTRIES_MOST = 1000, HANDLERS_ROW = 1 };

/* ---- The journal ----------------------------------------------------------------------------- */

/* One entry as it is shown: arrays and texts of it, used again for the next. */
typedef struct EntryView {
    int (*each)(void *ctx, const SapJournalEntry *entry);
    void *ctx;
    Buf texts;
    Buf changes; /* SapChange */
    Buf intents; /* SapIntent */
    Buf headers; /* SapHeader */
    SapJournalEntry shown;
} EntryView;

/* Texts grow while they are collected: first come their places, then their addresses. */
static int add_text(EntryView *view, const CodecBytes *from)
{
    int rc = buf_append(&view->texts, from->data, from->len);
    return rc == SAP_OK ? buf_append_u8(&view->texts, 0) : rc;
}

static const char *take_text(const char **at)
{
    const char *text = *at;
    *at += strlen(text) + 1;
    return text;
}

static int view_changes(EntryView *view, const WitUniverseListChange *delta)
{
    int rc = SAP_OK;
    for (uint32_t i = 0; rc == SAP_OK && i < delta->count; i++) {
        const WitUniverseChange *from = &delta->items[i];
        bool put = from->value.some && from->value.value.len > 0;
        if (from->key.len == 0 || from->key.data[0] != HANDLERS_ROW) {
            continue;
        }
        SapChange change = {
            .key = from->key.data + 1, .key_len = from->key.len - 1, .put = from->value.some};
        if (put) {
            change.encoding = (SapEncoding)from->value.value.data[0];
            change.val = from->value.value.data + 1;
            change.val_len = from->value.value.len - 1;
        }
        rc = buf_append(&view->changes, &change, sizeof change);
    }
    return rc;
}

static int view_intents(EntryView *view, const WitUniverseListIntent *intents)
{
    int rc = SAP_OK;
    for (uint32_t i = 0; rc == SAP_OK && i < intents->count; i++) {
        const WitUniverseIntent *from = &intents->items[i];
        SapIntent intent = {
            .encoding = (SapEncoding)from->encoding,
            .params = from->params.data,
            .params_len = from->params.len,
            .time_ns = from->time_ns,
            .time_of_day = from->clock == WIT_UNIVERSE_TIMER_CLOCK_DUE,
        };
        memcpy(intent.hash, from->hash.data, sizeof intent.hash);
        rc = add_text(view, &from->kind);
        rc = rc == SAP_OK ? add_text(view, &from->ref) : rc;
        rc = rc == SAP_OK ? buf_append(&view->intents, &intent, sizeof intent) : rc;
    }
    return rc;
}

static int view_texts(EntryView *view, const WitUniverseEntry *entry)
{
    const WitUniverseInboxItem *item = &entry->item.value;
    int rc = add_text(view, &entry->error);
    if (entry->item.some) {
        const CodecBytes *fields[] = {&item->name,       &item->id,          &item->correlation_id,
                                      &item->from_world, &item->reply_to,    &item->ref,
                                      &item->code,       &item->trace_parent};
        for (size_t i = 0; rc == SAP_OK && i < sizeof fields / sizeof fields[0]; i++) {
            rc = add_text(view, fields[i]);
        }
        for (uint32_t i = 0; rc == SAP_OK && i < item->headers.count; i++) {
            rc = add_text(view, &item->headers.items[i].name);
            rc = rc == SAP_OK ? add_text(view, &item->headers.items[i].value) : rc;
        }
        /* Its places are filled when the texts do not move any more. */
        rc = rc == SAP_OK
                 ? buf_reserve(&view->headers, (item->headers.count + 1) * sizeof(SapHeader))
                 : rc;
    }
    return rc;
}

static void show_item(EntryView *view, const WitUniverseEntry *entry, const char **at)
{
    SapJournalEntry *shown = &view->shown;
    SapHeader *headers = (SapHeader *)(void *)view->headers.data;
    const WitUniverseInboxItem *item = &entry->item.value;
    shown->has_item = true;
    shown->payload_is_blob = item->blob.len > 0;
    if (entry->seq.len == sizeof shown->seq) {
        memcpy(shown->seq, entry->seq.data, sizeof shown->seq);
    }
    shown->item = (SapEvent){.kind = handler_event_kind(item->kind),
                             .from_height = item->from_height,
                             .encoding = (SapEncoding)item->encoding,
                             .payload = item->payload.data,
                             .payload_len = item->payload.len,
                             .status = (SapReceiptStatus)item->status,
                             .attempts = item->attempts.count,
                             .header_count = item->headers.count,
                             .headers = headers};
    shown->item.name = take_text(at);
    shown->item.id = take_text(at);
    shown->item.correlation_id = take_text(at);
    shown->item.from_world = take_text(at);
    shown->item.reply_to = take_text(at);
    shown->item.ref = take_text(at);
    shown->item.code = take_text(at);
    shown->item.trace_parent = take_text(at);
    for (uint32_t i = 0; i < item->headers.count; i++) {
        headers[i].name = take_text(at);
        headers[i].value = take_text(at);
    }
}

static int show_entry(void *ctx, uint64_t height, uint64_t epoch, Slice content,
                      const WitUniverseEntry *entry)
{
    EntryView *view = (EntryView *)ctx;
    (void)content;
    buf_clear(&view->texts);
    buf_clear(&view->changes);
    buf_clear(&view->intents);
    buf_clear(&view->headers);
    int rc = view_texts(view, entry);
    rc = rc == SAP_OK ? view_changes(view, &entry->delta) : rc;
    rc = rc == SAP_OK ? view_intents(view, &entry->intents) : rc;
    if (rc != SAP_OK) {
        return rc;
    }
    const char *at = (const char *)view->texts.data;
    SapIntent *intents = (SapIntent *)(void *)view->intents.data;
    view->shown = (SapJournalEntry){
        .height = height,
        .epoch = epoch,
        .time_ns = entry->time_ns,
        .kind = (SapEntryKind)entry->kind,
        .change_count = (uint32_t)(view->changes.len / sizeof(SapChange)),
        .intent_count = (uint32_t)(view->intents.len / sizeof(SapIntent)),
        .changes = (const SapChange *)(void *)view->changes.data,
        .intents = intents,
    };
    memcpy(view->shown.state_sum, entry->state_sum.data, sizeof view->shown.state_sum);
    view->shown.error = take_text(&at);
    if (entry->item.some) {
        show_item(view, entry, &at);
    }
    for (uint32_t i = 0; i < view->shown.intent_count; i++) {
        intents[i].kind = take_text(&at);
        intents[i].ref = take_text(&at);
    }
    return view->each(view->ctx, &view->shown);
}

int sap_journal_read(SapUniverse *universe, const char *world, uint64_t after, uint32_t limit,
                     int (*each)(void *ctx, const SapJournalEntry *entry), void *ctx,
                     uint64_t *height_out)
{
    EntryView view = {.each = each, .ctx = ctx};
    UniverseName name;
    SapWorldInfo info;
    if (universe == NULL || each == NULL || limit > ENTRIES_MOST) {
        return SAP_ERROR;
    }
    int rc = universe_name_set(&name, world);
    rc = rc == SAP_OK ? sap_world_info(universe, world, &info) : rc; /* what is durable */
    if (rc != SAP_OK) {
        return rc;
    }
    limit = limit == 0 ? ENTRIES_DEFAULT : limit;
    if (after < info.height) {
        uint64_t left = info.height - after;
        uint64_t last = after + (left < limit ? left : limit);
        universe_enter(universe);
        rc = journal_read(universe->store, universe->number, &name, after + 1, last, show_entry,
                          &view);
        universe_leave(universe);
    }
    buf_release(&view.texts);
    buf_release(&view.changes);
    buf_release(&view.intents);
    buf_release(&view.headers);
    if (rc == SAP_OK && height_out != NULL) {
        *height_out = info.height;
    }
    return rc;
}

/* ---- The state ------------------------------------------------------------------------------- */

typedef struct StateView {
    SapWorldRow row;
    void *ctx;
    Slice after;
    bool from_first;
    uint32_t limit; /* UINT32_MAX: none */
    bool ended;     /* by the limit */
} StateView;

/* The code with which a scan ends early; the program's own codes are never taken for it. */
enum { SCAN_ENDED = SAP_BUSY };

static bool comes_after(const StateView *view, Slice key)
{
    size_t len = key.len < view->after.len ? key.len : view->after.len;
    int order = len == 0 ? 0 : memcmp(key.data, view->after.data, len);
    return view->from_first || order > 0 || (order == 0 && key.len > view->after.len);
}

static int show_state_row(void *ctx, Slice key, Slice val)
{
    StateView *view = (StateView *)ctx;
    const uint8_t *bytes = (const uint8_t *)val.data;
    Slice own = {(const uint8_t *)key.data + 1, key.len - 1};
    if (!comes_after(view, own)) {
        return SAP_OK;
    }
    if (view->limit == 0) {
        view->ended = true;
        return SCAN_ENDED;
    }
    view->limit -= view->limit != UINT32_MAX;
    return view->row(view->ctx, own.data, own.len, (SapEncoding)bytes[0], bytes + 1, val.len - 1);
}

static int show_state(WorldState *state, const SapStateQuery *query, StateView *view)
{
    Buf prefix = {0};
    int rc = buf_append_u8(&prefix, HANDLERS_ROW);
    rc = rc == SAP_OK ? buf_append(&prefix, query->prefix, query->prefix_len) : rc;
    rc = rc == SAP_OK ? state_scan(state, (Slice){prefix.data, prefix.len}, show_state_row, view)
                      : rc;
    buf_release(&prefix);
    return rc == SCAN_ENDED && view->ended ? SAP_OK : rc;
}

int sap_world_state_read(SapUniverse *universe, const char *world, const SapStateQuery *query,
                         SapWorldRow row, void *ctx, uint64_t *height_out)
{
    SapStateQuery all = {.size = sizeof all};
    UniverseName name;
    JournalView look;
    if (universe == NULL || row == NULL || OPTIONS_READ(SapStateQuery, &all, query) != SAP_OK ||
        (all.prefix == NULL && all.prefix_len > 0)) {
        return SAP_ERROR;
    }
    int rc = universe_name_set(&name, world);
    if (rc != SAP_OK) {
        return rc;
    }
    if (all.prefix_len > SAP_WORLD_MAX_KEY) {
        return SAP_FULL;
    }
    StateView view = {.row = row,
                      .ctx = ctx,
                      .after = {all.after, all.after_len},
                      .from_first = all.after == NULL,
                      .limit = all.limit == 0 ? UINT32_MAX : all.limit};
    uint64_t height = all.height == 0 ? UINT64_MAX : all.height;
    universe_enter(universe);
    bool newest = height == UINT64_MAX;
    rc = newest ? look_take(&universe->looks, universe->store, universe->number, &name, &look)
                : journal_look_at(universe->store, universe->number, &name, height, &look);
    if (rc == SAP_OK) {
        rc = state_begin(look.state);
        if (rc == SAP_OK) {
            rc = show_state(look.state, &all, &view);
            state_abort(look.state);
        }
        if (newest) {
            look_give(&universe->looks, &name, &look);
        } else {
            state_close(look.state);
        }
    }
    universe_leave(universe);
    if (rc == SAP_OK && height_out != NULL) {
        *height_out = look.head.height;
    }
    return rc;
}
