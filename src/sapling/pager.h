/* pager.h - which transaction owns which page, and when a freed page may be used again.
 *
 * Time is counted in stamps: each level of a write transaction takes one when it begins, and a
 * commit is named by the last stamp taken. A page's birth A is the stamp of the level that made it.
 *
 *   - A level may change a page in place if and only if A >= the level's stamp: then no reader, no
 *     parent and no other snapshot can see it. All other pages are copied first.
 *   - A page made by the level and no longer needed is free at once.
 *   - A page freed by the commit T is seen by exactly the snapshots r with A <= r < T. A pinned
 *     snapshot is one that someone may still read. The page is reusable once T has committed and
 *     no pin has A <= r < T.
 *   - So a freed page hangs on the greatest pin below T; if that is below A, it is free at once.
 *     When a pin is dropped its pages hang on, by the same rule, to the greatest pin below it.
 *   - A new pin is only ever taken at the newest commit. Between two commits thus only one value
 *     can join the pins: that of the commit before.
 *
 * The lists go through an array beside the pages, so that moving a page between them never
 * allocates, and so that a page is not touched to be freed. A page is on at most one list linked by
 * `next` and `prev` (pages taken by a level), and on at most one linked by `freed_next` (pages
 * freed by a level, or hanging on a pin).
 *
 * Only the holder of the writer lock calls these. Where a pin is held is not the pager's
 * business: it asks for all pins through `scan` when it wants to know which are left. */
#ifndef SAPLING_SAPLING_PAGER_H
#define SAPLING_SAPLING_PAGER_H

#include <stdbool.h>
#include <stdint.h>

#include "sapling/arena_impl.h"

typedef struct PageInfo {
    uint64_t birth;
    uint32_t next;
    uint32_t prev;
    uint32_t freed_next;
    uint32_t pages; /* length of the run that begins here; 1 for a single page; 0: not handed out,
                     * or before the file was opened and not freed since */
} PageInfo;

/* What one level of a write transaction took and freed. */
typedef struct PageLevel {
    uint64_t stamp;
    uint32_t taken;
    uint32_t taken_last;
    uint32_t freed;
    uint32_t freed_last;
    bool damaged; /* files: it freed a page that no tree uses; must not be committed */
} PageLevel;

typedef struct Pin {
    uint64_t at;
    uint32_t freed; /* pages that hang on it */
    bool live;      /* seen by the present scan */
} Pin;

enum { PAGER_RESERVE_MAX = 48, PAGER_GRANULE = 64 };

typedef struct Pager Pager;
/* Calls pager_pins_mark() for every pin there is, the newest commit's not necessarily. */
typedef void (*PagerScan)(Pager *pager, void *ctx);

struct Pager {
    SapMemArena *arena;
    PagerScan scan;
    void *scan_ctx;
    uint64_t newest;   /* the commit that is published */
    uint64_t previous; /* the one before it, while a commit looks for pins; else 0 */
    PageInfo **info;   /* by granules of page numbers, made when first needed */
    uint32_t granule_count;
    bool rescue; /* allocations may have the arena's last pages: see arena_alloc_run() */
    Pin *pins;   /* ascending */
    uint32_t pin_count;
    uint32_t pin_capacity;
    uint32_t reserved[PAGER_RESERVE_MAX]; /* single pages got in advance */
    uint32_t reserved_count;
    SAP_ATOMIC(uint64_t) page_count; /* all pages held: by trees, by pins, in advance */

    /* Files: which pages the trees use, with the open transaction's changes, and which of all pages
     * were written since the last capture; bits by page number. NULL: not a file. */
    uint64_t *used;
    uint64_t *dirty;
    size_t track_words;
    SAP_ATOMIC(uint64_t) dirty_count;
    bool full;             /* no page was to be had since this was last looked at */
    PageInfo *info_region; /* where granules lie; NULL: on the heap */
};

void pager_init(Pager *pager, SapMemArena *arena, uint64_t newest, PagerScan scan, void *ctx);
/* Frees the bookkeeping and the pages that hang on pins. The trees' pages are the caller's. */
void pager_release(Pager *pager);

/* For a file that was opened: its trees use the pages below `high` whose bit in `used` is set (words
 * for `track_words` * 64 pages, as is `dirty`, which is zeros; takes ownership of both on SAP_OK
 * only). `info_region`, zeros for every page that can be, is borrowed until pager_release(). */
int pager_adopt(Pager *pager, uint32_t high, uint64_t *used, uint64_t *dirty, size_t track_words,
                PageInfo *info_region);
/* No write transaction is open: the pages in use at the newest commit, and those of them written since the last capture, into
 * arrays of pager->track_words; the next capture counts from here. */
void pager_capture(Pager *pager, uint64_t *used_out, uint64_t *dirty_out);
/* What the next capture would write if the transaction of `level` were committed: sets bits of
 * pager->track_words. */
void pager_unwritten(const Pager *pager, const PageLevel *level, uint64_t *bits_out);
/* No write transaction is open: nothing came of that capture, whose `dirty` this is. The next one has
 * its pages too, as far as they are still in use then. */
void pager_uncapture(Pager *pager, const uint64_t *dirty, size_t words);

static inline uint8_t *pager_page(const Pager *pager, uint32_t pgno)
{
    return arena_page(pager->arena, pgno);
}

/* Whether allocations may have the arena's last pages from now on; returns what was so before. */
static inline bool pager_use_rescue(Pager *pager, bool rescue)
{
    bool before = pager->rescue;
    pager->rescue = rescue;
    return before;
}

void pager_level_begin(PageLevel *level, uint64_t stamp);
/* A run of pages that the level owns; birth and number are in its header. */
int pager_alloc(Pager *pager, PageLevel *level, uint32_t pages, uint8_t **page_out);
/* Makes sure that the next `count` pager_alloc() of one page cannot fail. */
int pager_reserve(Pager *pager, uint32_t count);
/* Gives back what of it was not needed: a reserve does not outlive the call that made it. */
void pager_unreserve(Pager *pager);
/* The level no longer needs the page or run, which is that many pages long. In a file, whose trees
 * may be forged to use a page twice, one that is no longer in use makes the level `damaged`. */
void pager_free(Pager *pager, PageLevel *level, uint32_t pgno, uint32_t pages);
void pager_level_abort(Pager *pager, PageLevel *level);
void pager_level_merge(Pager *pager, PageLevel *parent, PageLevel *child);

/* Before a commit is published: afterwards pager_commit() cannot fail. */
int pager_prepare_commit(Pager *pager);
/* After commit `commit_id` was published. Frees or hangs what the level freed, and frees what hung
 * on pins that are gone. */
void pager_commit(Pager *pager, PageLevel *level, uint64_t commit_id);
/* A value that can be no pin is passed over: a reader that lost the race for a version shows it for
 * a moment before it starts over. */
void pager_pins_mark(Pager *pager, uint64_t pin);

#endif
