/* lease.pml - a world changes hands: leases, epochs, cycles, unknown outcomes.
 *
 * MODELLED
 *
 * One world, and the workers that want it: processes with a session each. Workers 1 and 3 have the
 * same name, as have 2 and 4. The later one starts when the earlier one has crashed (PROCESSES=2),
 * or at any time beside it (PROCESSES=3: 1 is stopped, or still starting).
 *
 *   step of a worker     in src/universe
 *   start                session_start: writes its row, whatever was there
 *   read_hints           read_hints
 *   acquire              lease_acquire_world, journal_open
 *   read_inbox, run      cycle_load, cycle_run: the oldest item, or all
 *   submit               submit_body: compares lease, head and items, and writes
 *   resolve              resolve_batch, after an unknown outcome
 *   give_back            lease_release
 *   clear_dead           lease_clear_dead
 *   drop_hints           delete_hint_body
 *
 * Each step is one transaction. Between any two of them other workers may do anything, for as long
 * as they like: a worker that makes no step meanwhile is one that was stopped (SIGSTOP), and it
 * goes on later with what it knew. A worker may also crash there; it loses its memory, not what it
 * has sent.
 *
 * The connection may break in the commit of any transaction that guards the lease. Its worker then
 * knows nothing. The transaction is still on the server with its guards, until the server commits
 * or undoes it (Server); all others that guard the lease wait for that.
 *
 * There is no time here. Anybody may find any session expired at any moment, also that of a worker
 * that renews it, and no worker stops by its own clock. So the invariants hold for all clocks, for
 * those that jump and for those that stand still too. session.pml has the clocks.
 *
 * INVARIANTS, each with the place where it is asserted
 *
 *   1. The epoch never falls, and who is given the lease gets an epoch that nobody had before: one
 *      epoch belongs to one session (put_lease).
 *   2. Only the holder of the lease moves the head, at the epoch of the lease (apply_cycle).
 *   3. Each item is consumed once: it is either in the inbox or in the journal (apply_cycle,
 *      check_rows).
 *   4. A cycle that its worker takes for committed was committed, by that worker; one that it
 *      submits again was not (resolve, committed).
 *   5. An active world that has items has a hint (check_rows).
 *   6. When no more faults happen, the inbox gets empty (Faults).
 *
 * For 6 there is `calm`, which may begin in every state. From then on nobody crashes, no outcome is
 * unknown, and sessions are alive exactly if their workers are. The model runs on until nobody can
 * make a step (`timeout`); then the inbox is empty and all guards are free. Spin also shows that
 * this end comes: no cycle of steps lies in calm (non-progress cycles, -DNP).
 *
 * LEFT OUT
 *
 * Handlers that fail, dead letters, batches of several worlds, delete and create, ids of items (an
 * item is sent once), power cuts. What is in an entry: a head is its height here, so that it is
 * compared less strictly than the digests are. SAP_BUSY and SAP_CONFLICT: nothing has happened, and
 * the step waits here until it can be made. Rows of dead sessions are not deleted: others treat a
 * session that has expired as one without a row.
 *
 * Acquiring is one step: who moves the head between lease_acquire_world and journal_open has taken
 * the lease. It includes reading the hints: had they been read before, the cycle would delete fewer
 * of them.
 *
 * BOUNDS
 *
 * ITEMS items, CRASHES crashes; until calm the epoch rises to EPOCHS at most, by takeovers and
 * pauses. Neither unknown outcomes nor the length of a run are bounded. */

#ifndef PROCESSES
#define PROCESSES 2
#endif
#ifndef ITEMS
#define ITEMS 2
#endif
#ifndef EPOCHS
#define EPOCHS 3
#endif
#ifndef CRASHES
#define CRASHES 1
#endif

/* ---- Bugs that may be planted ---------------------------------------------------------------- */

#ifdef EPOCH_KEPT /* a takeover keeps the epoch */
#define NEXT_EPOCH (epoch + (holder == 0))
#else
#define NEXT_EPOCH (epoch + 1)
#endif

#ifdef RELEASE_RESETS /* a release forgets the epoch */
#define EPOCH_OF_FREE 0
#else
#define EPOCH_OF_FREE epoch
#endif

#if defined(NO_FENCE) /* a cycle does not compare the lease */
#define MAY_COMMIT(w, e) true
#elif defined(EPOCH_ONLY) /* ... or only its epoch, which stays when the lease is given back */
#define MAY_COMMIT(w, e) (epoch == (e))
#else
#define MAY_COMMIT(w, e) STANDS(w, e)
#endif

#ifdef NO_GUARD /* a cycle compares the lease, but does not guard it until it is committed */
#define GUARD_OF_CYCLE(w) 0
#else
#define GUARD_OF_CYCLE(w) w
#endif

#if defined(HINT_LOST) /* a cycle that leaves items puts no hint in place of those it has read */
#define HINT_OF_CYCLE(rest) 0
#elif defined(HINT_ALWAYS) /* a cycle puts a hint, also if it leaves nothing */
#define HINT_OF_CYCLE(rest) HINT_MORE(height)
#else
#define HINT_OF_CYCLE(rest) ((rest) * HINT_MORE(height))
#endif

#ifdef DEAD_HOLD /* a lease whose session is dead is not taken over */
#define TAKEABLE(w) (holder == 0 || holder == w)
#else
#define TAKEABLE(w) (holder == 0 || holder == w || !ALIVE(holder))
#endif

/* Further down:
 *
 * BLIND_RETRY: after an unknown outcome the items are appended again. Neither the head is read nor,
 * in the transaction, head and items compared: any one of the three would find out.
 * UNKNOWN_IS_YES: an unknown outcome is taken for a commit.
 * HINTS_LATE: the hints are read after the inbox. */

/* ---- The store ------------------------------------------------------------------------------- */

/* Sets of items and of hints are bits. Workers are their nonces, from 1 on; 0 is nobody. */
#define BIT(w) (1 << (w))
#define NAME(w) ((w) % 2)
#define ALL_ITEMS ((1 << ITEMS) - 1)
#define OLDEST(set) ((set) & -(set))
#define COUNT(set) (((set) & 1) + (((set) >> 1) & 1) + (((set) >> 2) & 1))

/* Hints: one comes with each item; a cycle that leaves items puts the one of the height that it
 * leads to, and no other cycle leads there. Resuming puts the same one each time: the pause before
 * it has fenced the cycles that had read the last one. */
#define HINT_RESUMED (1 << ITEMS)
#define HINT_MORE(h) (1 << (ITEMS + (h)))

byte session[2];    /* by name: whose session it is */
byte holder, epoch; /* the lease */
byte height;        /* the head */
byte inbox, hints;
bool paused; /* the status in meta */

byte sent, done; /* items put so far; those that are in the journal */

byte guard; /* who has the guards of lease and head */
#define FREE (guard == 0)

/* A transaction whose worker has lost it, and which the server has not decided. Each has guarded
 * the lease, so there is one at a time. */
mtype = { NONE, ACQUIRE, RELEASE, CYCLE };
mtype flight = NONE;
byte flight_by, flight_epoch, flight_items, flight_hints;
bool flight_rest;

byte started, crashed; /* sets of workers */
bool calm;
byte won; /* workers with a cycle that is committed, until they know */

/* Until calm every session may be found expired. */
#define ALIVE(w) (calm && session[NAME(w)] == w && !(crashed & BIT(w)))
#define MAY_WORK(w) (!calm || session[NAME(w)] == w)
#define STANDS(w, e) (holder == (w) && epoch == (e))
#define ROOM (calm || epoch < EPOCHS)

inline put_lease(new_holder, new_epoch)
{
    assert(new_epoch >= epoch);
    assert(new_holder == 0 || new_epoch > epoch);
    epoch = new_epoch;
    holder = new_holder
}

inline check_rows()
{
    assert((inbox | done) == sent && (inbox & done) == 0);
    assert(paused || inbox == 0 || hints != 0)
}

/* What a cycle writes. `rest`: it leaves items in the inbox. */
inline apply_cycle(w, e, consumed, read, rest)
{
    if
    :: consumed != 0 ->
        assert(STANDS(w, e));
        assert((done & consumed) == 0);
        done = done | consumed;
        inbox = inbox & ~consumed;
        height = height + COUNT(consumed);
        won = won | (BIT(w) & ~crashed)
    :: else
    fi;
    hints = (hints & ~read) | HINT_OF_CYCLE(rest);
    check_rows()
}

/* The connection breaks in the commit. */
inline lose(kind, w)
{
    flight = kind;
    flight_by = w;
    guard = w
}

active proctype Server()
{
    do
    :: atomic {
        flight != NONE ->
        if
        :: flight == ACQUIRE -> put_lease(flight_by, NEXT_EPOCH)
        :: flight == RELEASE -> put_lease(0, EPOCH_OF_FREE)
        :: flight == CYCLE ->
            apply_cycle(flight_by, flight_epoch, flight_items, flight_hints, flight_rest)
        :: skip /* it is undone */
        fi;
        flight = NONE;
        flight_by = 0;
        flight_epoch = 0;
        flight_items = 0;
        flight_hints = 0;
        flight_rest = 0;
        guard = 0
       }
    od
}

/* ---- Workers --------------------------------------------------------------------------------- */

inline end_cycle()
{
    read = 0;
    items = 0;
    rest = 0;
    won = won & ~BIT(me)
}

inline drop_world()
{
    end_cycle();
    mine = 0;
    head = 0
}

proctype Worker(byte me)
{
    byte mine;        /* epoch of the lease that it believes to hold; 0: none */
    byte head;        /* height of the state in its memory */
    byte read, items; /* hints and items of its cycle */
    bool rest;        /* the cycle leaves items */

start:
    {
        d_step {
            session[NAME(me)] = me;
            started = started | BIT(me)
        };

idle:
        if
        :: atomic { /* read_hints */
            MAY_WORK(me) && hints != 0 && mine != 0 ->
            read = hints
           }
        :: atomic { /* read_hints, acquire */
            MAY_WORK(me) && hints != 0 && mine == 0 && !paused && FREE &&
                session[NAME(me)] == me && TAKEABLE(me) && ROOM ->
            if
            :: holder == me -> mine = epoch; head = height; read = hints
            :: holder != me -> put_lease(me, NEXT_EPOCH); mine = epoch; head = height; read = hints
            :: holder != me && !calm -> lose(ACQUIRE, me); goto idle
            fi
           }
        :: atomic { /* read_hints: the world is not active */
            MAY_WORK(me) && hints != 0 && mine == 0 && paused ->
            read = hints;
            goto drop_hints
           }
        :: atomic { /* give_back */
            !calm && mine != 0 && FREE ->
            if
            :: !STANDS(me, mine) -> drop_world()
            :: STANDS(me, mine) -> put_lease(0, EPOCH_OF_FREE); drop_world()
            :: STANDS(me, mine) -> lose(RELEASE, me)
            fi;
            goto idle
           }
        :: atomic { /* clear_dead */
            !calm && FREE && holder != 0 && epoch < EPOCHS && !ALIVE(holder) ->
            put_lease(0, epoch + 1);
            goto idle
           }
        fi;

        atomic { /* read_inbox, run */
            if
            :: items = inbox
            :: items = OLDEST(inbox)
            fi;
            rest = (items != inbox)
        };
#ifdef HINTS_LATE
        read = hints;
#endif

submit:
        atomic {
            if
            :: FREE && MAY_COMMIT(me, mine) && head == height && (items & ~inbox) == 0 ->
                if
                :: apply_cycle(me, mine, items, read, rest); goto committed
                :: !calm ->
                    lose(CYCLE, me);
                    guard = GUARD_OF_CYCLE(me);
                    flight_epoch = mine;
                    flight_items = items;
                    flight_hints = read;
                    flight_rest = rest
                fi
            :: FREE && !(MAY_COMMIT(me, mine) && head == height && (items & ~inbox) == 0) ->
                drop_world(); /* fenced */
                goto idle
            :: !calm -> /* a failure, or its own clock stops it */
                end_cycle();
                goto idle
            fi
        };

#ifdef UNKNOWN_IS_YES
        goto committed;
#endif
        atomic { /* resolve; with NO_GUARD the guards do not show that the cycle is decided */
            FREE && flight_by != me ->
            if
#ifdef BLIND_RETRY
            :: STANDS(me, mine) -> apply_cycle(me, mine, items, read, rest); goto committed
#else
            :: items == 0 -> goto submit /* it moves no head */
            :: items != 0 && STANDS(me, mine) && head == height ->
                assert(!(won & BIT(me)));
                goto submit
            :: items != 0 && STANDS(me, mine) && head + COUNT(items) == height -> goto committed
#endif
            :: else -> drop_world(); goto idle
            fi
        };

committed:
        atomic {
            assert(items == 0 || (won & BIT(me)));
            head = head + COUNT(items);
            end_cycle();
            goto idle
        };

drop_hints:
        atomic {
            hints = (paused -> hints & ~read : hints);
            check_rows();
            end_cycle();
            goto idle
        }
    } unless {
        d_step {
            (crashed & BIT(me)) -> drop_world();
            me = me + 2
        }
    };
#if PROCESSES == 2
    if
    :: me <= 4 -> goto start
    :: else
    fi
#endif
}

/* ---- Everybody else -------------------------------------------------------------------------- */

inline put_item(item)
{
    sent = sent | item;
    inbox = inbox | item;
    hints = hints | item
}

/* In any order: an item may come after those that are younger. */
active proctype Producer()
{
    do
    :: d_step { !(sent & 1) -> put_item(1) }
    :: d_step { ITEMS > 1 && !(sent & 2) -> put_item(2) }
    :: d_step { ITEMS > 2 && !(sent & 4) -> put_item(4) }
    od
}

/* Pauses and resumes. A world that nobody has held has no lease to revoke. */
active proctype Operator()
{
    do
    :: d_step {
        !calm && FREE && !paused && epoch < EPOCHS ->
        paused = 1;
        if
        :: epoch > 0 -> put_lease(0, epoch + 1)
        :: else
        fi
       }
    :: d_step {
        FREE && paused ->
        paused = 0;
        hints = hints | HINT_RESUMED;
        check_rows()
       }
    od
}

#define CRASHED_COUNT (COUNT(crashed >> 1) + (crashed >> 4))
#define MAY_CRASH(w) (CRASHED_COUNT < CRASHES && (started & ~crashed & BIT(w)))
#define LIVES(w) (w != 0 && !(crashed & BIT(w)))

active proctype Faults()
{
progress_before_calm:
    do
    :: d_step { MAY_CRASH(1) -> crashed = crashed | BIT(1) }
    :: d_step { MAY_CRASH(2) -> crashed = crashed | BIT(2) }
    :: d_step { MAY_CRASH(3) -> crashed = crashed | BIT(3) }
    :: d_step { MAY_CRASH(4) -> crashed = crashed | BIT(4) }
    :: calm = 1 -> break
    od;
    timeout ->
    assert(FREE && flight == NONE && !paused && sent == ALL_ITEMS);
    assert(inbox == 0 || !(LIVES(session[0]) || LIVES(session[1])))
}

init
{
    atomic {
        run Worker(1);
        run Worker(2);
#if PROCESSES == 3
        run Worker(3)
#endif
    }
}
