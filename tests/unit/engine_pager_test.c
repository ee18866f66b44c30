/* The pin allocator against a model that asks of every page and every pin: is it still seen?
 * SAP_TEST_SEED and SAP_TEST_SEEDS repeat and extend the random histories. */
#include "common/fault.h"
#include "common/mem.h"
#include "sapling/page.h"
#include "sapling/pager.h"
#include "support/backing.h"
#include "support/choice.h"
#include "support/expect.h"
#include "support/suite.h"

#include <stdio.h>
#include <string.h>

enum {
    TIMEOUT_S = 300,
    PAGE_SIZE = 256,
    MAX_LEVELS = 8,
    MAX_READERS = 12,
    MAX_PAGES = 2048,
    FIRST_COMMIT = 1,
};

static const uint64_t max_bytes = UINT64_C(64) << 20;

/* ---- The model ------------------------------------------------------------------------------ */

/* A page or run that is handed out. Once it goes, so does its entry. */
typedef struct Held {
    uint32_t pgno;
    uint32_t pages;
    uint64_t id; /* what its bytes are made of */
    uint64_t birth;
    uint32_t pending;  /* 1 + the level that freed it; 0: none */
    uint64_t freed_by; /* the commit that freed it; 0: none */
} Held;

typedef enum DropOrder { DROP_OLDEST, DROP_NEWEST, DROP_ANY, DROP_ORDER_COUNT } DropOrder;

typedef struct Counts {
    uint64_t steps;
    uint64_t commits;
    uint64_t aborts;
    uint64_t readers;
    uint64_t hung; /* pages that a commit freed while a reader could see them */
    uint64_t pages;
    uint64_t reclaims; /* in the middle of a transaction, for want of memory */
    uint64_t stale;
} Counts;

typedef struct History {
    Backing backing;
    Pager pager;
    Choice choice;
    DropOrder drop;
    uint64_t stamp;
    uint64_t newest;
    PageLevel levels[MAX_LEVELS];
    uint32_t depth;
    Held held[MAX_PAGES];
    uint32_t held_count;
    uint64_t readers[MAX_READERS]; /* the commit each one reads, in order of arrival */
    uint32_t reader_count;
    uint32_t stale; /* how many values that are no pins a scan shows */
    uint64_t next_id;
    Counts counts;
} History;

static bool is_no_pin(const Pager *pager, uint64_t value)
{
    for (uint32_t i = 0; i < pager->pin_count; i++) {
        if (pager->pins[i].at == value) {
            return false;
        }
    }
    return value != pager->previous;
}

/* Shows every reader, from a random one on, and between them values that are no pins. */
static void show_readers(Pager *pager, void *ctx)
{
    History *h = ctx;
    uint32_t from = h->reader_count == 0 ? 0 : choice_below(&h->choice, h->reader_count);

    for (uint32_t i = 0; i < h->reader_count; i++) {
        pager_pins_mark(pager, h->readers[(from + i) % h->reader_count]);
    }
    for (uint32_t i = 0; i < h->stale; i++) {
        uint64_t value = 1 + rng_below(&h->choice.rng, h->stamp + 4);
        value = choice_one_in(&h->choice, 8) ? UINT64_MAX - value : value;
        if (is_no_pin(pager, value)) {
            pager_pins_mark(pager, value);
            h->counts.stale++;
        }
    }
}

static bool is_pinned(const History *h, const Held *page)
{
    for (uint32_t i = 0; i < h->reader_count; i++) {
        if (page->birth <= h->readers[i] && h->readers[i] < page->freed_by) {
            return true;
        }
    }
    return false;
}

static void forget(History *h, uint32_t i)
{
    h->held[i] = h->held[--h->held_count];
}

/* What a reclaim must leave. */
static void model_reclaim(History *h)
{
    for (uint32_t i = h->held_count; i-- > 0;) {
        if (h->held[i].freed_by != 0 && !is_pinned(h, &h->held[i])) {
            forget(h, i);
        }
    }
}

/* ---- Contents ------------------------------------------------------------------------------- */

/* All bytes of a run behind its header: its id, then one byte of it over and over. */
static uint32_t body_len(const History *h, const Held *page)
{
    return (page->pages - 1) * h->backing.arena->stride + PAGE_SIZE - PAGE_HEADER;
}

static void fill(History *h, const Held *page)
{
    uint8_t *body = pager_page(&h->pager, page->pgno) + PAGE_HEADER;

    memset(body, (int)(page->id & 0xff), body_len(h, page));
    store_u64le(body, page->id);
}

static void expect_contents(const History *h, const Held *page)
{
    const uint8_t *bytes = pager_page(&h->pager, page->pgno);
    const uint8_t *body = bytes + PAGE_HEADER;

    EXPECT(page_birth(bytes) == page->birth && page_no(bytes) == page->pgno,
           "page %u has a header of page %u, born %llu instead of %llu", page->pgno, page_no(bytes),
           (unsigned long long)page_birth(bytes), (unsigned long long)page->birth);
    EXPECT(load_u64le(body) == page->id && body[8] == (uint8_t)page->id &&
               memcmp(body + 8, body + 9, body_len(h, page) - 9) == 0,
           "the contents of page %u, born %llu, freed by %llu, have changed", page->pgno,
           (unsigned long long)page->birth, (unsigned long long)page->freed_by);
}

/* The arena's pages are the model's: as many, and each of them. */
static void expect_held(const History *h)
{
    uint64_t pages = 0;

    for (uint32_t i = 0; i < h->held_count; i++) {
        const Held *page = &h->held[i];
        for (uint32_t j = 0; j < page->pages; j++) {
            EXPECT(arena_page_is_live(h->backing.arena, page->pgno + j),
                   "page %u, born %llu, freed by %llu, was handed back", page->pgno + j,
                   (unsigned long long)page->birth, (unsigned long long)page->freed_by);
        }
        pages += page->pages;
        expect_contents(h, page);
    }
    EXPECT(pages == sap_arena_active_pages(h->backing.arena), "%llu pages held instead of %llu",
           (unsigned long long)sap_arena_active_pages(h->backing.arena), (unsigned long long)pages);
    EXPECT(pages == h->pager.page_count, "the pager counts %llu pages instead of %llu",
           (unsigned long long)h->pager.page_count, (unsigned long long)pages);
}

/* After a reclaim the pager knows every snapshot that is read, but the newest, once. */
static void expect_pins(const History *h)
{
    uint32_t known = 0;

    for (uint32_t i = 0; i < h->reader_count; i++) {
        uint64_t at = h->readers[i];
        bool first = at != h->newest;
        for (uint32_t j = 0; j < i; j++) {
            first = first && h->readers[j] != at;
        }
        if (!first) {
            continue;
        }
        known++;
        uint32_t j = 0;
        while (j < h->pager.pin_count && h->pager.pins[j].at != at) {
            j++;
        }
        EXPECT(j < h->pager.pin_count, "the pager misses the pin %llu", (unsigned long long)at);
    }
    EXPECT(h->pager.pin_count == known, "the pager has %u pins instead of %u", h->pager.pin_count,
           known);
    for (uint32_t i = 1; i < h->pager.pin_count; i++) {
        EXPECT(h->pager.pins[i - 1].at < h->pager.pins[i].at, "pins out of order");
    }
}

/* ---- Steps, on the pager and on the model --------------------------------------------------- */

static void history_open(History *h, BackingKind kind, uint64_t bound, uint64_t seed)
{
    memset(h, 0, sizeof *h);
    choice_from_seed(&h->choice, seed);
    backing_open(&h->backing, kind, PAGE_SIZE, bound);
    h->stamp = FIRST_COMMIT;
    h->newest = FIRST_COMMIT;
    pager_init(&h->pager, h->backing.arena, FIRST_COMMIT, show_readers, h);
}

static PageLevel *innermost(History *h)
{
    return &h->levels[h->depth - 1];
}

static void begin(History *h)
{
    pager_level_begin(&h->levels[h->depth++], ++h->stamp);
}

/* Records what pager_alloc() gave. */
static uint32_t take(History *h, uint8_t *bytes, uint32_t pages)
{
    EXPECT(h->held_count < MAX_PAGES, "the model is too small");
    Held *page = &h->held[h->held_count++];
    *page = (Held){
        .pgno = page_no(bytes), .pages = pages, .id = ++h->next_id, .birth = innermost(h)->stamp};
    EXPECT(bytes == pager_page(&h->pager, page->pgno), "page %u is elsewhere", page->pgno);
    EXPECT(load_u64le(bytes + PAGE_CHECKSUM) == 0, "a new page has a checksum");
    fill(h, page);
    h->counts.pages += pages;
    return page->pgno;
}

static uint32_t alloc(History *h, uint32_t pages)
{
    uint8_t *bytes = NULL;

    EXPECT_RC(pager_alloc(&h->pager, innermost(h), pages, &bytes), SAP_OK);
    return take(h, bytes, pages);
}

static uint32_t held_find(const History *h, uint32_t pgno)
{
    uint32_t i = 0;

    while (h->held[i].pgno != pgno) {
        i++;
        EXPECT(i < h->held_count, "the model has no page %u", pgno);
    }
    return i;
}

static void free_held(History *h, uint32_t i)
{
    Held *page = &h->held[i];

    EXPECT(page->pending == 0 && page->freed_by == 0, "the test frees page %u twice", page->pgno);
    pager_free(&h->pager, innermost(h), page->pgno, page->pages);
    if (page->birth >= innermost(h)->stamp) {
        forget(h, i);
    } else {
        page->pending = h->depth;
    }
}

static void free_page(History *h, uint32_t pgno)
{
    free_held(h, held_find(h, pgno));
}

static void abort_level(History *h)
{
    PageLevel *level = innermost(h);

    for (uint32_t i = h->held_count; i-- > 0;) {
        if (h->held[i].birth >= level->stamp) {
            forget(h, i);
        } else if (h->held[i].pending == h->depth) {
            h->held[i].pending = 0;
        }
    }
    pager_level_abort(&h->pager, level);
    h->depth--;
    h->counts.aborts++;
}

static void merge_level(History *h)
{
    PageLevel *child = innermost(h);
    PageLevel *parent = child - 1;

    for (uint32_t i = h->held_count; i-- > 0;) {
        Held *page = &h->held[i];
        if (page->pending == h->depth && page->birth >= parent->stamp) {
            forget(h, i);
        } else if (page->pending == h->depth) {
            page->pending--;
        }
    }
    pager_level_merge(&h->pager, parent, child);
    h->depth--;
}

static void commit_outermost(History *h)
{
    EXPECT_RC(pager_prepare_commit(&h->pager), SAP_OK);
    h->newest = h->stamp;
    for (uint32_t i = 0; i < h->held_count; i++) {
        if (h->held[i].pending != 0) {
            h->held[i].pending = 0;
            h->held[i].freed_by = h->newest;
            h->counts.hung += is_pinned(h, &h->held[i]) ? h->held[i].pages : 0;
        }
    }
    model_reclaim(h);
    pager_commit(&h->pager, innermost(h), h->newest);
    h->depth--;
    h->counts.commits++;
    expect_pins(h);
}

static void commit_level(History *h)
{
    if (h->depth > 1) {
        merge_level(h);
    } else {
        commit_outermost(h);
    }
}

/* A commit that only looks which pins are left. */
static void commit_nothing(History *h)
{
    begin(h);
    commit_outermost(h);
    expect_held(h);
}

static void reader_begin_newest(History *h)
{
    EXPECT(h->reader_count < MAX_READERS, "too many readers");
    h->readers[h->reader_count++] = h->newest;
    h->counts.readers++;
}

static void reader_drop(History *h, uint32_t i)
{
    h->reader_count--;
    memmove(&h->readers[i], &h->readers[i + 1], (h->reader_count - i) * sizeof h->readers[0]);
}

static void reader_drop_in_order(History *h)
{
    switch (h->drop) {
    case DROP_OLDEST:
        reader_drop(h, 0);
        break;
    case DROP_NEWEST:
        reader_drop(h, h->reader_count - 1);
        break;
    default:
        reader_drop(h, choice_below(&h->choice, h->reader_count));
        break;
    }
}

/* An allocation to which the custom arena says no at first. */
static void alloc_short_of_memory(History *h, uint32_t pages)
{
    uint8_t *bytes = NULL;
    bool pins = h->pager.pin_count > 0;

    backing_fail_at(&h->backing, 1);
    int rc = pager_alloc(&h->pager, innermost(h), pages, &bytes);
    backing_fail_at(&h->backing, 0);
    EXPECT(rc == (pins ? SAP_OK : SAP_NOMEM), "%u pages without memory: %d", pages, rc);
    if (rc == SAP_OK) {
        model_reclaim(h);
        take(h, bytes, pages);
        expect_pins(h);
        h->counts.reclaims++;
    }
}

static void alloc_reserved(History *h)
{
    uint32_t count = 1 + choice_below(&h->choice, 5);
    uint32_t used = choice_below(&h->choice, count + 1);

    EXPECT_RC(pager_reserve(&h->pager, count), SAP_OK);
    for (uint32_t i = 0; i < used; i++) {
        alloc(h, 1);
    }
    EXPECT(h->pager.reserved_count == count - used, "%u of %u pages used, %u left", used, count,
           h->pager.reserved_count);
    pager_unreserve(&h->pager);
}

/* Frees a random page that the innermost level sees. */
static void free_any(History *h)
{
    if (h->held_count == 0) {
        return;
    }
    uint32_t from = choice_below(&h->choice, h->held_count);
    for (uint32_t i = 0; i < h->held_count; i++) {
        const Held *page = &h->held[(from + i) % h->held_count];
        if (page->pending == 0 && page->freed_by == 0) {
            free_held(h, (from + i) % h->held_count);
            return;
        }
    }
}

static uint32_t any_run(History *h)
{
    return choice_one_in(&h->choice, 4) ? 2 + choice_below(&h->choice, 4) : 1;
}

static void any_step(History *h)
{
    uint32_t what = choice_below(&h->choice, 20);

    h->counts.steps++;
    if (what < 2) {
        if (h->reader_count < MAX_READERS) {
            reader_begin_newest(h);
        }
        return;
    }
    if (what < 4) {
        if (h->reader_count > 0) {
            reader_drop_in_order(h);
        }
        return;
    }
    if (h->depth == 0 || (what == 4 && h->depth < MAX_LEVELS)) {
        begin(h);
    } else if (what < 9) {
        alloc(h, any_run(h));
    } else if (what < 14) {
        free_any(h);
    } else if (what < 18) {
        commit_level(h);
    } else if (what < 19) {
        if (choice_one_in(&h->choice, 2)) {
            abort_level(h);
        } else if (h->backing.kind == BACKING_CUSTOM) {
            alloc_short_of_memory(h, any_run(h));
        }
    } else {
        alloc_reserved(h);
    }
    expect_held(h);
}

static bool page_is_committed(const Held *page)
{
    return page->freed_by == 0;
}

/* Ends with nothing left: either all is freed by a last commit that no reader outlives, or the
 * pager goes while readers are there and gives back what hangs on their pins. */
static void history_close(History *h, bool pins_left)
{
    while (h->depth > 0) {
        if (choice_one_in(&h->choice, 2)) {
            commit_level(h);
        } else {
            abort_level(h);
        }
        expect_held(h);
    }
    if (pins_left) {
        for (uint32_t i = h->held_count; i-- > 0;) {
            if (page_is_committed(&h->held[i])) {
                arena_free_run(h->backing.arena, h->held[i].pgno, h->held[i].pages);
                forget(h, i);
            }
        }
    } else {
        begin(h);
        for (uint32_t i = h->held_count; i-- > 0;) {
            if (page_is_committed(&h->held[i])) {
                free_held(h, i);
            }
        }
        commit_outermost(h);
        expect_held(h);
        while (h->reader_count > 0) {
            reader_drop_in_order(h);
            commit_nothing(h);
        }
        EXPECT(h->held_count == 0, "%u pages left in the model", h->held_count);
        EXPECT(h->pager.page_count == 0, "%llu pages left",
               (unsigned long long)h->pager.page_count);
    }
    pager_release(&h->pager);
    backing_close(&h->backing);
}

/* ---- Histories ------------------------------------------------------------------------------ */

static History history; /* one at a time; too large for a stack */

static void run_history(uint64_t seed, Counts *total)
{
    static const BackingKind kinds[] = {BACKING_CUSTOM, BACKING_CUSTOM, BACKING_MALLOC,
                                        BACKING_CUSTOM, BACKING_LINEAR};
    History *h = &history;
    BackingKind kind = kinds[seed % 5];

    expect_context("%s arena, SAP_TEST_SEED=%llu", backing_name(kind), (unsigned long long)seed);
    history_open(h, kind, max_bytes, seed);
    h->drop = (DropOrder)choice_below(&h->choice, DROP_ORDER_COUNT);
    h->stale = choice_below(&h->choice, 3);
    uint32_t steps = 20 + choice_below(&h->choice, choice_one_in(&h->choice, 10) ? 600 : 100);
    for (uint32_t i = 0; i < steps; i++) {
        any_step(h);
    }
    history_close(h, choice_one_in(&h->choice, 2));
    total->steps += h->counts.steps;
    total->commits += h->counts.commits;
    total->aborts += h->counts.aborts;
    total->readers += h->counts.readers;
    total->hung += h->counts.hung;
    total->pages += h->counts.pages;
    total->reclaims += h->counts.reclaims;
    total->stale += h->counts.stale;
}

START_TEST(a_page_is_handed_back_when_no_pin_sees_it_and_not_before)
{
    uint64_t first = choice_first_seed();
    uint64_t count = choice_seed_count(16000);
    size_t live = mem_live_total();
    Counts total = {0};

    for (uint64_t seed = first; seed < first + count; seed++) {
        run_history(seed, &total);
    }
    printf("pager histories: seeds %llu to %llu, %llu steps, %llu commits, %llu aborts, "
           "%llu readers, %llu pages, %llu of them freed under a reader, %llu reclaims, "
           "%llu stale pins\n",
           (unsigned long long)first, (unsigned long long)(first + count - 1),
           (unsigned long long)total.steps, (unsigned long long)total.commits,
           (unsigned long long)total.aborts, (unsigned long long)total.readers,
           (unsigned long long)total.pages, (unsigned long long)total.hung,
           (unsigned long long)total.reclaims, (unsigned long long)total.stale);
    ck_assert_uint_gt(total.hung, 0);
    ck_assert_uint_eq(mem_live_total(), live);
}
END_TEST

/* Begins and commits a transaction that replaces `count` of the committed pages by new ones. */
static void replace_pages(History *h, uint32_t count)
{
    begin(h);
    for (uint32_t i = 0; i < count; i++) {
        free_any(h);
    }
    for (uint32_t i = 0; i < count; i++) {
        alloc(h, 1);
    }
    commit_outermost(h);
}

/* Makes `count` committed pages. */
static void make_pages(History *h, uint32_t count)
{
    begin(h);
    for (uint32_t i = 0; i < count; i++) {
        alloc(h, 1);
    }
    commit_outermost(h);
}

START_TEST(pins_may_be_dropped_in_any_order)
{
    enum { LIVE = 10, REPLACED = 3, PINS = MAX_READERS };

    for (uint64_t seed = 1; seed <= 50; seed++) {
        for (int order = 0; order < DROP_ORDER_COUNT; order++) {
            History *h = &history;
            expect_context("seed %llu, order %d", (unsigned long long)seed, order);
            history_open(h, BACKING_CUSTOM, 0, seed);
            h->drop = (DropOrder)order;
            make_pages(h, LIVE);
            for (uint32_t i = 0; i < PINS; i++) {
                reader_begin_newest(h);
                replace_pages(h, REPLACED);
            }
            expect_held(h);
            EXPECT(h->pager.page_count == LIVE + PINS * REPLACED,
                   "with a reader on every commit nothing may go");
            while (h->reader_count > 0) {
                reader_drop_in_order(h);
                commit_nothing(h);
            }
            EXPECT(h->pager.page_count == LIVE, "%llu pages without readers",
                   (unsigned long long)h->pager.page_count);
            history_close(h, false);
        }
    }
}
END_TEST

START_TEST(a_snapshot_is_kept_for_the_last_of_its_readers)
{
    History *h = &history;

    history_open(h, BACKING_CUSTOM, 0, 1);
    make_pages(h, 5);
    reader_begin_newest(h);
    reader_begin_newest(h);
    reader_begin_newest(h);
    replace_pages(h, 5);
    ck_assert_uint_eq(h->pager.pin_count, 1);
    for (uint32_t left = 3; left > 0; left--) {
        commit_nothing(h);
        ck_assert_uint_eq(h->pager.page_count, 10);
        reader_drop(h, 0);
    }
    commit_nothing(h);
    ck_assert_uint_eq(h->pager.page_count, 5);
    ck_assert_uint_eq(h->pager.pin_count, 0);
    history_close(h, false);
}
END_TEST

START_TEST(a_page_that_no_reader_ever_saw_is_free_at_the_commit)
{
    History *h = &history;

    history_open(h, BACKING_CUSTOM, 0, 1);
    make_pages(h, 3);
    reader_begin_newest(h);
    replace_pages(h, 1);
    uint64_t count = h->pager.page_count;
    ck_assert_uint_eq(count, 4);
    /* Born after the reader began, freed before the next one: nobody sees it between. */
    for (int i = 0; i < 20; i++) {
        begin(h);
        uint32_t pgno = alloc(h, 1);
        commit_outermost(h);
        begin(h);
        free_page(h, pgno);
        ck_assert_uint_eq(h->pager.page_count, count + 1);
        commit_outermost(h);
        expect_held(h);
        ck_assert_uint_eq(h->pager.page_count, count);
    }
    history_close(h, false);
}
END_TEST

START_TEST(a_long_reader_holds_only_its_own_snapshot)
{
    enum { LIVE = 40, COMMITS = 10000 };
    History *h = &history;
    uint64_t most = 0;

    history_open(h, BACKING_MALLOC, 0, 7);
    make_pages(h, LIVE);
    reader_begin_newest(h);
    for (int i = 0; i < COMMITS; i++) {
        replace_pages(h, 1 + choice_below(&h->choice, 5));
        if (h->pager.page_count > most) {
            most = h->pager.page_count;
        }
    }
    expect_held(h);
    ck_assert_uint_le(most, 2 * LIVE);
    /* With a short reader on every tenth commit beside it, one more snapshot at most. */
    for (int i = 0; i < COMMITS; i++) {
        if (i % 10 == 0) {
            if (h->reader_count > 1) {
                reader_drop(h, 1);
            }
            reader_begin_newest(h);
        }
        replace_pages(h, 1 + choice_below(&h->choice, 5));
        if (h->pager.page_count > most) {
            most = h->pager.page_count;
        }
    }
    expect_held(h);
    ck_assert_uint_le(most, 3 * LIVE);
    printf("long reader: %d commits on %d pages, %llu held at most\n", 2 * COMMITS, LIVE,
           (unsigned long long)most);
    reader_drop(h, 0);
    reader_drop(h, 0);
    commit_nothing(h);
    ck_assert_uint_eq(h->pager.page_count, LIVE);
    history_close(h, false);
}
END_TEST

/* ---- Pins that are none --------------------------------------------------------------------- */

START_TEST(values_that_are_no_pins_hold_nothing)
{
    History *h = &history;

    for (uint64_t seed = 1; seed <= 20; seed++) {
        history_open(h, BACKING_CUSTOM, 0, seed);
        h->stale = 40;
        make_pages(h, 6);
        reader_begin_newest(h);
        for (int i = 0; i < 30; i++) {
            replace_pages(h, 2);
            expect_held(h);
        }
        ck_assert_uint_eq(h->pager.page_count, 12);
        reader_drop(h, 0);
        commit_nothing(h);
        ck_assert_uint_eq(h->pager.page_count, 6);
        ck_assert_uint_gt(h->counts.stale, 0);
        history_close(h, false);
    }
}
END_TEST

START_TEST(a_reader_that_starts_over_holds_pages_no_longer_than_it_shows_its_pin)
{
    History *h = &history;

    history_open(h, BACKING_CUSTOM, 0, 1);
    make_pages(h, 4);
    /* Its pin is shown to the commit that overtakes it: it may have been in time. */
    reader_begin_newest(h);
    replace_pages(h, 4);
    ck_assert_uint_eq(h->pager.page_count, 8);
    ck_assert_uint_eq(h->pager.pin_count, 1);
    h->readers[0] = h->newest;
    commit_nothing(h);
    ck_assert_uint_eq(h->pager.page_count, 4);
    /* Now with a value so old that it is no pin, and that becomes none by being shown. */
    h->reader_count = 0;
    uint64_t gone = h->newest;
    for (int i = 0; i < 3; i++) {
        replace_pages(h, 1);
    }
    for (int i = 0; i < 3; i++) {
        begin(h);
        free_any(h);
        alloc(h, 1);
        ck_assert_int_eq(pager_prepare_commit(&h->pager), SAP_OK);
        pager_pins_mark(&h->pager, gone);
        pager_pins_mark(&h->pager, h->newest);
        ck_assert_uint_eq(h->pager.pin_count, 0);
        commit_outermost(h);
        expect_held(h);
        ck_assert_uint_eq(h->pager.page_count, 4);
    }
    history_close(h, false);
}
END_TEST

/* ---- Levels --------------------------------------------------------------------------------- */

START_TEST(a_level_frees_its_own_pages_at_once_and_all_others_at_the_commit)
{
    History *h = &history;

    history_open(h, BACKING_CUSTOM, 0, 1);
    make_pages(h, 1);
    uint32_t committed = h->held[0].pgno;
    begin(h);
    uint32_t outer = alloc(h, 1);
    begin(h);
    uint32_t inner = alloc(h, 3);
    ck_assert_uint_eq(h->pager.page_count, 5);
    free_page(h, inner);
    ck_assert_uint_eq(h->pager.page_count, 2);
    free_page(h, outer);
    free_page(h, committed);
    ck_assert_uint_eq(h->pager.page_count, 2);
    merge_level(h); /* the outer level made it, so it is free now */
    expect_held(h);
    ck_assert_uint_eq(h->pager.page_count, 1);
    commit_outermost(h);
    expect_held(h);
    ck_assert_uint_eq(h->pager.page_count, 0);
    history_close(h, false);
}
END_TEST

START_TEST(an_aborted_level_took_and_freed_nothing)
{
    History *h = &history;

    history_open(h, BACKING_CUSTOM, 0, 1);
    make_pages(h, 6);
    begin(h);
    alloc(h, 2);
    free_any(h);
    uint64_t count = h->pager.page_count;
    for (uint32_t levels = 1; levels < MAX_LEVELS; levels++) {
        for (uint32_t i = 0; i < levels; i++) {
            begin(h);
            alloc(h, 1 + i % 3);
            free_any(h);
            alloc(h, 1);
        }
        for (uint32_t i = 0; i + 1 < levels; i++) {
            merge_level(h);
            expect_held(h);
        }
        abort_level(h);
        expect_held(h);
        ck_assert_uint_eq(h->pager.page_count, count);
    }
    commit_outermost(h);
    expect_held(h);
    history_close(h, false);
}
END_TEST

START_TEST(freed_pages_are_used_again_last_freed_first)
{
    enum { COUNT = 20 };
    static const BackingKind kinds[] = {BACKING_CUSTOM, BACKING_MALLOC, BACKING_LINEAR};

    for (uint32_t k = 0; k < 3; k++) {
        History *h = &history;
        uint32_t pgno[COUNT];
        expect_context("%s arena", backing_name(kinds[k]));
        history_open(h, kinds[k], max_bytes, 1);
        begin(h);
        for (uint32_t i = 0; i < COUNT; i++) {
            pgno[i] = alloc(h, 1);
        }
        /* Its own, at once. */
        for (uint32_t i = 0; i < COUNT; i++) {
            free_page(h, pgno[i]);
        }
        for (uint32_t i = COUNT; i-- > 0;) {
            EXPECT(alloc(h, 1) == pgno[i], "page %u is not used again at its turn", pgno[i]);
        }
        commit_outermost(h);
        /* Those of an earlier commit, when this one commits; also through a level in between. */
        for (int nested = 0; nested < 2; nested++) {
            begin(h);
            if (nested != 0) {
                begin(h);
            }
            for (uint32_t i = 0; i < COUNT; i++) {
                free_page(h, pgno[i * 7 % COUNT]);
            }
            if (nested != 0) {
                merge_level(h);
            }
            commit_outermost(h);
            begin(h);
            for (uint32_t i = COUNT; i-- > 0;) {
                uint32_t expected = pgno[i * 7 % COUNT];
                EXPECT(alloc(h, 1) == expected, "page %u is not used again at its turn", expected);
            }
            commit_outermost(h);
        }
        expect_held(h);
        history_close(h, false);
    }
}
END_TEST

START_TEST(a_pager_that_goes_gives_back_what_hangs_on_pins)
{
    History *h = &history;
    size_t live = mem_live_total();

    history_open(h, BACKING_CUSTOM, 0, 1);
    make_pages(h, 4);
    for (int i = 0; i < 5; i++) {
        reader_begin_newest(h);
        replace_pages(h, 2);
    }
    ck_assert_uint_eq(h->pager.page_count, 14);
    history_close(h, true);
    ck_assert_uint_eq(mem_live_total(), live);
}
END_TEST

/* ---- Short of memory ------------------------------------------------------------------------ */

/* Allocates until the arena is full; how many it were. */
static uint32_t alloc_until_full(History *h, uint32_t pages)
{
    uint32_t count = 0;

    for (;;) {
        uint8_t *bytes = NULL;
        int rc = pager_alloc(&h->pager, innermost(h), pages, &bytes);
        if (rc != SAP_OK) {
            EXPECT(rc == SAP_FULL, "an arena at its bound answers %d", rc);
            return count;
        }
        take(h, bytes, pages);
        count++;
    }
}

START_TEST(at_its_bound_an_arena_has_the_pages_of_a_reader_as_soon_as_it_goes)
{
    enum { BOUND = 200 * PAGE_SIZE, COUNT = 60 };

    for (uint32_t pages = 1; pages <= 4; pages++) {
        History *h = &history;
        expect_context("runs of %u pages", pages);
        history_open(h, BACKING_LINEAR, BOUND, pages);
        begin(h);
        for (uint32_t i = 0; i < COUNT / pages; i++) {
            alloc(h, pages);
        }
        commit_outermost(h);
        reader_begin_newest(h);
        begin(h);
        for (uint32_t i = 0; i < COUNT / pages; i++) {
            free_held(h, i);
        }
        commit_outermost(h);
        begin(h);
        uint32_t more = alloc_until_full(h, pages);
        expect_held(h);
        EXPECT(more >= 1, "the bound is too low for the test");
        EXPECT(alloc_until_full(h, pages) == 0, "the reader is still there");
        expect_held(h);
        /* No commit between the reader's going and the allocation. */
        reader_drop(h, 0);
        model_reclaim(h);
        EXPECT(alloc_until_full(h, pages) == COUNT / pages, "not all of the reader's pages");
        expect_held(h);
        /* Nor can one that began since hold any of them. */
        reader_begin_newest(h);
        EXPECT(alloc_until_full(h, pages) == 0, "more than all pages");
        history_close(h, false);
    }
}
END_TEST

START_TEST(at_its_bound_one_reader_of_two_gives_only_what_the_other_does_not_see)
{
    History *h = &history;

    history_open(h, BACKING_LINEAR, 100 * PAGE_SIZE, 1);
    make_pages(h, 20);
    reader_begin_newest(h);
    replace_pages(h, 5);
    reader_begin_newest(h);
    replace_pages(h, 20);
    /* 20 pages now, 20 of the first reader; of the second 15 are the first one's too. */
    begin(h);
    alloc_until_full(h, 1);
    expect_held(h);
    reader_drop(h, 1);
    model_reclaim(h);
    uint32_t second = alloc_until_full(h, 1);
    expect_held(h);
    reader_drop(h, 0);
    model_reclaim(h);
    uint32_t first = alloc_until_full(h, 1);
    expect_held(h);
    ck_assert_uint_eq(first, 20);
    ck_assert_uint_gt(second, 0);
    ck_assert_uint_le(second, 5);
    history_close(h, false);
}
END_TEST

START_TEST(at_its_bound_a_run_is_found_among_pages_that_came_back_one_by_one)
{
    History *h = &history;
    uint8_t *bytes = NULL;

    history_open(h, BACKING_LINEAR, 100 * PAGE_SIZE, 1);
    h->pager.rescue = true; /* all pages, so that none are left at the end */
    begin(h);
    alloc_until_full(h, 1);
    for (uint32_t pgno = 11; pgno <= 13; pgno++) {
        free_page(h, pgno);
    }
    commit_outermost(h);
    reader_begin_newest(h);
    begin(h);
    free_page(h, 10);
    commit_outermost(h);
    begin(h);
    ck_assert_int_eq(pager_alloc(&h->pager, innermost(h), 4, &bytes), SAP_FULL);
    expect_held(h);
    reader_drop(h, 0);
    model_reclaim(h);
    ck_assert_uint_eq(alloc(h, 4), 10);
    expect_held(h);
    history_close(h, false);
}
END_TEST

START_TEST(a_reserve_makes_that_many_allocations_certain)
{
    for (int kind = 0; kind < BACKING_KIND_COUNT; kind++) {
        History *h = &history;
        expect_context("%s arena", backing_name((BackingKind)kind));
        history_open(h, (BackingKind)kind, max_bytes, 1);
        for (uint32_t count = 1; count <= PAGER_RESERVE_MAX; count++) {
            begin(h);
            EXPECT_RC(pager_reserve(&h->pager, count), SAP_OK);
            fault_reset();
            fault_arm_alloc_from(1);
            backing_fail_at(&h->backing, 1);
            for (uint32_t i = 0; i < count; i++) {
                alloc(h, 1);
            }
            EXPECT(fault_fired() == 0 && h->pager.reserved_count == 0, "%u pages asked for memory",
                   count);
            fault_reset();
            backing_fail_at(&h->backing, 0);
            expect_held(h);
            /* An unused one goes back, and a second call only adds what is missing. */
            uint64_t pages = h->pager.page_count;
            EXPECT_RC(pager_reserve(&h->pager, 3), SAP_OK);
            EXPECT_RC(pager_reserve(&h->pager, 2), SAP_OK);
            EXPECT_RC(pager_reserve(&h->pager, 4), SAP_OK);
            EXPECT(h->pager.page_count == pages + 4, "a reserve of 4 is not 4");
            pager_unreserve(&h->pager);
            expect_held(h);
            commit_outermost(h);
        }
        history_close(h, false);
    }
}
END_TEST

typedef enum Failing { FAIL_HEAP, FAIL_PAGE } Failing;

static void arm(History *h, Failing failing, uint64_t nth)
{
    fault_reset();
    if (failing == FAIL_HEAP) {
        fault_arm_alloc(nth);
    } else {
        backing_fail_at(&h->backing, nth);
    }
}

static bool disarm(History *h)
{
    bool fired = fault_fired() != 0 || h->backing.failed != 0;

    fault_reset();
    backing_fail_at(&h->backing, 0);
    h->backing.failed = 0;
    return fired;
}

/* What may fail, in a transaction of its own; with a reader, so that failures reclaim first. */
static int failing_call(History *h, uint32_t which)
{
    uint8_t *bytes = NULL;
    int rc = SAP_OK;

    switch (which) {
    case 0:
        rc = pager_alloc(&h->pager, innermost(h), 1, &bytes);
        break;
    case 1:
        rc = pager_alloc(&h->pager, innermost(h), 70, &bytes);
        break;
    case 2:
        rc = pager_reserve(&h->pager, PAGER_RESERVE_MAX);
        if (rc == SAP_OK) {
            pager_unreserve(&h->pager);
        }
        break;
    default:
        rc = pager_prepare_commit(&h->pager);
        break;
    }
    if (rc == SAP_OK && bytes != NULL) {
        take(h, bytes, which == 0 ? 1 : 70);
    }
    return rc;
}

/* Fails the n-th allocation of a call for n = 1, 2, ... until it no longer fires. */
static uint64_t fail_each(Failing failing, uint32_t which, uint32_t pins)
{
    uint64_t failed = 0;

    for (uint64_t nth = 1;; nth++) {
        History *h = &history;
        expect_context("call %u, %u pins, failing %s %llu", which, pins,
                       failing == FAIL_HEAP ? "allocation" : "page", (unsigned long long)nth);
        history_open(h, BACKING_CUSTOM, 0, 1);
        if (pins > 0) {
            make_pages(h, 3);
        }
        for (uint32_t i = 0; i < pins; i++) {
            reader_begin_newest(h);
            replace_pages(h, 1);
        }
        begin(h);
        uint64_t pages = h->pager.page_count;
        arm(h, failing, nth);
        int rc = failing_call(h, which);
        bool fired = disarm(h);
        EXPECT(rc == SAP_OK || (fired && rc == SAP_NOMEM), "answered %d", rc);
        EXPECT(rc == SAP_OK || pages == h->pager.page_count, "%llu pages instead of %llu",
               (unsigned long long)h->pager.page_count, (unsigned long long)pages);
        failed += rc != SAP_OK ? 1 : 0;
        expect_held(h);
        EXPECT(h->pager.reserved_count == 0, "pages are left in reserve");
        EXPECT_RC(failing_call(h, which), SAP_OK);
        expect_held(h);
        history_close(h, false);
        if (!fired) {
            return failed;
        }
    }
}

START_TEST(a_call_that_runs_out_of_memory_changes_nothing)
{
    uint64_t failed = 0;

    /* 4 pins: the next commit needs room for a fifth. With pins a single page that fails is got
     * at the second try. */
    for (uint32_t which = 0; which < 4; which++) {
        failed += fail_each(FAIL_HEAP, which, 0);
        failed += fail_each(FAIL_PAGE, which, 0);
        fail_each(FAIL_PAGE, which, 2);
        fail_each(FAIL_HEAP, which, 4);
    }
    printf("pager faults: %llu calls failed\n", (unsigned long long)failed);
    ck_assert_uint_gt(failed, 40);
}
END_TEST

START_TEST(memory_that_stays_away_fails_with_readers_too)
{
    History *h = &history;

    history_open(h, BACKING_CUSTOM, 0, 1);
    make_pages(h, 3);
    reader_begin_newest(h);
    replace_pages(h, 3);
    begin(h);
    uint64_t pages = h->pager.page_count;
    for (uint32_t which = 1; which < 3; which++) {
        fault_reset();
        fault_arm_alloc_from(1);
        ck_assert_int_eq(failing_call(h, which), SAP_NOMEM);
        fault_reset();
        ck_assert_uint_eq(h->pager.page_count, pages);
        expect_held(h);
    }
    history_close(h, false);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine_pager");
    TCase *tcase = tcase_create("pager");

    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_test(tcase, a_page_is_handed_back_when_no_pin_sees_it_and_not_before);
    tcase_add_test(tcase, pins_may_be_dropped_in_any_order);
    tcase_add_test(tcase, a_snapshot_is_kept_for_the_last_of_its_readers);
    tcase_add_test(tcase, a_page_that_no_reader_ever_saw_is_free_at_the_commit);
    tcase_add_test(tcase, a_long_reader_holds_only_its_own_snapshot);
    tcase_add_test(tcase, values_that_are_no_pins_hold_nothing);
    tcase_add_test(tcase, a_reader_that_starts_over_holds_pages_no_longer_than_it_shows_its_pin);
    tcase_add_test(tcase, a_level_frees_its_own_pages_at_once_and_all_others_at_the_commit);
    tcase_add_test(tcase, an_aborted_level_took_and_freed_nothing);
    tcase_add_test(tcase, freed_pages_are_used_again_last_freed_first);
    tcase_add_test(tcase, a_pager_that_goes_gives_back_what_hangs_on_pins);
    tcase_add_test(tcase, at_its_bound_an_arena_has_the_pages_of_a_reader_as_soon_as_it_goes);
    tcase_add_test(tcase, at_its_bound_one_reader_of_two_gives_only_what_the_other_does_not_see);
    tcase_add_test(tcase, at_its_bound_a_run_is_found_among_pages_that_came_back_one_by_one);
    tcase_add_test(tcase, a_reserve_makes_that_many_allocations_certain);
    tcase_add_test(tcase, a_call_that_runs_out_of_memory_changes_nothing);
    tcase_add_test(tcase, memory_that_stays_away_fails_with_readers_too);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
