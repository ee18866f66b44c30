/* lists.h - pages of rows for operators: durable, bounded, and nothing held between two pages.
 *
 * A page goes over the rows of one range, in short transactions; what a row is shown as is up to the list.
 * Where the next page goes on is the table and the key of the last row that was looked at, as text. */
#ifndef SAPLING_UNIVERSE_LISTS_H
#define SAPLING_UNIVERSE_LISTS_H

#include "universe/universe_impl.h"

/* The filters that a list has. */
typedef enum ListFilter {
    LIST_PREFIX = 1,
    LIST_WORLD = 2,
    LIST_KIND = 4,
    LIST_MODULE = 8,
    LIST_TAG = 16,
    LIST_STATUSES = 32,
    LIST_STATES = 64,
} ListFilter;

typedef struct Listing {
    SapUniverse *universe;
    SapListQuery query;
    const void *each; /* the program's function, of the list's type */
    void *ctx;
    SapListEnd *end;
    RowKey after; /* of the page before; len 0: from the first */
    uint32_t shown;
    uint32_t looked; /* rows */
    bool full;
} Listing;

/* Shows a row, if the filters let it pass. */
typedef int (*ListRow)(Listing *listing, SapStoreTxn *txn, const SapStoreRow *row, bool *shown_out);

/* Reads the query, and enters the universe: listing_end() in any case. SAP_ERROR: a filter that is not among
 * `filters`. SAP_INVALID: `after` is of no list, or a name is invalid. */
int listing_begin(Listing *listing, SapUniverse *universe, const SapListQuery *query,
                  unsigned filters, SapListEnd *end_out);
/* Shows the rows of a range, from where the page before ended. A page before that ended in a table that
 * comes later in the list has shown them all: `later`, or 0. */
int listing_walk(Listing *listing, const RowKey *prefix, uint32_t later, ListRow row);
int listing_end(Listing *listing, int rc);

/* Whether a text that a row has is that of a filter; NULL: any is. */
bool list_matches(const char *filter, const CodecBytes *text);

/* A text of a row, with a NUL. */
typedef struct ListText {
    char text[1025];
} ListText;
const char *list_text(ListText *room, const CodecBytes *from);

/* The rows of a table whose names begin with the prefix of the query. */
int list_prefix(const Listing *listing, uint32_t table, RowKey *prefix_out);

/* How long from now until then; 0: it is over. */
uint64_t list_left(uint64_t now_ns, uint64_t then_ns);

#endif
