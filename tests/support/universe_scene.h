/* universe_scene.h - a universe whose clock a test moves: workers that live, die and are closed, handlers
 * that do not return, and the rows that all of it leaves. */
#ifndef SAPLING_TESTS_UNIVERSE_SCENE_H
#define SAPLING_TESTS_UNIVERSE_SCENE_H

#include "support/store_suite.h"
#include "universe/universe_impl.h"

enum { SCENE_UNIVERSE = 7, SCENE_WORKERS = 8, SCENE_JOBS = 64, SCENE_LETTERS = 64 };

typedef struct Scene {
    ManualClock manual;
    Clock clock;
    SapStore *store;
    SapUniverse *universe;
    SapWorker *workers[SCENE_WORKERS]; /* those that live: scene_pass() renews their sessions */
    /* The next calls of this kind fail so. */
    SapStoreCall fault_call;
    SapStoreFault fault;
    uint32_t fault_times;
    void (*on_call)(SapStoreCall call); /* at the start of every call; NULL: nothing happens */
} Scene;

/* On a store of any kind, made by the universe's own schema. */
void scene_open(Scene *scene, const char *url, bool needs_init);
/* On the next store of a bed. False: there is no such bed here, which has been printed. */
bool scene_open_bed(Scene *scene, StoreBeds *beds, int bed);
/* Closes what lives, and compares the memory of worlds and stores with none. */
void scene_close(Scene *scene);

SapWorker *scene_worker(Scene *scene, const char *name);
SapWorker *scene_worker_with(Scene *scene, const SapWorkerOptions *options);
/* Its process ends, without a word. */
void scene_kill(Scene *scene, SapWorker *worker);
/* It gives back what it has. */
void scene_leave(Scene *scene, SapWorker *worker);

/* Time goes on, second by second, and who lives renews its session. */
void scene_pass_ms(Scene *scene, uint64_t ms);

/* Steps the worker until it has nothing to do. */
void scene_run(SapWorker *worker);
void scene_run_role(SapWorker *worker, SapRole role);

void scene_create(Scene *scene, const char *world, const char *module);
/* An item whose id is also its payload, and for which somebody waits; id NULL: neither. */
void scene_send(Scene *scene, const char *world, const char *name, const char *id);
SapWorldInfo scene_info(Scene *scene, const char *world);
SapWorkerStats scene_stats(SapWorker *worker);

/* Rows of one of the universe's tables: of this universe; of one world. */
uint32_t scene_rows(Scene *scene, uint32_t table);
uint32_t scene_world_rows(Scene *scene, uint32_t table, const char *world);
/* As nobody may write it: to damage a row. */
void scene_put_row(Scene *scene, uint32_t table, const void *key, uint32_t key_len, const void *val,
                   uint32_t val_len);
/* Overwrites the first row of the world in that table with bytes that are none of its kind. */
void scene_damage(Scene *scene, uint32_t table, const char *world);

/* A dead letter, kept. */
typedef struct SceneLetter {
    uint64_t height;
    uint8_t seq[32];
    char name[32];
    char id[32];
    char error[256];
    uint32_t attempts;
    size_t payload_len;
} SceneLetter;

/* Those of a world, as they are listed. */
uint32_t scene_letters(Scene *scene, const char *world, SceneLetter letters_out[SCENE_LETTERS]);

/* An executor that runs jobs at once, but for those of worlds whose names begin with `held`: these run
 * when scene_release() says so. */
typedef struct SceneExecutor {
    const char *held; /* NULL: none; "": all */
    bool deaf;        /* a job that is cancelled goes on until it is released */
    bool queues;      /* jobs that are held have not begun */
    uint32_t count;   /* of jobs that are held */
    ExecutorJob *jobs[SCENE_JOBS];
    uint32_t cancels;
} SceneExecutor;

void scene_executor_use(SceneExecutor *executor, SapWorker *worker);
/* The handler of a job that is held runs now, and returns. The first one whose world begins with `world`. */
void scene_release(SceneExecutor *executor, const char *world);
/* How many are held of worlds that begin with `world`. */
uint32_t scene_held(const SceneExecutor *executor, const char *world);

#endif
