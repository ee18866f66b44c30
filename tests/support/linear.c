#include "support/linear.h"

#include "common/hash.h"
#include "support/expect.h"

#include <stdlib.h>
#include <string.h>

enum { WORD_BITS = 64, FIRST_SLOTS = 1024 };

/* The start or the end of a call, in the list of those that were not taken yet. */
typedef struct Event {
    uint64_t moment;
    uint32_t op;
    bool is_end;
    struct Event *other; /* the end of a start; NULL where there is none */
    struct Event *prev;
    struct Event *next;
} Event;

/* What has been tried: sets of operations with the state they lead to, one after the other in `room`,
 * found by open addressing. */
typedef struct Tried {
    size_t record; /* bytes of one */
    uint8_t *room;
    uint32_t count;
    uint32_t *slots; /* number of a record plus 1 */
    uint32_t slot_count;
} Tried;

typedef struct Search {
    const LinearModel *model;
    const uint8_t *ops;
    Event head; /* before the first */
    uint64_t *taken;
    size_t words; /* of `taken` */
    uint32_t ends_left;
    uint8_t *states; /* a stack: that before each operation taken, and the present one on top */
    Event **stack;
    uint32_t depth;
    Tried tried;
    LinearEffort effort;
} Search;

static void *must_alloc(size_t count, size_t size)
{
    void *p = calloc(count == 0 ? 1 : count, size);
    EXPECT(p != NULL, "no memory");
    return p;
}

static const LinearCall *call_of(const Search *search, uint32_t op)
{
    return (const void *)(search->ops + op * search->model->op_size);
}

static uint8_t *state_at(const Search *search, uint32_t depth)
{
    return search->states + depth * search->model->state_size;
}

/* ---- What was tried ------------------------------------------------------------------------- */

static uint32_t *find_slot(const Tried *tried, const uint8_t *record)
{
    uint32_t at = (uint32_t)hash_bytes(record, tried->record, 0) & (tried->slot_count - 1);
    while (tried->slots[at] != 0 && memcmp(tried->room + (tried->slots[at] - 1) * tried->record,
                                           record, tried->record) != 0) {
        at = (at + 1) & (tried->slot_count - 1);
    }
    return &tried->slots[at];
}

static void grow_tried(Tried *tried)
{
    tried->slot_count = tried->slot_count == 0 ? FIRST_SLOTS : tried->slot_count * 2;
    free(tried->slots);
    tried->slots = must_alloc(tried->slot_count, sizeof *tried->slots);
    tried->room = realloc(tried->room, (size_t)tried->slot_count * tried->record);
    EXPECT(tried->room != NULL, "no memory");
    for (uint32_t i = 0; i < tried->count; i++) {
        *find_slot(tried, tried->room + i * tried->record) = i + 1;
    }
}

/* True if the set and the state were not tried before. */
static bool note_tried(Search *search, const uint8_t *state)
{
    Tried *tried = &search->tried;
    if (tried->count * 2 >= tried->slot_count) {
        grow_tried(tried);
    }
    uint8_t *record = tried->room + tried->count * tried->record;
    memcpy(record, search->taken, search->words * sizeof *search->taken);
    memcpy(record + search->words * sizeof *search->taken, state, search->model->state_size);
    uint32_t *slot = find_slot(tried, record);
    if (*slot != 0) {
        return false;
    }
    *slot = ++tried->count;
    return true;
}

/* ---- The list ------------------------------------------------------------------------------- */

/* Ends before starts at the same moment would order calls that overlap: starts come first. */
static int compare_events(const void *left, const void *right)
{
    const Event *a = left;
    const Event *b = right;
    if (a->moment != b->moment) {
        return a->moment < b->moment ? -1 : 1;
    }
    return (int)a->is_end - (int)b->is_end;
}

static void unlink_event(Event *event)
{
    event->prev->next = event->next;
    if (event->next != NULL) {
        event->next->prev = event->prev;
    }
}

static void relink_event(Event *event)
{
    event->prev->next = event;
    if (event->next != NULL) {
        event->next->prev = event;
    }
}

static void flip_taken(Search *search, uint32_t op)
{
    search->taken[op / WORD_BITS] ^= UINT64_C(1) << op % WORD_BITS;
}

static Event *make_events(Search *search, uint32_t count)
{
    Event *events = must_alloc((size_t)count * 2, sizeof *events);
    Event **starts = must_alloc(count, sizeof(Event *));
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++) {
        const LinearCall *call = call_of(search, i);
        EXPECT(call->start < call->end, "operation %u ends before it starts", i);
        events[n++] = (Event){.moment = call->start, .op = i};
        if (call->end != LINEAR_NEVER) {
            events[n++] = (Event){.moment = call->end, .op = i, .is_end = true};
            search->ends_left++;
        }
    }
    qsort(events, n, sizeof *events, compare_events);
    Event *prev = &search->head;
    for (uint32_t i = 0; i < n; i++) {
        events[i].prev = prev;
        prev->next = &events[i];
        prev = &events[i];
        if (events[i].is_end) {
            starts[events[i].op]->other = &events[i];
        } else {
            starts[events[i].op] = &events[i];
        }
    }
    free(starts);
    return events;
}

/* ---- The search ----------------------------------------------------------------------------- */

static void take_op(Search *search, Event *start)
{
    search->stack[search->depth++] = start;
    unlink_event(start);
    if (start->other != NULL) {
        unlink_event(start->other);
        search->ends_left--;
    }
}

/* Gives back the operation taken last. */
static Event *give_back(Search *search)
{
    Event *start = search->stack[--search->depth];
    flip_taken(search, start->op);
    if (start->other != NULL) {
        relink_event(start->other);
        search->ends_left++;
    }
    relink_event(start);
    return start;
}

static bool try_op(Search *search, Event *start)
{
    uint8_t *after = state_at(search, search->depth + 1);
    search->effort.applied++;
    memset(after, 0, search->model->state_size);
    if (!search->model->apply(state_at(search, search->depth), call_of(search, start->op), after)) {
        return false;
    }
    flip_taken(search, start->op);
    if (!note_tried(search, after)) {
        flip_taken(search, start->op);
        return false;
    }
    take_op(search, start);
    return true;
}

static bool run_search(Search *search)
{
    Event *event = search->head.next;
    while (search->ends_left > 0) {
        EXPECT(event != NULL, "there is an end that was not taken");
        if (!event->is_end) {
            event = try_op(search, event) ? search->head.next : event->next;
        } else if (search->depth > 0) {
            event = give_back(search)->next;
        } else {
            return false;
        }
    }
    return true;
}

bool linear_check(const LinearModel *model, const void *ops, uint32_t count, LinearEffort *effort)
{
    Search search = {.model = model, .ops = ops};
    search.words = count / WORD_BITS + 1;
    search.taken = must_alloc(search.words, sizeof *search.taken);
    search.states = must_alloc((size_t)count + 2, model->state_size);
    search.stack = must_alloc(count, sizeof(Event *));
    search.tried.record = search.words * sizeof *search.taken + model->state_size;
    Event *events = make_events(&search, count);
    bool is_linear = run_search(&search);
    if (effort != NULL) {
        effort->applied += search.effort.applied;
        effort->states += search.tried.count;
    }
    free(events);
    free(search.tried.slots);
    free(search.tried.room);
    free(search.stack);
    free(search.states);
    free(search.taken);
    return is_linear;
}
