# Durable commits of the log alone, beside a bare log and LMDB. Not part of the tests.
#
#   WAL_BENCH_ROUNDS=N WAL_BENCH_MS=N    rounds, of which the best counts; length of each run
#
# Links the release objects: the log's functions are not among what the library exports.

WAL_BENCH_BIN := build/bench/wal_bench

.PHONY: bench-wal

build/bench/obj/wal/wal_bench.o: bench/wal/wal_bench.c mk/wal_bench.mk build/release/flags | bench-deps
	@mkdir -p $(@D)
	@echo '  CC      $@'
	$(Q)$(call compile,release,$(WARN_TEST)) -c -o $@ $<

$(WAL_BENCH_BIN): build/bench/obj/wal/wal_bench.o $(call lib_objs,release)
	@echo '  LD      $@'
	$(Q)$(CC) $(LDFLAGS_ALL) $(LDFLAGS) -o $@ $^ $(LIB_LIBS) -llmdb

bench-wal: $(WAL_BENCH_BIN) ## Measure durable commits of the log beside a bare log and LMDB
	$(Q)$(WAL_BENCH_BIN) build/bench/wal-dir $(or $(WAL_BENCH_ROUNDS),3) $(or $(WAL_BENCH_MS),700)

-include build/bench/obj/wal/wal_bench.d
