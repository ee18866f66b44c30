/* Pages and nodes of every kind of arena. */
#include "common/mem.h"
#include "support/backing.h"
#include "support/choice.h"
#include "support/driver.h"
#include "support/expect.h"
#include "support/suite.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TIMEOUT_S = 300 };

#define NODE_BIT (UINT32_C(1) << 31)

static const uint64_t max_bytes = UINT64_C(64) << 20;

/* ---- Options -------------------------------------------------------------------------------- */

static void expect_refused(const SapArenaOptions *options)
{
    SapMemArena *arena = NULL;

    ck_assert_int_eq(sap_arena_init(&arena, options), SAP_ERROR);
    ck_assert_ptr_null(arena);
}

static void *no_page(void *ctx, uint32_t size)
{
    (void)ctx;
    (void)size;
    return NULL;
}

static void no_free(void *ctx, void *page, uint32_t size)
{
    (void)ctx;
    (void)page;
    (void)size;
}

START_TEST(bad_options_are_refused)
{
    static const uint32_t sizes[] = {0, 1, 255, 65536, UINT32_MAX};
    SapArenaOptions options;
    size_t live = mem_live_total();

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        memset(&options, 0, sizeof options);
        options.page_size = sizes[i];
        expect_refused(&options);
    }
    memset(&options, 0, sizeof options);
    options.page_size = 4096;
    options.type = SAP_ARENA_BACKING_WASI_FD;
    options.cfg.mmap.max_size = 4096;
    expect_refused(&options);
    options.type = (SapArenaBacking)17;
    expect_refused(&options);
    options.type = SAP_ARENA_BACKING_CUSTOM;
    memset(&options.cfg, 0, sizeof options.cfg);
    expect_refused(&options);
    options.cfg.custom.alloc_page = no_page;
    expect_refused(&options);
    options.cfg.custom.alloc_page = NULL;
    options.cfg.custom.free_page = no_free;
    expect_refused(&options);
    options.type = SAP_ARENA_BACKING_MALLOC;
    ck_assert_int_eq(sap_arena_init(NULL, &options), SAP_ERROR);
    ck_assert_int_eq(sap_arena_init(NULL, NULL), SAP_ERROR);
    ck_assert_uint_eq(mem_live_total(), live);
}
END_TEST

START_TEST(a_file_that_cannot_be_mapped_is_an_io_error)
{
    SapArenaOptions options;
    SapMemArena *arena = NULL;
    int ends[2];

    ck_assert_int_eq(pipe(ends), 0);
    memset(&options, 0, sizeof options);
    options.page_size = 4096;
    options.type = SAP_ARENA_BACKING_MMAP;
    options.cfg.mmap.fd = ends[1];
    options.cfg.mmap.max_size = 1 << 20;
    /* Found out at once, or when the first page is wanted. */
    int rc = sap_arena_init(&arena, &options);
    if (rc == SAP_OK) {
        void *page = NULL;
        uint32_t pgno = 0;
        rc = sap_arena_alloc_page(arena, &page, &pgno);
        ck_assert_ptr_null(page);
    }
    ck_assert_int_eq(rc, SAP_IO);
    sap_arena_destroy(arena);
    close(ends[0]);
    close(ends[1]);
}
END_TEST

START_TEST(no_options_are_the_heap_with_4_kib_pages)
{
    SapMemArena *arena = NULL;
    void *page = NULL;
    uint32_t pgno = 0;
    size_t live = mem_live_total();

    ck_assert_int_eq(sap_arena_init(&arena, NULL), SAP_OK);
    ck_assert_uint_eq(sap_arena_page_stride(arena), 4096);
    ck_assert_int_eq(sap_arena_alloc_page(arena, &page, &pgno), SAP_OK);
    memset(page, 0xff, 4096);
    ck_assert_uint_eq(sap_arena_active_pages(arena), 1);
    /* A page that is still handed out goes with the arena. */
    sap_arena_destroy(arena);
    ck_assert_uint_eq(mem_live_total(), live);
}
END_TEST

START_TEST(calls_on_no_arena_are_errors)
{
    void *p = NULL;
    uint32_t no = 0;

    sap_arena_destroy(NULL);
    ck_assert_int_eq(sap_arena_alloc_page(NULL, &p, &no), SAP_ERROR);
    ck_assert_int_eq(sap_arena_free_page(NULL, 1), SAP_ERROR);
    ck_assert_int_eq(sap_arena_free_page_ptr(NULL, &no), SAP_ERROR);
    ck_assert_int_eq(sap_arena_alloc_node(NULL, 16, &p, &no), SAP_ERROR);
    ck_assert_int_eq(sap_arena_free_node(NULL, NODE_BIT | 1, 16), SAP_ERROR);
    ck_assert_int_eq(sap_arena_free_node_ptr(NULL, &no, 16), SAP_ERROR);
    ck_assert_uint_eq(sap_arena_active_pages(NULL), 0);
    ck_assert_ptr_null(sap_arena_resolve(NULL, 1));
    ck_assert_uint_eq(sap_arena_page_stride(NULL), 0);
    ck_assert_ptr_null(p);
}
END_TEST

/* ---- Pages ---------------------------------------------------------------------------------- */

static void check_pages(BackingKind kind, uint32_t page_size)
{
    enum { COUNT = 100 };
    Backing backing;
    void *pages[COUNT];
    uint32_t numbers[COUNT];
    void *page = NULL;
    uint32_t number = 0;

    expect_context("%s arena, page size %u", backing_name(kind), page_size);
    backing_open(&backing, kind, page_size, max_bytes);
    SapMemArena *arena = backing.arena;
    ck_assert_uint_eq(sap_arena_page_stride(arena), (page_size + 15) / 16 * 16);
    ck_assert_uint_eq(sap_arena_active_pages(arena), 0);
    ck_assert_ptr_null(sap_arena_resolve(arena, 0));
    for (uint32_t i = 0; i < COUNT; i++) {
        ck_assert_int_eq(sap_arena_alloc_page(arena, &pages[i], &numbers[i]), SAP_OK);
        ck_assert_uint_ne(numbers[i], 0);
        ck_assert_uint_eq(numbers[i] & NODE_BIT, 0);
        ck_assert_uint_eq((uintptr_t)pages[i] % 16, 0);
        ck_assert_ptr_eq(sap_arena_resolve(arena, numbers[i]), pages[i]);
        memset(pages[i], (int)i, page_size);
        ck_assert_uint_eq(sap_arena_active_pages(arena), i + 1);
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        const uint8_t *bytes = pages[i];
        ck_assert_ptr_eq(sap_arena_resolve(arena, numbers[i]), pages[i]);
        for (uint32_t j = 0; j < page_size; j++) {
            EXPECT(bytes[j] == i, "byte %u of page %u has changed", j, i);
        }
        for (uint32_t j = 0; j < i; j++) {
            EXPECT(numbers[i] != numbers[j], "pages %u and %u have one number", i, j);
        }
    }
    /* Last freed, first used again: by number and by address. */
    ck_assert_int_eq(sap_arena_free_page(arena, numbers[7]), SAP_OK);
    ck_assert_int_eq(sap_arena_free_page_ptr(arena, pages[3]), SAP_OK);
    ck_assert_int_eq(sap_arena_free_page(arena, numbers[50]), SAP_OK);
    ck_assert_uint_eq(sap_arena_active_pages(arena), COUNT - 3);
    static const uint32_t again[] = {50, 3, 7};
    for (uint32_t i = 0; i < 3; i++) {
        ck_assert_int_eq(sap_arena_alloc_page(arena, &page, &number), SAP_OK);
        ck_assert_uint_eq(number, numbers[again[i]]);
        ck_assert_ptr_eq(sap_arena_resolve(arena, number), page);
        pages[again[i]] = page;
        memset(page, 0x5a, page_size);
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        if (i % 2 == 0) {
            ck_assert_int_eq(sap_arena_free_page(arena, numbers[i]), SAP_OK);
        } else {
            ck_assert_int_eq(sap_arena_free_page_ptr(arena, pages[i]), SAP_OK);
        }
    }
    ck_assert_uint_eq(sap_arena_active_pages(arena), 0);
    backing_close(&backing);
}

START_TEST(pages_of_every_kind_and_size_are_apart_and_are_used_again_last_freed_first)
{
    size_t live = mem_live_total();

    for (int kind = 0; kind < BACKING_KIND_COUNT; kind++) {
        for (uint32_t i = 0; i < driver_page_size_count; i++) {
            check_pages((BackingKind)kind, driver_page_sizes[i]);
        }
    }
    ck_assert_uint_eq(mem_live_total(), live);
}
END_TEST

START_TEST(a_page_that_is_not_handed_out_cannot_be_freed)
{
    for (int kind = 0; kind < BACKING_KIND_COUNT; kind++) {
        Backing backing;
        void *pages[3];
        uint32_t numbers[3];
        uint8_t foreign[512];
        backing_open(&backing, (BackingKind)kind, 512, max_bytes);
        SapMemArena *arena = backing.arena;
        ck_assert_int_eq(sap_arena_free_page(arena, 1), SAP_ERROR);
        for (int i = 0; i < 3; i++) {
            ck_assert_int_eq(sap_arena_alloc_page(arena, &pages[i], &numbers[i]), SAP_OK);
        }
        ck_assert_int_eq(sap_arena_free_page(arena, 0), SAP_ERROR);
        ck_assert_int_eq(sap_arena_free_page(arena, 1000000), SAP_ERROR);
        ck_assert_int_eq(sap_arena_free_page(arena, NODE_BIT - 1), SAP_ERROR);
        ck_assert_int_eq(sap_arena_free_page(arena, NODE_BIT | numbers[0]), SAP_ERROR);
        ck_assert_int_eq(sap_arena_free_page(arena, UINT32_MAX), SAP_ERROR);
        ck_assert_int_eq(sap_arena_free_page_ptr(arena, NULL), SAP_ERROR);
        ck_assert_int_eq(sap_arena_free_page_ptr(arena, foreign), SAP_ERROR);
        ck_assert_int_eq(sap_arena_free_page_ptr(arena, (char *)pages[0] + 16), SAP_ERROR);
        ck_assert_uint_eq(sap_arena_active_pages(arena), 3);
        ck_assert_int_eq(sap_arena_free_page(arena, numbers[1]), SAP_OK);
        ck_assert_int_eq(sap_arena_free_page(arena, numbers[1]), SAP_ERROR);
        ck_assert_int_eq(sap_arena_free_page_ptr(arena, pages[1]), SAP_ERROR);
        ck_assert_uint_eq(sap_arena_active_pages(arena), 2);
        ck_assert_ptr_null(sap_arena_resolve(arena, 1000000));
        ck_assert_ptr_null(sap_arena_resolve(arena, NODE_BIT | 999999));
        ck_assert_int_eq(sap_arena_free_page_ptr(arena, pages[0]), SAP_OK);
        ck_assert_int_eq(sap_arena_free_page_ptr(arena, pages[0]), SAP_ERROR);
        ck_assert_int_eq(sap_arena_free_page(arena, numbers[2]), SAP_OK);
        backing_close(&backing);
    }
}
END_TEST

START_TEST(missing_out_parameters_allocate_nothing)
{
    for (int kind = 0; kind < BACKING_KIND_COUNT; kind++) {
        Backing backing;
        void *p = NULL;
        uint32_t no = 0;
        backing_open(&backing, (BackingKind)kind, 512, max_bytes);
        ck_assert_int_eq(sap_arena_alloc_page(backing.arena, NULL, &no), SAP_ERROR);
        ck_assert_int_eq(sap_arena_alloc_page(backing.arena, &p, NULL), SAP_ERROR);
        ck_assert_int_eq(sap_arena_alloc_node(backing.arena, 16, NULL, &no), SAP_ERROR);
        ck_assert_int_eq(sap_arena_alloc_node(backing.arena, 16, &p, NULL), SAP_ERROR);
        ck_assert_uint_eq(sap_arena_active_pages(backing.arena), 0);
        backing_close(&backing);
    }
}
END_TEST

/* ---- Nodes ---------------------------------------------------------------------------------- */

START_TEST(nodes_have_every_size_that_a_page_can_hold)
{
    static const uint32_t page_sizes[] = {256, 300, 1024, 65535};

    for (int kind = 0; kind < BACKING_KIND_COUNT; kind++) {
        for (uint32_t i = 0; i < sizeof page_sizes / sizeof page_sizes[0]; i++) {
            Backing backing;
            void *node = NULL;
            uint32_t no = 0;
            uint32_t step = page_sizes[i] > 2000 ? 997 : 1;
            backing_open(&backing, (BackingKind)kind, page_sizes[i], max_bytes);
            SapMemArena *arena = backing.arena;
            ck_assert_int_eq(sap_arena_alloc_node(arena, 0, &node, &no), SAP_ERROR);
            ck_assert_int_eq(sap_arena_alloc_node(arena, page_sizes[i] - 15, &node, &no),
                             SAP_ERROR);
            ck_assert_int_eq(sap_arena_alloc_node(arena, UINT32_MAX, &node, &no), SAP_ERROR);
            ck_assert_uint_eq(sap_arena_active_pages(arena), 0);
            for (uint32_t size = 1; size <= page_sizes[i] - 16;) {
                ck_assert_int_eq(sap_arena_alloc_node(arena, size, &node, &no), SAP_OK);
                ck_assert_uint_eq(no & NODE_BIT, NODE_BIT);
                ck_assert_uint_eq((uintptr_t)node % 16, 0);
                ck_assert_ptr_eq(sap_arena_resolve(arena, no), node);
                memset(node, 0xcc, size);
                ck_assert_uint_ge(sap_arena_active_pages(arena), 1);
                ck_assert_int_eq(size % 2 == 0 ? sap_arena_free_node(arena, no, size)
                                               : sap_arena_free_node_ptr(arena, node, size),
                                 SAP_OK);
                uint32_t next = size + step;
                size = size < page_sizes[i] - 16 && next > page_sizes[i] - 16 ? page_sizes[i] - 16
                                                                              : next;
            }
            ck_assert_uint_eq(sap_arena_active_pages(arena), 0);
            backing_close(&backing);
        }
    }
}
END_TEST

START_TEST(small_nodes_share_pages)
{
    enum { COUNT = 200 };
    Backing backing;
    void *nodes[COUNT];
    uint32_t numbers[COUNT];

    backing_open(&backing, BACKING_MALLOC, 4096, 0);
    for (uint32_t i = 0; i < COUNT; i++) {
        ck_assert_int_eq(sap_arena_alloc_node(backing.arena, 16, &nodes[i], &numbers[i]), SAP_OK);
    }
    ck_assert_uint_le(sap_arena_active_pages(backing.arena), 4);
    for (uint32_t i = 0; i < COUNT; i++) {
        ck_assert_int_eq(sap_arena_free_node(backing.arena, numbers[i], 16), SAP_OK);
    }
    backing_close(&backing);
}
END_TEST

START_TEST(a_node_that_is_not_handed_out_cannot_be_freed)
{
    for (int kind = 0; kind < BACKING_KIND_COUNT; kind++) {
        Backing backing;
        void *nodes[3];
        uint32_t numbers[3];
        void *page = NULL;
        uint32_t pgno = 0;
        uint8_t foreign[64];
        backing_open(&backing, (BackingKind)kind, 512, max_bytes);
        SapMemArena *arena = backing.arena;
        for (int i = 0; i < 3; i++) {
            ck_assert_int_eq(sap_arena_alloc_node(arena, 40, &nodes[i], &numbers[i]), SAP_OK);
        }
        ck_assert_int_eq(sap_arena_alloc_page(arena, &page, &pgno), SAP_OK);
        uint64_t active = sap_arena_active_pages(arena);
        ck_assert_int_eq(sap_arena_free_node(arena, 0, 40), SAP_ERROR);
        ck_assert_int_eq(sap_arena_free_node(arena, NODE_BIT, 40), SAP_ERROR);
        ck_assert_int_eq(sap_arena_free_node(arena, UINT32_MAX, 40), SAP_ERROR);
        ck_assert_int_eq(sap_arena_free_node(arena, pgno, 40), SAP_ERROR);
        ck_assert_int_eq(sap_arena_free_node(arena, numbers[0], 0), SAP_ERROR);
        ck_assert_int_eq(sap_arena_free_node_ptr(arena, NULL, 40), SAP_ERROR);
        ck_assert_int_eq(sap_arena_free_node_ptr(arena, foreign, 40), SAP_ERROR);
        ck_assert_int_eq(sap_arena_free_node_ptr(arena, page, 40), SAP_ERROR);
        ck_assert_int_eq(sap_arena_free_page(arena, numbers[0]), SAP_ERROR);
        ck_assert_int_eq(sap_arena_free_node(arena, numbers[1], 40), SAP_OK);
        ck_assert_int_eq(sap_arena_free_node(arena, numbers[1], 40), SAP_ERROR);
        ck_assert_int_eq(sap_arena_free_node_ptr(arena, nodes[1], 40), SAP_ERROR);
        ck_assert_uint_eq(sap_arena_active_pages(arena), active);
        ck_assert_ptr_eq(sap_arena_resolve(arena, numbers[0]), nodes[0]);
        ck_assert_ptr_eq(sap_arena_resolve(arena, pgno), page);
        ck_assert_int_eq(sap_arena_free_node(arena, numbers[0], 40), SAP_OK);
        ck_assert_int_eq(sap_arena_free_node_ptr(arena, nodes[2], 40), SAP_OK);
        ck_assert_int_eq(sap_arena_free_page(arena, pgno), SAP_OK);
        backing_close(&backing);
    }
}
END_TEST

/* ---- Histories ------------------------------------------------------------------------------ */

typedef struct Piece {
    void *address;
    uint32_t number;
    uint32_t size; /* 0: a page */
    uint8_t fill;
} Piece;

static void expect_fill(const Piece *piece, uint32_t page_size)
{
    const uint8_t *bytes = piece->address;
    uint32_t size = piece->size == 0 ? page_size : piece->size;

    for (uint32_t i = 0; i < size; i++) {
        EXPECT(bytes[i] == piece->fill, "byte %u of a piece of %u has changed", i, size);
    }
}

static void take_piece(SapMemArena *arena, Choice *choice, Piece *piece, uint32_t page_size)
{
    static uint8_t fill;

    if (choice_one_in(choice, 3)) {
        piece->size = 0;
        EXPECT_RC(sap_arena_alloc_page(arena, &piece->address, &piece->number), SAP_OK);
    } else {
        uint32_t most = choice_one_in(choice, 2) ? 48 : page_size - 16;
        piece->size = 1 + choice_below(choice, most);
        EXPECT_RC(sap_arena_alloc_node(arena, piece->size, &piece->address, &piece->number),
                  SAP_OK);
    }
    EXPECT((uintptr_t)piece->address % 16 == 0, "a piece is not aligned");
    EXPECT(((piece->number & NODE_BIT) != 0) == (piece->size != 0), "a number of the wrong kind");
    piece->fill = ++fill;
    memset(piece->address, fill, piece->size == 0 ? page_size : piece->size);
}

static void give_piece(SapMemArena *arena, Choice *choice, Piece *piece, uint32_t page_size)
{
    bool by_address = choice_one_in(choice, 2);

    EXPECT(sap_arena_resolve(arena, piece->number) == piece->address, "resolve has changed");
    expect_fill(piece, page_size);
    if (piece->size == 0) {
        EXPECT_RC(by_address ? sap_arena_free_page_ptr(arena, piece->address)
                             : sap_arena_free_page(arena, piece->number),
                  SAP_OK);
    } else {
        EXPECT_RC(by_address ? sap_arena_free_node_ptr(arena, piece->address, piece->size)
                             : sap_arena_free_node(arena, piece->number, piece->size),
                  SAP_OK);
    }
    piece->address = NULL;
}

static uint64_t run_history(BackingKind kind, uint32_t page_size, uint64_t seed)
{
    enum { PIECES = 150, OPERATIONS = 3000 };
    Piece pieces[PIECES];
    Choice choice;
    Backing backing;
    uint64_t taken = 0;
    uint64_t pages = 0;

    expect_context("%s arena, page size %u, SAP_TEST_SEED=%llu", backing_name(kind), page_size,
                   (unsigned long long)seed);
    memset(pieces, 0, sizeof pieces);
    choice_from_seed(&choice, seed);
    backing_open(&backing, kind, page_size, max_bytes);
    for (uint32_t i = 0; i < OPERATIONS; i++) {
        Piece *piece = &pieces[choice_below(&choice, PIECES)];
        if (piece->address == NULL) {
            take_piece(backing.arena, &choice, piece, page_size);
            taken++;
            pages += piece->size == 0 ? 1 : 0;
        } else {
            pages -= piece->size == 0 ? 1 : 0;
            give_piece(backing.arena, &choice, piece, page_size);
        }
        EXPECT(sap_arena_active_pages(backing.arena) >= pages, "too few active pages");
    }
    for (uint32_t i = 0; i < PIECES; i++) {
        if (pieces[i].address != NULL) {
            give_piece(backing.arena, &choice, &pieces[i], page_size);
        }
    }
    EXPECT(sap_arena_active_pages(backing.arena) == 0, "pages are left");
    backing_close(&backing);
    return taken;
}

START_TEST(pages_and_nodes_keep_their_contents_through_random_histories)
{
    static const uint32_t page_sizes[] = {256, 257, 512, 4096, 65535};
    uint64_t first = choice_first_seed();
    uint64_t count = choice_seed_count(8);
    uint64_t taken = 0;

    for (uint64_t seed = first; seed < first + count; seed++) {
        for (int kind = 0; kind < BACKING_KIND_COUNT; kind++) {
            taken += run_history((BackingKind)kind, page_sizes[(seed + (uint64_t)kind) % 5], seed);
        }
    }
    printf("arena histories: seeds %llu to %llu, %llu pieces\n", (unsigned long long)first,
           (unsigned long long)(first + count - 1), (unsigned long long)taken);
    ck_assert_uint_gt(taken, 0);
}
END_TEST

/* ---- Bounds --------------------------------------------------------------------------------- */

static void check_bound(BackingKind kind, uint32_t page_size, uint64_t bound)
{
    enum { MOST = 4096 };
    static uint32_t numbers[MOST];
    Backing backing;
    void *page = NULL;
    uint32_t count = 0;
    uint32_t no = 0;
    int rc = SAP_OK;

    expect_context("%s arena, page size %u, bound %llu", backing_name(kind), page_size,
                   (unsigned long long)bound);
    backing_open(&backing, kind, page_size, bound);
    uint64_t stride = sap_arena_page_stride(backing.arena);
    while ((rc = sap_arena_alloc_page(backing.arena, &page, &numbers[count])) == SAP_OK) {
        memset(page, 0x77, page_size);
        count++;
        EXPECT(count < MOST, "the bound does not bind");
    }
    ck_assert_int_eq(rc, SAP_FULL);
    EXPECT(count * stride <= bound, "%u pages of %u bytes", count, (uint32_t)stride);
    EXPECT((count + 2) * stride > bound - bound / 8, "only %u pages of %u bytes", count,
           (uint32_t)stride);
    ck_assert_int_eq(sap_arena_alloc_node(backing.arena, page_size - 16, &page, &no), SAP_FULL);
    ck_assert_uint_eq(sap_arena_active_pages(backing.arena), count);
    /* One back, one out. */
    ck_assert_int_eq(sap_arena_free_page(backing.arena, numbers[count / 2]), SAP_OK);
    ck_assert_int_eq(sap_arena_alloc_page(backing.arena, &page, &numbers[count / 2]), SAP_OK);
    ck_assert_int_eq(sap_arena_alloc_page(backing.arena, &page, &no), SAP_FULL);
    for (uint32_t i = 0; i < count; i++) {
        ck_assert_int_eq(sap_arena_free_page(backing.arena, numbers[i]), SAP_OK);
    }
    backing_close(&backing);
}

START_TEST(bounded_arenas_are_full_at_their_bound)
{
    static const BackingKind kinds[] = {BACKING_LINEAR, BACKING_MMAP_ANON, BACKING_MMAP_FILE,
                                        BACKING_WASI_FD};

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        check_bound(kinds[i], 256, 256 * 1024);
        check_bound(kinds[i], 300, 256 * 1024);
        check_bound(kinds[i], 4096, 1 << 20);
        check_bound(kinds[i], 65535, 4 << 20);
    }
}
END_TEST

START_TEST(a_file_arena_grows_its_file_and_writes_to_it)
{
    enum { COUNT = 64, PAGE = 4096 };
    Backing backing;
    struct stat st;
    uint32_t numbers[COUNT];
    void *page = NULL;

    backing_open(&backing, BACKING_MMAP_FILE, PAGE, 1 << 20);
    for (uint32_t i = 0; i < COUNT; i++) {
        ck_assert_int_eq(sap_arena_alloc_page(backing.arena, &page, &numbers[i]), SAP_OK);
        memset(page, 'F', PAGE);
    }
    ck_assert_int_eq(fstat(backing.fd, &st), 0);
    ck_assert_int_ge(st.st_size, COUNT * PAGE);
    ck_assert_int_le(st.st_size, 1 << 20);
    uint32_t written = 0;
    for (off_t at = 0; at < st.st_size; at += PAGE) {
        char byte = 0;
        ck_assert_int_eq(pread(backing.fd, &byte, 1, at + 100), 1);
        written += byte == 'F' ? 1 : 0;
    }
    ck_assert_uint_ge(written, COUNT - 1);
    for (uint32_t i = 0; i < COUNT; i++) {
        ck_assert_int_eq(sap_arena_free_page(backing.arena, numbers[i]), SAP_OK);
    }
    /* The descriptor stays the caller's. */
    int fd = dup(backing.fd);
    backing_close(&backing);
    ck_assert_int_eq(fstat(fd, &st), 0);
    close(fd);
}
END_TEST

START_TEST(a_custom_arena_without_pages_is_out_of_memory)
{
    Backing backing;
    void *p = NULL;
    uint32_t no = 0;

    backing_open(&backing, BACKING_CUSTOM, 512, 0);
    backing_fail_at(&backing, 1);
    ck_assert_int_eq(sap_arena_alloc_page(backing.arena, &p, &no), SAP_NOMEM);
    backing_fail_at(&backing, 1);
    ck_assert_int_eq(sap_arena_alloc_node(backing.arena, 16, &p, &no), SAP_NOMEM);
    ck_assert_ptr_null(p);
    ck_assert_uint_eq(no, 0);
    ck_assert_uint_eq(backing.failed, 2);
    ck_assert_uint_eq(sap_arena_active_pages(backing.arena), 0);
    ck_assert_int_eq(sap_arena_alloc_page(backing.arena, &p, &no), SAP_OK);
    ck_assert_uint_ge(backing.live_size, 512);
    ck_assert_int_eq(sap_arena_free_page(backing.arena, no), SAP_OK);
    backing_close(&backing);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine_arena");
    TCase *tcase = tcase_create("arena");

    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_test(tcase, bad_options_are_refused);
    tcase_add_test(tcase, a_file_that_cannot_be_mapped_is_an_io_error);
    tcase_add_test(tcase, no_options_are_the_heap_with_4_kib_pages);
    tcase_add_test(tcase, calls_on_no_arena_are_errors);
    tcase_add_test(tcase,
                   pages_of_every_kind_and_size_are_apart_and_are_used_again_last_freed_first);
    tcase_add_test(tcase, a_page_that_is_not_handed_out_cannot_be_freed);
    tcase_add_test(tcase, missing_out_parameters_allocate_nothing);
    tcase_add_test(tcase, nodes_have_every_size_that_a_page_can_hold);
    tcase_add_test(tcase, small_nodes_share_pages);
    tcase_add_test(tcase, a_node_that_is_not_handed_out_cannot_be_freed);
    tcase_add_test(tcase, pages_and_nodes_keep_their_contents_through_random_histories);
    tcase_add_test(tcase, bounded_arenas_are_full_at_their_bound);
    tcase_add_test(tcase, a_file_arena_grows_its_file_and_writes_to_it);
    tcase_add_test(tcase, a_custom_arena_without_pages_is_out_of_memory);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
