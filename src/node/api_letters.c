/* api_letters.c - see api_letters.h. A letter is named by its world and its id, "STEP-SEQ". */
#include "node/api_letters.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node/api_list.h"

enum { SEQ_SIZE = 32, LETTERS_MOST = 1000 };

#define MS_NS UINT64_C(1000000)

static json_t *letter_id(uint64_t height, const uint8_t seq[SEQ_SIZE])
{
    json_t *hex = call_hex_json(seq, SEQ_SIZE);
    json_t *id = json_sprintf("%" PRIu64 "-%s", height, hex == NULL ? "" : json_string_value(hex));
    json_decref(hex);
    return id;
}

static bool letter_id_read(const char *text, uint64_t *height_out, uint8_t seq[SEQ_SIZE])
{
    char *end = NULL;
    if (text[0] < '0' || text[0] > '9') {
        return false;
    }
    *height_out = strtoull(text, &end, 10);
    return end[0] == '-' && call_hex_read(end + 1, seq, SEQ_SIZE);
}

/* ---- Listing --------------------------------------------------------------------------------- */

static json_t *letter_json(Call *call, const char *world, const SapDeadLetter *letter)
{
    json_t *object =
        json_pack("{s:s, s:o, s:I, s:o, s:s, s:s, s:o, s:i, s:I}", "world", world, "id",
                  letter_id(letter->height, letter->seq), "step", (json_int_t)letter->height, "seq",
                  call_hex_json(letter->seq, SEQ_SIZE), "name", letter->name, "item_id", letter->id,
                  "error", call_text_json(letter->error), "attempts", (int)letter->attempts,
                  "time_ms", (json_int_t)(letter->time_ns / MS_NS));
    bool done = object != NULL;
    if (done && letter->payload_len == 0 && letter->encoding == SAP_ENCODING_JSON) {
        done = json_object_set_new(object, "body_too_large", json_true()) == 0;
    } else if (done) {
        done = call_set_payload(call, object, "body", letter->encoding, letter->payload,
                                letter->payload_len);
    }
    if (!done) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static int add_letter(void *ctx, const char *world, const SapDeadLetter *letter)
{
    Page *page = (Page *)ctx;
    return page_add(page, letter_json(page->call, world, letter));
}

void api_letters_list(Call *call)
{
    Page page;
    if (page_begin(call, &page)) {
        int rc =
            sap_dead_letters_list(call->api->universe, &page.query, add_letter, &page, &page.end);
        page_answer(&page, rc);
    }
}

void api_world_letters(Call *call)
{
    Page page;
    if (page_begin(call, &page)) {
        page.query.world = call->arg;
        int rc =
            sap_dead_letters_list(call->api->universe, &page.query, add_letter, &page, &page.end);
        page_answer(&page, rc);
    }
}

/* ---- Replaying and dropping ------------------------------------------------------------------ */

typedef int (*LetterAct)(SapUniverse *universe, const char *world, uint64_t height,
                         const uint8_t seq[SEQ_SIZE]);

/* Which letters, and what became of them. */
typedef struct LetterWork {
    Call *call;
    LetterAct act;
    bool dry_run;
    json_t *items; /* {"world", "id", "done"} and "error" */
    uint64_t count;
} LetterWork;

static int act_on_letter(LetterWork *work, const char *world, const char *id)
{
    uint64_t height = 0;
    uint8_t seq[SEQ_SIZE];
    int rc = letter_id_read(id, &height, seq) ? SAP_OK : SAP_INVALID;
    if (rc == SAP_OK && !work->dry_run) {
        rc = work->act(work->call->api->universe, world, height, seq);
    }
    if (rc != SAP_OK && rc != SAP_NOTFOUND && rc != SAP_INVALID) {
        return rc;
    }
    json_t *item = json_pack("{s:s, s:s, s:b}", "world", world, "id", id, "done", rc == SAP_OK);
    if (item != NULL && rc != SAP_OK &&
        json_object_set_new(item, "error",
                            json_string(rc == SAP_NOTFOUND
                                            ? "there is no such letter, or its world takes nothing"
                                            : "this is no id of a letter: STEP-SEQ")) != 0) {
        json_decref(item);
        item = NULL;
    }
    work->count += rc == SAP_OK;
    return json_array_append_new(work->items, item) == 0 ? SAP_OK : SAP_NOMEM;
}

static bool act_on_listed(LetterWork *work, const json_t *letters)
{
    size_t count = json_array_size(letters);
    if (!json_is_array(letters) || count > LETTERS_MOST) {
        return call_fail_detail(work->call, API_BAD_REQUEST, json_pack("{s:s}", "field", "letters"),
                                "the field \"letters\" is to be an array of up to %d objects "
                                "{\"world\":..., \"id\":...}",
                                LETTERS_MOST);
    }
    for (size_t i = 0; i < count; i++) {
        const json_t *letter = json_array_get(letters, i);
        const char *world = json_string_value(json_object_get(letter, "world"));
        const char *id = json_string_value(json_object_get(letter, "id"));
        if (world == NULL || id == NULL || json_object_size(letter) != 2) {
            return call_fail_detail(work->call, API_BAD_REQUEST,
                                    json_pack("{s:s}", "field", "letters"),
                                    "letter %zu is to be {\"world\":..., \"id\":...}, as the list "
                                    "of dead letters shows them",
                                    i);
        }
        int rc = act_on_letter(work, world, id);
        if (rc != SAP_OK) {
            return call_fail_code(work->call, rc, "dead letter");
        }
    }
    return true;
}

static int add_letter_name(void *ctx, const char *world, const SapDeadLetter *letter)
{
    return page_add((Page *)ctx, json_pack("{s:s, s:o}", "world", world, "id",
                                           letter_id(letter->height, letter->seq)));
}

/* One page of all that there are now. A letter that fails again while this runs comes behind those that are
 * looked at, or is taken once more: at most LETTERS_MOST are. */
static bool act_on_all(LetterWork *work, const char *world)
{
    Page page = {.call = work->call, .items = json_array()};
    page.query = (SapListQuery){.size = sizeof page.query, .limit = LETTERS_MOST, .world = world};
    int rc = page.items == NULL ? SAP_NOMEM
                                : sap_dead_letters_list(work->call->api->universe, &page.query,
                                                        add_letter_name, &page, &page.end);
    bool done = rc == SAP_OK ? act_on_listed(work, page.items)
                             : call_fail_code(work->call, rc, "dead letters");
    page_release(&page);
    return done;
}

static void work_on_letters(Call *call, LetterAct act)
{
    LetterWork work = {.call = call, .act = act};
    const char *world = NULL;
    bool all = false;
    if (!call_read_body(call) || !call_field_bool(call, "all", &all) ||
        !call_field_bool(call, "dry_run", &work.dry_run) ||
        !call_field_text(call, "world", SAP_WORLD_MAX_NAME, false, &world)) {
        return;
    }
    const json_t *letters = json_object_get(call->fields, "letters");
    if (all == (letters != NULL)) {
        (void)call_fail(call, API_BAD_REQUEST,
                        "say which letters: {\"letters\":[{\"world\":..., \"id\":...}]}, or "
                        "{\"all\":true}, with \"world\" for those of one world");
        return;
    }
    work.items = json_array();
    bool done = work.items != NULL || call_fail_code(call, SAP_NOMEM, "dead letters");
    done = done && (all ? act_on_all(&work, world) : act_on_listed(&work, letters));
    if (done) {
        call_answer(call, 200,
                    json_pack("{s:I, s:O, s:b}", "count", (json_int_t)work.count, "items",
                              work.items, "dry_run", (int)work.dry_run));
    }
    json_decref(work.items);
}

void api_letters_replay(Call *call)
{
    work_on_letters(call, sap_dead_letter_replay);
}

void api_letters_drop(Call *call)
{
    work_on_letters(call, sap_dead_letter_drop);
}
