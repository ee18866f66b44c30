/* session.pml - sessions and their clocks: a worker stops before anybody finds its session expired.
 *
 * MODELLED
 *
 * The session rows of three workers, their renewals, and all clocks. Workers 1 and 3 have the same
 * name; 3 starts at any time, whether 1 works, was stopped or has crashed. With WORKERS=2, worker 2
 * only looks at the sessions of the others. A renewal interval has UNIT ticks. Times are kept
 * relative to now, so that a run may be of any length.
 *
 *   step            in src/universe/session.c
 *   sent            write_session reads before_ns and sends the request
 *   carried_out     renew_body compares the nonce and writes the row, by lease time
 *   answered        write_session sets deadline_ns
 *
 * A request may be lost before it is carried out, and its answer after that. Each step may come as
 * late as it likes, or never: the worker is slow, was stopped, or has crashed.
 *
 * Boot clocks keep pace with real time. Lease clocks do so too, but one may be ahead of another by
 * SKEW, a renewal interval, which is what the store promises. A renewal stores its worker's lease
 * time; if more is stored already, the worker's clock goes forward to that (src/store/time.h).
 *
 * INVARIANTS, asserted after every step (check_all)
 *
 *   1. While a worker may work by its own deadline, nobody finds its session expired.
 *   2. Nobody finds a session expired that was renewed less than TTL ago: a clock that is ahead
 *      declares nobody dead who is alive.
 *   3. A session that was replaced does not come back, and its worker stops with the first answer
 *      to a renewal.
 *
 * LEFT OUT
 *
 * Leases: whatever sessions do, the epoch protects the worlds (lease.pml).
 *
 * BOUNDS
 *
 * The workers, and how fine the ticks are. Nothing else is bounded. */

#ifndef WORKERS
#define WORKERS 3
#endif
#ifndef UNIT
#define UNIT 1
#endif
#define TTL (4 * UNIT)
#define SKEW UNIT

#define MARGIN UNIT

/* ---- Bugs that may be planted ---------------------------------------------------------------- */

#ifdef NO_WAIT /* others do not wait one renewal longer */
#define WAIT 0
#else
#define WAIT UNIT
#endif

#ifdef FROM_ANSWER /* the deadline counts from the answer, not from before the request */
#define RENEWED_UNTIL(w) (TTL - MARGIN)
#else
#define RENEWED_UNTIL(w) pending[w]
#endif

#ifdef ANY_NONCE /* a renewal does not compare the nonce */
#define IS_MINE(w) (nonce[NAME(w)] != 0)
#else
#define IS_MINE(w) (nonce[NAME(w)] == w)
#endif

/* ---- Rows and clocks ------------------------------------------------------------------------- */

#define NAME(w) ((w) % 2)
#define BIT(w) (1 << (w))

/* By name. */
byte nonce[2];    /* 0: there is no row */
short expires[2]; /* the row's lease time, less that of the slowest clock possible */
byte age[2];      /* ticks since the row was written */

byte stored; /* the stored lease time, less that of the slowest clock possible; 0: not above it */

/* By worker, from 1 on. */
byte ahead[4];    /* its lease clock, less the slowest possible */
byte deadline[4]; /* ticks for which it may work */
byte pending[4];  /* what its deadline will be, if its request is answered now */

byte replaced; /* workers whose session was replaced */
byte over;     /* those of them that know */

#define MAY_WORK(w) (deadline[w] > 0)
#define EXPIRED(asking, name) (ahead[asking] >= expires[name] + WAIT)

inline check_worker(w)
{
    assert(!MAY_WORK(w) || nonce[NAME(w)] != w ||
           !(EXPIRED(1, NAME(w)) || EXPIRED(2, NAME(w)) || EXPIRED(3, NAME(w))));
    assert(!(replaced & BIT(w)) || nonce[NAME(w)] != w);
    assert(!(over & BIT(w)) || !MAY_WORK(w))
}

inline check_name(name)
{
    assert(nonce[name] == 0 || age[name] >= TTL ||
           !(EXPIRED(1, name) || EXPIRED(2, name) || EXPIRED(3, name)))
}

inline check_all()
{
    check_worker(1);
    check_worker(2);
    check_worker(3);
    check_name(0);
    check_name(1)
}

/* ---- Workers --------------------------------------------------------------------------------- */

inline write_row(w)
{
    if
    :: stored > ahead[w] -> ahead[w] = stored
    :: else -> stored = ahead[w]
    fi;
    replaced = (nonce[NAME(w)] != w -> replaced | BIT(nonce[NAME(w)]) : replaced);
    nonce[NAME(w)] = w;
    expires[NAME(w)] = ahead[w] + TTL;
    age[NAME(w)] = 0;
    check_all()
}

inline forget_request(w)
{
    pending[w] = 0
}

inline answered(w)
{
    deadline[w] = RENEWED_UNTIL(w);
    forget_request(w);
    check_all()
}

proctype Worker(byte me)
{
    d_step { pending[me] = TTL - MARGIN };
    d_step { write_row(me) };
    d_step { answered(me) };
    do
    :: d_step { pending[me] = TTL - MARGIN }; /* sent */
       if
       :: d_step { IS_MINE(me) -> write_row(me) }; /* carried_out */
          if
          :: d_step { answered(me) }
          :: d_step { forget_request(me) } /* the answer is lost */
          fi
       :: d_step {
            !IS_MINE(me) -> /* SAP_FENCED */
            forget_request(me);
            deadline[me] = 0;
            over = over | BIT(me)
          };
          break
       :: d_step { forget_request(me) } /* the request is lost */
       fi
    od
}

/* ---- Time ------------------------------------------------------------------------------------ */

inline go_on(counter)
{
    counter = (counter > 0 -> counter - 1 : 0)
}

active proctype Clock()
{
    do
    :: d_step {
        go_on(deadline[1]);
        go_on(deadline[2]);
        go_on(deadline[3]);
        go_on(pending[1]);
        go_on(pending[2]);
        go_on(pending[3]);
        go_on(stored);
        /* From there on everybody finds it expired. */
        expires[0] = (expires[0] > -WAIT -> expires[0] - 1 : expires[0]);
        expires[1] = (expires[1] > -WAIT -> expires[1] - 1 : expires[1]);
        age[0] = (age[0] < TTL -> age[0] + 1 : TTL);
        age[1] = (age[1] < TTL -> age[1] + 1 : TTL);
        check_all()
       }
    od
}

init
{
    atomic {
        do
        :: ahead[1] < SKEW -> ahead[1]++
        :: break
        od;
        do
        :: ahead[2] < SKEW -> ahead[2]++
        :: break
        od;
        do
        :: ahead[3] < SKEW -> ahead[3]++
        :: break
        od;
        run Worker(1);
#if WORKERS == 3
        run Worker(2);
#endif
        run Worker(3)
    }
}
