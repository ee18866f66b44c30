# Benchmarks: Sapling beside other engines. See bench/README.md. Not part of the tests.
#
#   BENCH_ROWS=N BENCH_ROUNDS=N    rows in the table; rounds, of which the best counts
#   BENCH_DIR=DIR                  where stores are made (they are removed again)
#   BENCH_MS=N                     how long each run of durable commits is measured
#   BENCH_MESSAGES=N               messages of bench-queue
#   BENCH_WORLDS=N                 dormant worlds of universe-bench
#   BENCH_TOLERANCE=PERCENT        how far bench-ci lets a ratio fall below its baseline

BENCH_DIR       ?= build/bench
BENCH_TOLERANCE ?= 25

BENCH_SRCS   := $(sort $(wildcard bench/*.c))
BENCH_OBJS   := $(BENCH_SRCS:bench/%.c=build/bench/obj/%.o)
BENCH_BIN    := build/bench/bench
# Like a user's program: the public headers and the static archive.
BENCH_CFLAGS := -O2 -g -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -pthread -Iinclude
BENCH_RUN    := $(BENCH_BIN) --dir $(BENCH_DIR) --rows $(or $(BENCH_ROWS),1000000) \
                --rounds $(or $(BENCH_ROUNDS),3)
# A smaller table for the baseline, and more rounds, since its ratios must repeat.
BENCH_CI     := $(BENCH_BIN) --dir $(BENCH_DIR) --rows $(or $(BENCH_ROWS),200000) \
                --rounds $(or $(BENCH_ROUNDS),5) --json build/bench/ci.json
BENCH_CHECK  := $(PYTHON) bench/compare_baseline.py --tolerance $(BENCH_TOLERANCE) \
                build/bench/ci.json bench/baseline.json

# Durable commits: a program of its own, with the rows and reports of the other.
DURABLE_SRCS := $(sort $(wildcard bench/durable/*.c))
DURABLE_OBJS := $(DURABLE_SRCS:bench/%.c=build/bench/obj/%.o)
DURABLE_BIN  := build/bench/durable
DURABLE_RUN  := $(DURABLE_BIN) --dir $(BENCH_DIR) --rounds $(or $(BENCH_ROUNDS),3) \
                --ms $(or $(BENCH_MS),1000)

# Messages: one more program.
RUNNER_BENCH_SRCS := $(sort $(wildcard bench/runner/*.c))
RUNNER_BENCH_OBJS := $(RUNNER_BENCH_SRCS:bench/%.c=build/bench/obj/%.o)
RUNNER_BENCH_BIN  := build/bench/runner
RUNNER_BENCH_RUN  := $(RUNNER_BENCH_BIN) --dir $(BENCH_DIR) --rounds $(or $(BENCH_ROUNDS),3) \
                     --ms $(or $(BENCH_MS),1000)

# The store beside the engine, and on a PostgreSQL server of its own.
STORE_BENCH_SRCS := $(sort $(wildcard bench/store/*.c))
STORE_BENCH_OBJS := $(STORE_BENCH_SRCS:bench/%.c=build/bench/obj/%.o)
STORE_BENCH_BIN  := build/bench/store
STORE_BENCH_RUN  := $(STORE_BENCH_BIN) --dir $(BENCH_DIR) --rounds $(or $(BENCH_ROUNDS),15) \
                    --ms $(or $(BENCH_MS),100)

# Worlds, and a queue on PostgreSQL beside them. Links the release objects: it makes sessions and leases
# of its own, which the library does not export.
UNIVERSE_BENCH_SRCS := $(sort $(wildcard bench/universe/*.c))
UNIVERSE_BENCH_OBJS := $(UNIVERSE_BENCH_SRCS:bench/%.c=build/bench/obj/%.o)
UNIVERSE_BENCH_BIN  := build/bench/universe
UNIVERSE_BENCH_RUN  := $(UNIVERSE_BENCH_BIN) --dir $(BENCH_DIR) --rounds $(or $(BENCH_ROUNDS),3) \
                       --ms $(or $(BENCH_MS),2000) --many $(or $(BENCH_WORLDS),100000)

.PHONY: bench-deps bench-run bench-compare bench-durable bench-queue bench-ci bench-baseline runner-bench store-bench universe-bench node-bench

bench-deps:
	$(Q)./script/deps bench

build/bench/obj/%.o: bench/%.c mk/bench.mk | bench-deps
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(BENCH_CFLAGS) -MMD -MP -c -o $@ $<

$(BENCH_BIN): $(BENCH_OBJS) build/libsapling.a | bench-deps
	$(Q)$(CC) -pthread -o $@ $(BENCH_OBJS) build/libsapling.a $(LIB_LIBS) -llmdb -lm

$(DURABLE_OBJS) $(RUNNER_BENCH_OBJS) $(STORE_BENCH_OBJS) $(UNIVERSE_BENCH_OBJS): BENCH_CFLAGS += -Ibench
$(STORE_BENCH_OBJS) $(UNIVERSE_BENCH_OBJS): BENCH_CFLAGS += $(PQ_CFLAGS)
$(UNIVERSE_BENCH_OBJS): BENCH_CFLAGS += -Isrc -Igenerated -Itests

$(DURABLE_BIN): $(DURABLE_OBJS) build/bench/obj/data.o build/bench/obj/util.o \
                build/bench/obj/chart.o build/libsapling.a | bench-deps
	$(Q)$(CC) -pthread -o $@ $(filter %.o %.a,$^) $(LIB_LIBS) -llmdb -lrocksdb -lsqlite3 -lm

$(RUNNER_BENCH_BIN): $(RUNNER_BENCH_OBJS) build/bench/obj/data.o build/bench/obj/util.o \
                     build/bench/obj/chart.o build/libsapling.a | bench-deps
	$(Q)$(CC) -pthread -o $@ $(filter %.o %.a,$^) $(LIB_LIBS) -lsqlite3 -lm

$(STORE_BENCH_BIN): $(STORE_BENCH_OBJS) build/bench/obj/data.o build/bench/obj/util.o \
                    build/libsapling-runtime.a | bench-deps
	$(Q)$(CC) -pthread -o $@ $(filter %.o %.a,$^) $(RUNTIME_LIBS) -lm

$(UNIVERSE_BENCH_BIN): $(UNIVERSE_BENCH_OBJS) build/bench/obj/util.o build/bench/obj/chart.o \
                       build/bench/obj/store/pg_server.o $(HOST_SRCS:%.c=build/release/obj/%.o) \
                       $(call runtime_objs,release) $(call lib_objs,release) | bench-deps
	$(Q)$(CC) -pthread -o $@ $(filter %.o,$^) $(RUNTIME_LIBS) -lm

bench-run: $(BENCH_BIN) ## Measure Sapling alone
	$(Q)$(BENCH_RUN) --engines sapling

bench-compare: $(BENCH_BIN) $(DURABLE_BIN) ## Measure Sapling beside LMDB, RocksDB and SQLite; writes build/bench/*.json and .svg
	$(Q)$(BENCH_RUN) --json build/bench/compare.json --svg build/bench/compare.svg
	@echo
	$(Q)$(DURABLE_RUN) --json build/bench/durable.json --svg build/bench/durable.svg

bench-durable: $(DURABLE_BIN) ## The durable part of bench-compare alone
	$(Q)$(DURABLE_RUN) --json build/bench/durable.json --svg build/bench/durable.svg

bench-queue: $(DURABLE_BIN) ## Send 10 million messages through a short queue: file size and rate
	$(Q)$(DURABLE_RUN) --engines sapling --workloads queue --messages $(or $(BENCH_MESSAGES),10000000) \
	    --json build/bench/queue.json

runner-bench: $(RUNNER_BENCH_BIN) ## Measure messages beside beanstalkd, Redis, SQLite and a bare log; writes build/bench/runner.json and .svg
	$(Q)$(RUNNER_BENCH_RUN) --json build/bench/runner.json --svg build/bench/runner.svg

store-bench: $(STORE_BENCH_BIN) ## Measure the store in a file beside the engine itself, and on PostgreSQL; writes build/bench/store.json
	$(Q)$(STORE_BENCH_RUN) --json build/bench/store.json

universe-bench: $(UNIVERSE_BENCH_BIN) ## Measure worlds, beside a SKIP LOCKED queue on PostgreSQL; writes build/bench/universe.json and .svg
	$(Q)$(UNIVERSE_BENCH_RUN) --json build/bench/universe.json --svg build/bench/universe.svg

# Noise seldom strikes the same ratio twice, a regression always does: so it measures again.
bench-ci: $(BENCH_BIN) ## Fail where a ratio to LMDB fell below bench/baseline.json, or a count below its bar
	$(Q)$(BENCH_CI)
	$(Q)$(BENCH_CHECK) || { [ $$? -eq 1 ] && echo 'measuring again' && $(BENCH_CI) && $(BENCH_CHECK); }

bench-baseline: $(BENCH_BIN) ## Rewrite bench/baseline.json from a run on this machine
	$(Q)$(BENCH_CI)
	$(Q)$(PYTHON) bench/compare_baseline.py --write build/bench/ci.json bench/baseline.json

-include $(BENCH_OBJS:.o=.d) $(DURABLE_OBJS:.o=.d) $(RUNNER_BENCH_OBJS:.o=.d) \
    $(STORE_BENCH_OBJS:.o=.d) $(UNIVERSE_BENCH_OBJS:.o=.d)

# A node under wrk, beside the library alone.
NODE_BENCH_EMBEDDED := build/bench/node_embedded
$(NODE_BENCH_EMBEDDED): build/bench/obj/node/embedded.o build/libsapling-runtime.a | bench-deps
	$(Q)$(CC) -pthread -o $@ $(filter %.o %.a,$^) $(RUNTIME_LIBS)

node-bench: build/sapling $(NODE_BENCH_EMBEDDED) ## Measure a node with wrk beside the library alone, handlers in Python, and a node with nothing to do
	$(Q)$(PYTHON) bench/node/node_bench.py --command build/sapling --embedded $(NODE_BENCH_EMBEDDED) \
	    --dir $(BENCH_DIR) --seconds $(or $(BENCH_SECONDS),5) --worlds $(or $(BENCH_WORLDS),100000) --json build/bench/node.json
