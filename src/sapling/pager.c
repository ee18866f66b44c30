/* pager.c - see pager.h. */
#include "sapling/pager.h"

#include "common/bytes.h"
#include "common/mem.h"
#include "sapling/page.h"

void pager_init(Pager *pager, SapMemArena *arena, uint64_t newest, PagerScan scan, void *ctx)
{
    *pager = (Pager){.arena = arena, .scan = scan, .scan_ctx = ctx, .newest = newest};
}

static inline PageInfo *page_info(const Pager *pager, uint32_t pgno)
{
    return &pager->info[pgno / PAGER_GRANULE][pgno % PAGER_GRANULE];
}

/* ---- Giving back ---------------------------------------------------------------------------- */

static void count_pages(Pager *pager, uint32_t more, uint32_t fewer)
{
    uint64_t now = atomic_load_relaxed(&pager->page_count);
    SAP_ASSERT(now + more >= fewer);
    atomic_store_relaxed(&pager->page_count, now + more - fewer);
}

/* Makes the pages in use, or not in use. False: one of them is so already, nothing changed. */
static bool set_use(Pager *pager, uint32_t pgno, uint32_t pages, bool use)
{
    if (pager->used == NULL) {
        return true;
    }
    for (uint32_t i = 0; i < pages; i++) {
        if (arena_bit(pager->used, pgno + i) == use) {
            return false;
        }
    }
    for (uint32_t i = 0; i < pages; i++) {
        pager->used[(pgno + i) / 64] ^= UINT64_C(1) << ((pgno + i) % 64);
    }
    return true;
}

static void give_back(Pager *pager, uint32_t pgno)
{
    PageInfo *info = page_info(pager, pgno);
    SAP_ASSERT(info->pages > 0);
    count_pages(pager, 0, info->pages);
    arena_free_run(pager->arena, pgno, info->pages);
    info->pages = 0;
}

static void give_back_chain(Pager *pager, uint32_t pgno)
{
    while (pgno != 0) {
        uint32_t next = page_info(pager, pgno)->freed_next;
        give_back(pager, pgno);
        pgno = next;
    }
}

void pager_release(Pager *pager)
{
    /* What hangs on pins in a file may be what its last checkpoint needs. */
    for (uint32_t i = 0; pager->used == NULL && i < pager->pin_count; i++) {
        give_back_chain(pager, pager->pins[i].freed);
    }
    SAP_ASSERT(pager->reserved_count == 0);
    for (uint32_t i = 0; pager->info_region == NULL && i < pager->granule_count; i++) {
        mem_free(MEM_ENV, pager->info[i], PAGER_GRANULE * sizeof **pager->info);
    }
    mem_free(MEM_ENV, pager->used, pager->track_words * sizeof *pager->used);
    mem_free(MEM_ENV, pager->dirty, pager->track_words * sizeof *pager->dirty);
    mem_free(MEM_ENV, pager->info, pager->granule_count * sizeof(PageInfo *));
    mem_free(MEM_ENV, pager->pins, pager->pin_capacity * sizeof *pager->pins);
    *pager = (Pager){0};
}

/* ---- Pins ----------------------------------------------------------------------------------- */

int pager_prepare_commit(Pager *pager)
{
    if (pager->pin_count < pager->pin_capacity) {
        return SAP_OK;
    }
    uint32_t capacity = pager->pin_capacity == 0 ? 4 : pager->pin_capacity * 2;
    Pin *pins = (Pin *)mem_resize(MEM_ENV, pager->pins, pager->pin_capacity * sizeof *pins,
                                  capacity * sizeof *pins);
    if (pins == NULL) {
        return SAP_NOMEM;
    }
    pager->pins = pins;
    pager->pin_capacity = capacity;
    return SAP_OK;
}

void pager_pins_mark(Pager *pager, uint64_t pin)
{
    uint32_t lo = 0;
    uint32_t hi = pager->pin_count;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (pager->pins[mid].at < pin) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    if (lo < pager->pin_count && pager->pins[lo].at == pin) {
        pager->pins[lo].live = true;
    } else if (pin != 0 && pin == pager->previous) {
        SAP_ASSERT(lo == pager->pin_count && pager->pin_count < pager->pin_capacity);
        pager->pins[pager->pin_count++] = (Pin){.at = pin, .live = true};
    }
    /* Nothing hangs on the newest: what it sees is not freed. */
}

/* Hangs the chain on the greatest live pin among the first `pin_count`, or gives pages back. */
static void hang_chain(Pager *pager, uint32_t chain, uint32_t pin_count)
{
    while (pin_count > 0 && !pager->pins[pin_count - 1].live) {
        pin_count--;
    }
    Pin *pin = pin_count > 0 ? &pager->pins[pin_count - 1] : NULL;
    while (chain != 0) {
        PageInfo *info = page_info(pager, chain);
        uint32_t next = info->freed_next;
        if (pin != NULL && info->birth <= pin->at) {
            info->freed_next = pin->freed;
            pin->freed = chain;
        } else {
            give_back(pager, chain);
        }
        chain = next;
    }
}

/* Looks which pins are left and lets go what hung on the others. */
static void reclaim(Pager *pager)
{
    for (uint32_t i = 0; i < pager->pin_count; i++) {
        pager->pins[i].live = false;
    }
    pager->scan(pager, pager->scan_ctx);
    uint32_t kept = 0;
    for (uint32_t i = pager->pin_count; i-- > 0;) {
        if (!pager->pins[i].live) {
            uint32_t chain = pager->pins[i].freed;
            pager->pins[i].freed = 0;
            hang_chain(pager, chain, i);
        }
    }
    for (uint32_t i = 0; i < pager->pin_count; i++) {
        if (pager->pins[i].live) {
            pager->pins[kept++] = pager->pins[i];
        }
    }
    pager->pin_count = kept;
}

/* What the level took is in no checkpoint. */
static void track(Pager *pager, const PageLevel *level)
{
    uint64_t dirty = atomic_load_relaxed(&pager->dirty_count);
    for (uint32_t pgno = level->taken; pgno != 0; pgno = page_info(pager, pgno)->next) {
        for (uint32_t i = 0; i < page_info(pager, pgno)->pages; i++) {
            dirty += arena_bit(pager->dirty, pgno + i) ? 0 : 1;
            arena_set_bit(pager->dirty, pgno + i);
        }
    }
    atomic_store_relaxed(&pager->dirty_count, dirty);
}

void pager_capture(Pager *pager, uint64_t *used_out, uint64_t *dirty_out)
{
    for (size_t i = 0; i < pager->track_words; i++) {
        used_out[i] = pager->used[i];
        dirty_out[i] = pager->dirty[i] & pager->used[i];
        pager->dirty[i] = 0;
    }
    atomic_store_relaxed(&pager->dirty_count, 0);
}

void pager_unwritten(const Pager *pager, const PageLevel *level, uint64_t *bits_out)
{
    for (size_t i = 0; i < pager->track_words; i++) {
        bits_out[i] = pager->dirty[i] & pager->used[i];
    }
    for (uint32_t pgno = level->taken; pgno != 0; pgno = page_info(pager, pgno)->next) {
        for (uint32_t i = 0; i < page_info(pager, pgno)->pages; i++) {
            arena_set_bit(bits_out, pgno + i);
        }
    }
}

void pager_uncapture(Pager *pager, const uint64_t *dirty, size_t words)
{
    SAP_ASSERT(words <= pager->track_words);
    uint64_t count = atomic_load_relaxed(&pager->dirty_count);
    for (size_t i = 0; i < words; i++) {
        count += (uint64_t)__builtin_popcountll(dirty[i] & ~pager->dirty[i]);
        pager->dirty[i] |= dirty[i];
    }
    atomic_store_relaxed(&pager->dirty_count, count);
}

void pager_commit(Pager *pager, PageLevel *level, uint64_t commit_id)
{
    SAP_ASSERT(commit_id > pager->newest);
    if (pager->used != NULL) {
        track(pager, level);
    }
    pager->previous = pager->newest;
    pager->newest = commit_id;
    reclaim(pager);
    pager->previous = 0;
    hang_chain(pager, level->freed, pager->pin_count);
    *level = (PageLevel){0};
}

/* ---- Taking --------------------------------------------------------------------------------- */

static int info_reserve(Pager *pager, uint32_t pgno)
{
    uint32_t granule = pgno / PAGER_GRANULE;
    if (granule >= pager->granule_count) {
        uint32_t count = pager->granule_count == 0 ? 4 : pager->granule_count * 2;
        count = count > granule ? count : granule + 1;
        PageInfo **info =
            (PageInfo **)mem_resize(MEM_ENV, pager->info, pager->granule_count * sizeof(PageInfo *),
                                    count * sizeof(PageInfo *));
        if (info == NULL) {
            return SAP_NOMEM;
        }
        memset(info + pager->granule_count, 0, (count - pager->granule_count) * sizeof(PageInfo *));
        pager->info = info;
        pager->granule_count = count;
    }
    if (pager->info[granule] == NULL) {
        pager->info[granule] =
            pager->info_region != NULL
                ? pager->info_region + (size_t)granule * PAGER_GRANULE
                : (PageInfo *)mem_zalloc(MEM_ENV, PAGER_GRANULE * sizeof **pager->info);
    }
    return pager->info[granule] != NULL ? SAP_OK : SAP_NOMEM;
}

/* One bitmap more capacious than `words` were; the old one is the caller's still. */
static uint64_t *bitmap_grow(const uint64_t *bits, size_t words, size_t more)
{
    uint64_t *grown = (uint64_t *)mem_zalloc(MEM_ENV, more * sizeof *grown);
    if (grown != NULL) {
        memcpy(grown, bits, words * sizeof *grown);
    }
    return grown;
}

static int track_reserve(Pager *pager, uint64_t end)
{
    if (pager->used == NULL || end <= (uint64_t)pager->track_words * 64) {
        return SAP_OK;
    }
    size_t words = pager->track_words * 2;
    words = end / 64 + 1 > words ? (size_t)(end / 64 + 1) : words;
    uint64_t *used = bitmap_grow(pager->used, pager->track_words, words);
    uint64_t *dirty = bitmap_grow(pager->dirty, pager->track_words, words);
    if (used == NULL || dirty == NULL) {
        mem_free(MEM_ENV, used, words * sizeof *used);
        mem_free(MEM_ENV, dirty, words * sizeof *dirty);
        return SAP_NOMEM;
    }
    mem_free(MEM_ENV, pager->used, pager->track_words * sizeof *used);
    mem_free(MEM_ENV, pager->dirty, pager->track_words * sizeof *dirty);
    pager->used = used;
    pager->dirty = dirty;
    pager->track_words = words;
    return SAP_OK;
}

int pager_adopt(Pager *pager, uint32_t high, uint64_t *used, uint64_t *dirty, size_t track_words,
                PageInfo *info_region)
{
    pager->info_region = info_region;
    for (uint64_t pgno = 0; pgno < high; pgno += PAGER_GRANULE) {
        int rc = info_reserve(pager, (uint32_t)pgno);
        if (rc != SAP_OK) {
            return rc;
        }
    }
    uint64_t pages = 0;
    for (size_t i = 0; i < track_words; i++) {
        pages += (uint64_t)__builtin_popcountll(used[i]);
    }
    atomic_store_relaxed(&pager->page_count, pages);
    pager->used = used;
    pager->dirty = dirty;
    pager->track_words = track_words;
    return SAP_OK;
}

static int get_from_arena(Pager *pager, uint32_t pages, uint32_t *pgno_out)
{
    uint8_t *page = NULL;
    uint32_t pgno = 0;
    int rc = arena_alloc_run(pager->arena, pages, pager->rescue, &page, &pgno);
    if (rc != SAP_OK && pager->pin_count > 0) {
        reclaim(pager); /* readers may have gone since the last commit */
        rc = arena_alloc_run(pager->arena, pages, pager->rescue, &page, &pgno);
    }
    if (rc != SAP_OK) {
        pager->full = pager->full || rc == SAP_FULL;
        return rc;
    }
    rc = info_reserve(pager, pgno);
    if (rc == SAP_OK) {
        rc = track_reserve(pager, (uint64_t)pgno + pages);
    }
    if (rc != SAP_OK) {
        arena_free_run(pager->arena, pgno, pages);
        return rc;
    }
    *pgno_out = pgno;
    return SAP_OK;
}

int pager_reserve(Pager *pager, uint32_t count)
{
    SAP_ASSERT(count <= PAGER_RESERVE_MAX);
    while (pager->reserved_count < count) {
        uint32_t pgno = 0;
        int rc = get_from_arena(pager, 1, &pgno);
        if (rc != SAP_OK) {
            pager_unreserve(pager);
            return rc;
        }
        pager->reserved[pager->reserved_count++] = pgno;
        count_pages(pager, 1, 0);
    }
    return SAP_OK;
}

void pager_unreserve(Pager *pager)
{
    while (pager->reserved_count > 0) {
        arena_free_run(pager->arena, pager->reserved[--pager->reserved_count], 1);
        count_pages(pager, 0, 1);
    }
}

int pager_alloc(Pager *pager, PageLevel *level, uint32_t pages, uint8_t **page_out)
{
    uint32_t pgno = 0;
    if (pages == 1 && pager->reserved_count > 0) {
        pgno = pager->reserved[--pager->reserved_count];
    } else {
        int rc = get_from_arena(pager, pages, &pgno);
        if (rc != SAP_OK) {
            return rc;
        }
        count_pages(pager, pages, 0);
    }
    bool unused = set_use(pager, pgno, pages, true);
    SAP_ASSERT(unused);
    PageInfo *info = page_info(pager, pgno);
    *info = (PageInfo){.birth = level->stamp, .prev = level->taken_last, .pages = pages};
    if (level->taken_last != 0) {
        page_info(pager, level->taken_last)->next = pgno;
    } else {
        level->taken = pgno;
    }
    level->taken_last = pgno;
    uint8_t *page = pager_page(pager, pgno);
    store_u64le(page + PAGE_CHECKSUM, 0);
    store_u64le(page + PAGE_BIRTH, level->stamp);
    store_u32le(page + PAGE_NO, pgno);
    *page_out = page;
    return SAP_OK;
}

/* ---- Levels --------------------------------------------------------------------------------- */

void pager_level_begin(PageLevel *level, uint64_t stamp)
{
    *level = (PageLevel){.stamp = stamp};
}

static void taken_remove(Pager *pager, PageLevel *level, uint32_t pgno)
{
    const PageInfo *info = page_info(pager, pgno);
    if (info->next != 0) {
        page_info(pager, info->next)->prev = info->prev;
    } else {
        SAP_ASSERT(level->taken_last == pgno);
        level->taken_last = info->prev;
    }
    if (info->prev != 0) {
        page_info(pager, info->prev)->next = info->next;
    } else {
        SAP_ASSERT(level->taken == pgno);
        level->taken = info->next;
    }
}

static void freed_append(Pager *pager, PageLevel *level, uint32_t pgno)
{
    page_info(pager, pgno)->freed_next = 0;
    if (level->freed_last != 0) {
        page_info(pager, level->freed_last)->freed_next = pgno;
    } else {
        level->freed = pgno;
    }
    level->freed_last = pgno;
}

/* Of a page that is no longer in use. */
static void let_go(Pager *pager, PageLevel *level, uint32_t pgno)
{
    if (page_info(pager, pgno)->birth >= level->stamp) {
        taken_remove(pager, level, pgno);
        give_back(pager, pgno);
    } else {
        freed_append(pager, level, pgno);
    }
}

void pager_free(Pager *pager, PageLevel *level, uint32_t pgno, uint32_t pages)
{
    PageInfo *info = page_info(pager, pgno);
    bool known = pages > 0 && (info->pages == pages || info->pages == 0);
    if (!known || !set_use(pager, pgno, pages, false)) {
        SAP_ASSERT(pager->used != NULL);
        level->damaged = true;
        return;
    }
    info->pages = pages;
    let_go(pager, level, pgno);
}

void pager_level_abort(Pager *pager, PageLevel *level)
{
    bool done = true;
    for (uint32_t pgno = level->freed; pgno != 0; pgno = page_info(pager, pgno)->freed_next) {
        done = set_use(pager, pgno, page_info(pager, pgno)->pages, true) && done;
    }
    for (uint32_t pgno = level->taken; pgno != 0;) {
        uint32_t next = page_info(pager, pgno)->next;
        done = set_use(pager, pgno, page_info(pager, pgno)->pages, false) && done;
        give_back(pager, pgno);
        pgno = next;
    }
    SAP_ASSERT(done);
    *level = (PageLevel){0};
}

void pager_level_merge(Pager *pager, PageLevel *parent, PageLevel *child)
{
    if (child->taken != 0) {
        page_info(pager, child->taken)->prev = parent->taken_last;
        if (parent->taken_last != 0) {
            page_info(pager, parent->taken_last)->next = child->taken;
        } else {
            parent->taken = child->taken;
        }
        parent->taken_last = child->taken_last;
    }
    for (uint32_t pgno = child->freed; pgno != 0;) {
        uint32_t next = page_info(pager, pgno)->freed_next;
        let_go(pager, parent, pgno);
        pgno = next;
    }
    parent->damaged = parent->damaged || child->damaged;
    *child = (PageLevel){0};
}
