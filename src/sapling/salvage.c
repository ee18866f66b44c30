/* salvage.c - see salvage.h. */
#include "sapling/salvage.h"

#include "common/hash.h"
#include "common/mem.h"
#include "sapling/arena_impl.h"
#include "sapling/env.h"
#include "sapling/node.h"

enum {
    COPIES = FILE_HEADER / FILE_BLOCK,
    LARGEST_PAGE = 32768,
    SIZES = 4,
    IDS_MAX = COPIES + 1,
    FALLBACK_PAGE_SIZE = 4096,
};

static const uint32_t page_sizes[SIZES] = {4096, 8192, 16384, LARGEST_PAGE};

/* ---- Pages ---------------------------------------------------------------------------------- */

static bool checksum_fits(const Salvage *s, const uint8_t *page)
{
    uint64_t stored = load_u64le(page + PAGE_CHECKSUM);
    return stored != 0 && (!s->id_known || stored == page_checksum(page, s->page_size, s->db_id));
}

static bool birth_fits(const Salvage *s, const uint8_t *page)
{
    return page_birth(page) > 0 && page_birth(page) <= s->newest;
}

static uint32_t pages_in_file(const Salvage *s)
{
    uint64_t pages = s->size / s->page_size;
    return pages < CHILD_OWNS_RUNS ? (uint32_t)pages : CHILD_OWNS_RUNS;
}

/* Whether so many bytes from the page on are in the file. */
static bool within(const Salvage *s, uint32_t pgno, uint64_t bytes)
{
    uint64_t at = (uint64_t)pgno * s->page_size;
    return pgno >= file_first_page(s->page_size) && pgno < s->high && at < s->size &&
           bytes <= s->size - at;
}

int salvage_node(Salvage *s, uint32_t pgno, uint8_t *page, const char **damage_out)
{
    if (!within(s, pgno, s->page_size)) {
        *damage_out = "is not there";
        return SAP_OK;
    }
    int rc = disk_read(&s->file, (uint64_t)pgno * s->page_size, page, s->page_size);
    if (rc != SAP_OK) {
        return rc == SAP_CORRUPT ? SAP_IO : rc;
    }
    bool node = page[PAGE_TYPE] == PAGE_LEAF || page[PAGE_TYPE] == PAGE_BRANCH;
    if (!node || page_no(page) != pgno) {
        *damage_out = "is not a page";
    } else if (!checksum_fits(s, page)) {
        *damage_out = "fails its checksum";
    } else if (!birth_fits(s, page)) {
        *damage_out = "is from the future";
    } else {
        *damage_out = node_damage(page, s->page_size);
    }
    return SAP_OK;
}

int salvage_run(Salvage *s, uint32_t pgno, Buf *run, const char **damage_out)
{
    uint8_t header[PAGE_HEADER];
    uint64_t at = (uint64_t)pgno * s->page_size;
    *damage_out = "is not there";
    if (!within(s, pgno, PAGE_HEADER)) {
        return SAP_OK;
    }
    int rc = disk_read(&s->file, at, header, sizeof header);
    if (rc != SAP_OK) {
        return rc == SAP_CORRUPT ? SAP_IO : rc;
    }
    uint32_t len = load_u32le(header + PAGE_RUN_LEN);
    if (header[PAGE_TYPE] != PAGE_OVERFLOW || header[PAGE_LEVEL] != 0 || page_no(header) != pgno ||
        load_u32le(header + PAGE_RUN_PAGES) != run_pages(s->page_size, len) ||
        !within(s, pgno, (uint64_t)PAGE_HEADER + len)) {
        *damage_out = "is not the start of a value";
        return SAP_OK;
    }
    size_t bytes = PAGE_HEADER + (size_t)len;
    buf_clear(run);
    rc = buf_reserve(run, bytes);
    if (rc == SAP_OK) {
        rc = disk_read(&s->file, at, run->data, bytes);
    }
    if (rc != SAP_OK) {
        return rc == SAP_CORRUPT ? SAP_IO : rc;
    }
    run->len = bytes;
    *damage_out = !checksum_fits(s, run->data) ? "fails its checksum"
                  : !birth_fits(s, run->data)  ? "is from the future"
                                               : NULL;
    return SAP_OK;
}

int salvage_each(Salvage *s, int (*fn)(void *ctx, const uint8_t *page), void *ctx)
{
    Buf run = {0};
    int rc = SAP_OK;
    for (uint32_t pgno = file_first_page(s->page_size); pgno < s->high && rc == SAP_OK; pgno++) {
        const char *damage = NULL;
        const uint8_t *page = s->page;
        if (s->used != NULL && !arena_bit(s->used, pgno)) {
            continue;
        }
        rc = salvage_node(s, pgno, s->page, &damage);
        if (rc == SAP_OK && damage != NULL) {
            rc = salvage_run(s, pgno, &run, &damage);
            page = run.data;
        }
        if (rc == SAP_OK && damage == NULL) {
            rc = fn(ctx, page);
            pgno += page[PAGE_TYPE] == PAGE_OVERFLOW ? load_u32le(page + PAGE_RUN_PAGES) - 1 : 0;
        }
    }
    buf_release(&run);
    return rc;
}

/* ---- The header ----------------------------------------------------------------------------- */

typedef struct Header {
    uint8_t bytes[COPIES][META_SIZE];
    MetaState state[COPIES];
    Meta meta[COPIES];
    int newest; /* copy; -1: none is valid */
} Header;

static int read_header(Salvage *s, Header *header)
{
    header->newest = -1;
    for (uint32_t i = 0; i < COPIES; i++) {
        uint64_t at = (uint64_t)i * FILE_BLOCK;
        uint32_t version = 0;
        if (s->size < at + META_SIZE) {
            continue;
        }
        int rc = disk_read(&s->file, at, header->bytes[i], META_SIZE);
        if (rc != SAP_OK) {
            return rc == SAP_CORRUPT ? SAP_IO : rc;
        }
        header->state[i] = meta_decode(header->bytes[i], &header->meta[i], &version);
        if (header->state[i] == META_VALID &&
            (header->newest < 0 || header->meta[i].number > header->meta[header->newest].number)) {
            header->newest = (int)i;
        }
    }
    return SAP_OK;
}

static bool slot_valid(const Header *header, uint64_t number)
{
    uint64_t first = meta_offset(number, 0) / FILE_BLOCK;
    return header->state[first] == META_VALID || header->state[first + 1] == META_VALID;
}

/* Before the second checkpoint, the other meta was never written. */
static uint32_t count_damaged(const Header *header)
{
    uint32_t damaged = 0;
    bool first = header->newest >= 0 && header->meta[header->newest].number == 1;
    for (uint32_t i = 0; i < COPIES; i++) {
        bool blank =
            header->state[i] == META_BLANK && first && meta_offset(0, i % 2) / FILE_BLOCK == i;
        damaged += header->state[i] != META_VALID && !blank ? 1 : 0;
    }
    return damaged;
}

/* A whole meta of another format: nothing here can be read by this library. */
static bool is_other_format(const Header *header)
{
    bool other = false;
    for (uint32_t i = 0; i < COPIES; i++) {
        const uint8_t *bytes = header->bytes[i];
        other = other || header->state[i] == META_OTHER_ORDER ||
                (header->state[i] == META_OTHER_VERSION &&
                 load_u64le(bytes + META_CHECKSUM) == hash_bytes(bytes, META_CHECKSUM, 0));
    }
    return other;
}

/* ---- Without a header ----------------------------------------------------------------------- */

typedef struct Guess {
    uint64_t ids[IDS_MAX];
    uint32_t id_count;
    bool from_log;      /* the first id */
    bool recognised;    /* a copy says that it is one of a Sapling database */
    uint32_t page_size; /* that such a copy has; 0: none */
} Guess;

static int gather_guesses(const Salvage *s, const Header *header, Guess *guess)
{
    *guess = (Guess){0};
    int rc = wal_guess_id(s->path, &guess->ids[0]);
    guess->from_log = rc == SAP_OK;
    guess->id_count = rc == SAP_OK ? 1 : 0;
    for (uint32_t i = 0; i < COPIES; i++) {
        const uint8_t *bytes = header->bytes[i];
        uint32_t page_size = load_u32le(bytes + META_PAGE_SIZE);
        if (header->state[i] >= META_DAMAGED) {
            guess->recognised = true;
            guess->page_size = file_page_size_valid(page_size) ? page_size : guess->page_size;
        }
        if (header->state[i] != META_BLANK) {
            guess->ids[guess->id_count++] = load_u64le(bytes + META_DB_ID);
        }
    }
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

/* Looks for pages of the size: one that verifies with an id settles it (true in id_known). Otherwise
 * counts those that are nodes by their bytes. */
static int try_page_size(Salvage *s, const Guess *guess, uint32_t page_size, uint64_t *nodes_out)
{
    *nodes_out = 0;
    s->page_size = page_size;
    s->high = pages_in_file(s);
    for (uint32_t pgno = file_first_page(page_size); pgno < s->high; pgno++) {
        const char *damage = NULL;
        int rc = salvage_node(s, pgno, s->page, &damage); /* without an id: by its bytes */
        if (rc != SAP_OK) {
            return rc;
        }
        for (uint32_t i = 0; damage == NULL && i < guess->id_count; i++) {
            if (load_u64le(s->page + PAGE_CHECKSUM) ==
                page_checksum(s->page, page_size, guess->ids[i])) {
                s->db_id = guess->ids[i];
                s->id_known = true;
                return SAP_OK;
            }
        }
        *nodes_out += damage == NULL ? 1 : 0;
    }
    return SAP_OK;
}

static int guess_format(Salvage *s, const Header *header)
{
    Guess guess;
    uint64_t most = 0;
    uint32_t best = 0;
    int rc = gather_guesses(s, header, &guess);
    for (uint32_t i = 0; i < SIZES && rc == SAP_OK && !s->id_known; i++) {
        uint64_t nodes = 0;
        rc = try_page_size(s, &guess, page_sizes[i], &nodes);
        best = nodes > most ? page_sizes[i] : best;
        most = nodes > most ? nodes : most;
    }
    if (rc != SAP_OK || s->id_known) {
        return rc;
    }
    if (best == 0 && !guess.recognised) {
        return SAP_INVALID;
    }
    s->page_size = best != 0              ? best
                   : guess.page_size != 0 ? guess.page_size
                                          : (uint32_t)FALLBACK_PAGE_SIZE;
    s->id_known = guess.from_log; /* and no page is sound */
    s->db_id = guess.from_log ? guess.ids[0] : 0;
    return SAP_OK;
}

/* ---- The bitmap ----------------------------------------------------------------------------- */

static bool is_bitmap(const Salvage *s, const uint8_t *run)
{
    uint64_t bytes = (uint64_t)load_u32le(run + PAGE_RUN_PAGES) * s->page_size;
    return run[PAGE_TYPE] == PAGE_OVERFLOW && page_flags(run) == ENV_CATALOG &&
           load_u32le(run + PAGE_RUN_LEN) == bytes - PAGE_HEADER;
}

static int take_bitmap(Salvage *s, const Buf *run)
{
    size_t len = run->len - PAGE_HEADER;
    s->used = (uint64_t *)mem_zalloc(MEM_SCRATCH, s->words * sizeof *s->used);
    if (s->used == NULL) {
        return SAP_NOMEM;
    }
    for (uint32_t pgno = file_first_page(s->page_size); pgno < s->high && pgno / 8 < len; pgno++) {
        if ((run->data[PAGE_HEADER + pgno / 8] >> (pgno % 8) & 1) != 0) {
            arena_set_bit(s->used, pgno);
        }
    }
    return SAP_OK;
}

static int load_bitmap(Salvage *s, uint32_t pgno)
{
    Buf run = {0};
    const char *damage = NULL;
    int rc = salvage_run(s, pgno, &run, &damage);
    if (rc == SAP_OK && damage == NULL && is_bitmap(s, run.data) &&
        page_birth(run.data) == s->newest && run.len - PAGE_HEADER >= s->high / 8) {
        rc = take_bitmap(s, &run);
    }
    buf_release(&run);
    return rc;
}

typedef struct Youngest {
    const Salvage *salvage;
    uint32_t bitmap; /* 0: none */
    uint64_t bitmap_birth;
    uint32_t states; /* 0: none */
    uint64_t states_birth;
    uint64_t birth; /* of any page */
} Youngest;

static int note_birth(void *ctx, const uint8_t *page)
{
    Youngest *youngest = (Youngest *)ctx;
    uint64_t birth = page_birth(page);
    youngest->birth = birth > youngest->birth ? birth : youngest->birth;
    if (is_bitmap(youngest->salvage, page) && birth > youngest->bitmap_birth) {
        youngest->bitmap = page_no(page);
        youngest->bitmap_birth = birth;
    }
    if (page[PAGE_TYPE] == PAGE_OVERFLOW && page_flags(page) == ENV_STATES &&
        birth > youngest->states_birth) {
        youngest->states = page_no(page);
        youngest->states_birth = birth;
    }
    return SAP_OK;
}

static int find_youngest(Salvage *s, Youngest *youngest)
{
    *youngest = (Youngest){.salvage = s};
    s->newest = UINT64_MAX;
    s->high = pages_in_file(s);
    return salvage_each(s, note_birth, youngest);
}

/* ---- Which checkpoint ----------------------------------------------------------------------- */

/* Whether the newest valid meta is that of the newest checkpoint. It is not if both copies of a newer
 * one are damaged; then pages of that one are there, and the log that leads on from the older one is
 * gone (or was not written, as with SAP_SYNC_NONE).
 *
 * An older checkpoint whose meta is intact is of no use beside the newest one, even if that is
 * damaged: its pages are used again from the moment on that its log is released, and what it has
 * more is what was removed or replaced since. */
static int is_newest(Salvage *s, const Header *header, const Meta *meta, bool *newest_out)
{
    *newest_out = true;
    if (slot_valid(header, meta->number + 1)) {
        return SAP_OK;
    }
    WalRecovery log;
    int rc = wal_read(s->path, s->db_id, &meta->wal, meta->txnid, NULL, NULL, &log);
    if (rc != SAP_OK && rc != SAP_CORRUPT) {
        return rc;
    }
    if (log.records > 0) {
        return SAP_OK;
    }
    Youngest youngest;
    rc = find_youngest(s, &youngest);
    *newest_out = youngest.birth <= meta->txnid;
    return rc;
}

static int make_bits(Salvage *s)
{
    s->words = (size_t)s->high / 64 + 1;
    s->seen = (uint64_t *)mem_zalloc(MEM_SCRATCH, s->words * sizeof *s->seen);
    return s->seen != NULL ? SAP_OK : SAP_NOMEM;
}

static int begin_with_meta(Salvage *s)
{
    s->has_meta = true;
    s->high = s->meta.high < pages_in_file(s) ? s->meta.high : pages_in_file(s);
    s->newest = s->meta.txnid;
    s->states = s->meta.states;
    int rc = make_bits(s);
    return rc == SAP_OK && s->meta.bitmap != 0 ? load_bitmap(s, s->meta.bitmap) : rc;
}

static int begin_without_meta(Salvage *s)
{
    Youngest youngest;
    int rc = find_youngest(s, &youngest);
    if (rc == SAP_OK) {
        rc = make_bits(s);
    }
    s->had_states = youngest.states != 0;
    if (rc == SAP_OK && youngest.bitmap != 0) {
        s->newest = youngest.bitmap_birth;
        s->states = s->id_known && youngest.states_birth == s->newest ? youngest.states : 0;
        rc = load_bitmap(s, youngest.bitmap);
    }
    return rc;
}

int salvage_begin(Salvage *s, const char *path)
{
    Header header = {0};
    s->path = path;
    s->newest = UINT64_MAX;
    s->page = (uint8_t *)mem_alloc(MEM_SCRATCH, LARGEST_PAGE);
    if (s->page == NULL) {
        return SAP_NOMEM;
    }
    int rc = disk_size(&s->file, &s->size);
    if (rc == SAP_OK) {
        rc = read_header(s, &header);
    }
    if (rc != SAP_OK) {
        return rc;
    }
    s->copies_damaged = count_damaged(&header);
    if (header.newest < 0) {
        rc = is_other_format(&header) ? SAP_INVALID : guess_format(s, &header);
        return rc == SAP_OK ? begin_without_meta(s) : rc;
    }
    s->meta = header.meta[header.newest];
    s->page_size = s->meta.page_size;
    s->db_id = s->meta.db_id;
    s->id_known = true;
    bool newest = true;
    rc = is_newest(s, &header, &s->meta, &newest);
    if (rc != SAP_OK) {
        return rc;
    }
    return newest ? begin_with_meta(s) : begin_without_meta(s);
}

void salvage_release(Salvage *s)
{
    mem_free(MEM_SCRATCH, s->used, s->words * sizeof *s->used);
    mem_free(MEM_SCRATCH, s->seen, s->words * sizeof *s->seen);
    if (s->page != NULL) {
        mem_free(MEM_SCRATCH, s->page, LARGEST_PAGE);
    }
    disk_close(&s->file);
}
