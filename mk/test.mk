# Tests, sanitizer runs, fuzzing and examples.
#
# tests/{unit,integration,stress}/*_test.c are one binary each, linked with the variant's raw
# objects and with tests/support/*.c; node_* (unit and integration) also with those of src/node, cli_* with the
# formats of src/cli, wit_* with generated code, store_* and simulator_* with the runtime. *_threads_test.c needs
# threads: left out of `nothreads`, as are src/node and the runtime, and the only ones `tsan` runs.

TEST_DIRS    ?= unit integration stress
TEST_TIMEOUT ?= 900
T            ?=

# QUICK=1, which ./script/test gives unless it was told --full, leaves out what another step does:
#
#   asan             a quarter of the random histories of ASAN_QUICK; `check` runs all of them
#   check-nothreads  only the tests of what differs without threads and without mappings (NOTHREADS_QUICK)
#   leak-check       only where bytes leave the process: `asan` finds leaks and bad addresses in all
#                    tests, valgrind alone finds bytes that were never set (LEAK_QUICK)
#   fuzz-smoke       a quarter of the time
#
# and the step check-clang, since `asan` is built by clang with the same warnings.
QUICK        ?=
QUICK_SHARE  := $(if $(QUICK),SAP_TEST_SHARE=4)
ASAN_QUICK   := engine_model_% engine_file_model_% engine_crash_% engine_effects_% engine_node_% engine_backup_crash_% \
                universe_simulation_% universe_effects_simulation_%
NOTHREADS_QUICK := engine_file_% engine_wal_% engine_crash_% engine_recover_% engine_backup_% engine_arena_% \
                   engine_txn_% engine_watch_% runner_lifecycle_% runner_attempt_% runner_queue_% runner_recovery_%
LEAK_QUICK   := common_% engine_wal_% engine_file_commit_% engine_file_moments_% runner_mailbox_% runner_queue_% \
                runner_wire_% runner_replay_% wit_constructs_% wit_runtime_% wit_json_%

# What tests of the runtime share.
RUNTIME_SUPPORT_SRCS := $(sort $(wildcard $(RUNTIME_DIRS:src/%=tests/support/%_*.c)))
TEST_SRCS    := $(sort $(foreach d,$(TEST_DIRS),$(wildcard tests/$d/*_test.c)))
# What tests of the node share.
NODE_SUPPORT_SRCS := $(sort $(wildcard tests/support/node_*.c))
SUPPORT_SRCS := $(sort $(filter-out $(RUNTIME_SUPPORT_SRCS) $(NODE_SUPPORT_SRCS),$(wildcard tests/support/*.c)))
FUZZ_SRCS    := $(sort $(wildcard tests/fuzz/*_fuzz.c))
EXAMPLE_SRCS := $(sort $(wildcard examples/native/*.c))

# Only names that contain $(T), when it is given.
wanted = $(if $(T),$(foreach f,$1,$(if $(findstring $(T),$f),$f)),$1)

tests_all       := $(call wanted,$(TEST_SRCS))
tests_threads   := $(filter %_threads_test.c,$(tests_all))
# $(call quick,NAMES,SOURCES): all SOURCES, or with QUICK=1 those with one of NAMES.
quick           = $(if $(QUICK),$(filter $(foreach d,$(TEST_DIRS),$(1:%=tests/$d/%)),$2),$2)
# Tests for a build without threads.
tests_unthreaded := $(filter-out %_threads_test.c tests/unit/node_% tests/integration/node_% \
    $(foreach d,$(TEST_DIRS),$(RUNTIME_DIRS:src/%=tests/$d/%_%)),$(tests_all))
tests_nothreads  := $(call quick,$(NOTHREADS_QUICK),$(tests_unthreaded))

# $(call test_bins,VARIANT,SOURCES)
test_bins    = $(2:tests/%.c=build/$1/tests/%)
support_objs = $(SUPPORT_SRCS:%.c=build/$1/obj/%.o)
# What steps workers in threads is the node's.
HOST_SRCS    := src/node/host.c src/node/handler_pool.c
runtime_support_objs = $(RUNTIME_SUPPORT_SRCS:%.c=build/$1/obj/%.o) $(HOST_SRCS:%.c=build/$1/obj/%.o)
node_support_objs = $(NODE_SUPPORT_SRCS:%.c=build/$1/obj/%.o)

define TEST_RULES
build/$1/tests/%_test: build/$1/obj/tests/%_test.o $$(call support_objs,$1) $$(call lib_objs,$1)
	@mkdir -p $$(@D)
	@echo '  LD      $$@'
	$$(Q)$$(CC_$1) $$(LDFLAGS_ALL) $$(LDFLAGS_$1) $$(LDFLAGS) -o $$@ $$^ $$(CHECK_LIBS) $$(LIB_LIBS)

build/$1/tests/unit/node_%_test: build/$1/obj/tests/unit/node_%_test.o $$(call support_objs,$1) \
                                 $$(call runtime_support_objs,$1) $$(call node_objs,$1) $$(call node_support_objs,$1) \
                                 build/$1/obj/src/json/codec_json.o \
                                 $$(call runtime_objs,$1) $$(call lib_objs,$1)
	@mkdir -p $$(@D)
	@echo '  LD      $$@'
	$$(Q)$$(CC_$1) $$(LDFLAGS_ALL) $$(LDFLAGS_$1) $$(LDFLAGS) -o $$@ $$^ $$(CHECK_LIBS) $$(NODE_LIBS) $$(JANSSON_LIBS) $$(RUNTIME_LIBS)

build/$1/tests/integration/node_%_test: build/$1/obj/tests/integration/node_%_test.o \
                                 $$(call support_objs,$1) $$(call runtime_support_objs,$1) \
                                 $$(call node_objs,$1) build/$1/obj/src/json/codec_json.o \
                                 $$(call runtime_objs,$1) $$(call lib_objs,$1)
	@mkdir -p $$(@D)
	@echo '  LD      $$@'
	$$(Q)$$(CC_$1) $$(LDFLAGS_ALL) $$(LDFLAGS_$1) $$(LDFLAGS) -o $$@ $$^ $$(CHECK_LIBS) $$(NODE_LIBS) $$(JANSSON_LIBS) $$(RUNTIME_LIBS)

build/$1/tests/unit/cli_%_test: build/$1/obj/tests/unit/cli_%_test.o $$(call support_objs,$1) \
                                $$(call format_objs,$1) $$(call lib_objs,$1)
	@mkdir -p $$(@D)
	@echo '  LD      $$@'
	$$(Q)$$(CC_$1) $$(LDFLAGS_ALL) $$(LDFLAGS_$1) $$(LDFLAGS) -o $$@ $$^ $$(CHECK_LIBS) $$(LIB_LIBS)

build/$1/tests/unit/wit_%_test: build/$1/obj/tests/unit/wit_%_test.o $$(call support_objs,$1) \
                                $$(call wit_objs,$1) $$(call lib_objs,$1)
	@mkdir -p $$(@D)
	@echo '  LD      $$@'
	$$(Q)$$(CC_$1) $$(LDFLAGS_ALL) $$(LDFLAGS_$1) $$(LDFLAGS) -o $$@ $$^ $$(CHECK_LIBS) $$(JANSSON_LIBS) $$(LIB_LIBS)
endef
$(foreach v,test clang-test asan tsan nothreads,$(eval $(call TEST_RULES,$v)))

# $(call RUNTIME_TEST_RULES,VARIANT,PREFIX): tests of what only libsapling-runtime has.
define RUNTIME_TEST_RULES
build/$1/tests/$2_%_test: build/$1/obj/tests/$2_%_test.o $$(call runtime_support_objs,$1) \
                          $$(call support_objs,$1) $$(call runtime_objs,$1) $$(call lib_objs,$1)
	@mkdir -p $$(@D)
	@echo '  LD      $$@'
	$$(Q)$$(CC_$1) $$(LDFLAGS_ALL) $$(LDFLAGS_$1) $$(LDFLAGS) -o $$@ $$^ $$(CHECK_LIBS) $$(RUNTIME_LIBS)
endef
# Make prefers the rule above to the general one only if its objects exist or are named in a rule.
build/runtime-objs: $(foreach v,test clang-test asan tsan fuzz,$(call runtime_objs,$v) $(call runtime_support_objs,$v) \
    $(call node_objs,$v) $(call node_support_objs,$v) build/$v/obj/src/json/codec_json.o)
RUNTIME_TESTS := $(foreach d,$(TEST_DIRS),$(foreach n,$(RUNTIME_DIRS:src/%=%),$d/$n))
$(foreach v,test clang-test asan tsan,$(foreach t,$(RUNTIME_TESTS),$(eval $(call RUNTIME_TEST_RULES,$v,$t))))

RUN_TESTS = $(PYTHON) tools/run_tests.py --jobs $(JOBS) --timeout $(TEST_TIMEOUT)

# Address-space randomisation beyond 28 bits collides with the sanitizers' shadow memory.
NO_ASLR = $(eval NO_ASLR := $$(shell [ "$$$$(cat /proc/sys/vm/mmap_rnd_bits 2>/dev/null || echo 0)" -gt 28 ] \
            && setarch -R true 2>/dev/null && echo setarch -R))$(NO_ASLR)

ASAN_ENV = ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1:strict_string_checks=1:abort_on_error=0 \
           UBSAN_OPTIONS=print_stacktrace=1 CK_TIMEOUT_MULTIPLIER=4
TSAN_ENV = TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1 CK_TIMEOUT_MULTIPLIER=8

.PHONY: check check-clang check-nothreads asan tsan leak-check leak-probe \
        fuzz fuzz-smoke examples check-examples tests

tests: $(call test_bins,test,$(TEST_SRCS)) ## Build the test binaries without running them

check: $(call test_bins,test,$(tests_all)) ## Run all tests (gcc, faults and slow assertions on)
	$(Q)$(RUN_TESTS) --name check $^

check-clang: $(call test_bins,clang-test,$(tests_all)) ## Run all tests built by clang
	$(Q)$(RUN_TESTS) --name check-clang $^

check-nothreads: $(call test_bins,nothreads,$(tests_nothreads)) ## Run the tests of the build without threads
	$(Q)$(RUN_TESTS) --name check-nothreads $^

# $(call asan_run,BINARIES,ENVIRONMENT): true if there are none.
asan_run = $(if $1,$2 $(ASAN_ENV) $(NO_ASLR) $(RUN_TESTS) --name asan $1,true)
asan_shared := $(if $(QUICK),$(filter $(foreach d,$(TEST_DIRS),$(ASAN_QUICK:%=tests/$d/%)),$(tests_all)))

asan: $(call test_bins,asan,$(tests_all)) ## Run all tests under address and undefined-behaviour sanitizers
	$(Q)$(call asan_run,$(call test_bins,asan,$(asan_shared)),$(QUICK_SHARE)); status=$$?; \
	    $(call asan_run,$(call test_bins,asan,$(filter-out $(asan_shared),$(tests_all)))) && exit $$status

tsan: $(call test_bins,tsan,$(tests_threads)) ## Run the threaded tests under the thread sanitizer
	$(Q)$(TSAN_ENV) $(NO_ASLR) $(RUN_TESTS) --name tsan $^

# --- leaks -------------------------------------------------------------------------------------
# Unit tests under valgrind, which also sees reads of uninitialised memory. Threaded tests are
# left to `asan` (leaks on) and `tsan`: valgrind runs one thread at a time.
# common_fd_test leaves no descriptor free, and valgrind needs some.
LEAK_SKIP ?= common_fd_test engine_load_test engine_range_test engine_regress_test engine_subsystem_test runner_migrate_test wit_value_test engine_effects_test engine_faults2_test engine_file_faults_test engine_file_open_test engine_file_test engine_file_promises_test engine_recover_test engine_backup_test
LEAK_TESTS ?= $(filter-out $(LEAK_SKIP:%=tests/unit/%.c),$(filter tests/unit/%, \
                $(call quick,$(LEAK_QUICK),$(tests_unthreaded))))
VALGRIND   ?= valgrind
VALGRIND_FLAGS := --quiet --leak-check=full --errors-for-leak-kinds=definite,indirect,possible \
                  --show-leak-kinds=definite,indirect,possible --error-exitcode=99 \
                  --suppressions=tests/tools/valgrind.supp

build/test/tests/tools/leak_probe: build/test/obj/tests/tools/leak_probe.o
	@mkdir -p $(@D)
	$(Q)$(CC_test) $(LDFLAGS_ALL) -o $@ $^ $(CHECK_LIBS)

build/asan/tests/tools/leak_probe: build/asan/obj/tests/tools/leak_probe.o
	@mkdir -p $(@D)
	$(Q)$(CC_asan) $(LDFLAGS_ALL) $(LDFLAGS_asan) -o $@ $^ $(CHECK_LIBS)

leak-probe: build/test/tests/tools/leak_probe build/asan/tests/tools/leak_probe ## Prove that the leak checkers fail on a leak
	$(Q)sh tests/tools/leak_probe.sh "$(VALGRIND) $(VALGRIND_FLAGS)" build/test/tests/tools/leak_probe
	$(Q)$(ASAN_ENV) sh tests/tools/leak_probe.sh "$(NO_ASLR)" build/asan/tests/tools/leak_probe

# Tests of pure layout and bookkeeping, whose many seeds buy little under valgrind: fewer there.
LEAK_FEW_SEEDS ?= engine_node_test engine_pager_test
LEAK_SEEDS     ?= 66
leak_few       := $(filter $(LEAK_FEW_SEEDS:%=tests/unit/%.c),$(LEAK_TESTS))
leak_all       := $(filter-out $(leak_few),$(LEAK_TESTS))

# $(call leak_run,BINARIES,ENVIRONMENT): true if there are none.
leak_run = $(if $1,$2 CK_TIMEOUT_MULTIPLIER=30 $(RUN_TESTS) --name leak-check \
    --wrapper '$(VALGRIND) $(VALGRIND_FLAGS)' $1,true)

leak-check: leak-probe $(call test_bins,test,$(LEAK_TESTS)) ## Run the unit tests under valgrind
	@test -n '$(LEAK_TESTS)' || { echo 'no unit test is named like $(T)' >&2; exit 1; }
	$(Q)$(call leak_run,$(call test_bins,test,$(leak_all))); status=$$?; \
	    $(call leak_run,$(call test_bins,test,$(leak_few)),SAP_TEST_SEEDS=$(LEAK_SEEDS)) && exit $$status

# --- fuzzing -----------------------------------------------------------------------------------
FUZZ_SECONDS       ?= 600
FUZZ_SMOKE_SECONDS ?= $(if $(QUICK),5,20)
FUZZ_SMOKE_RUNS    ?= 2000000
# Of each record of wit_record_fuzz.
FUZZ_RECORD_SECONDS       ?= 60
FUZZ_SMOKE_RECORD_SECONDS ?= 1
FUZZ_BINS := $(patsubst tests/fuzz/%.c,build/fuzz/%,$(call wanted,$(FUZZ_SRCS)))

build/fuzz/cli_%_fuzz: build/fuzz/obj/tests/fuzz/cli_%_fuzz.o $(call support_objs,fuzz) \
                       $(call format_objs,fuzz) $(call lib_objs,fuzz)
	@echo '  LD      $@'
	$(Q)$(CC_fuzz) -fsanitize=fuzzer $(LDFLAGS_ALL) $(LDFLAGS_fuzz) $(LDFLAGS) -o $@ $^ $(CHECK_LIBS) $(LIB_LIBS)

build/fuzz/wit_%_fuzz: build/fuzz/obj/tests/fuzz/wit_%_fuzz.o $(call support_objs,fuzz) \
                       $(call wit_objs,fuzz) $(call lib_objs,fuzz)
	@echo '  LD      $@'
	$(Q)$(CC_fuzz) -fsanitize=fuzzer $(LDFLAGS_ALL) $(LDFLAGS_fuzz) $(LDFLAGS) -o $@ $^ $(CHECK_LIBS) $(JANSSON_LIBS) $(LIB_LIBS)

build/fuzz/schema_%_fuzz: build/fuzz/obj/tests/fuzz/schema_%_fuzz.o $(call support_objs,fuzz) \
                          $(call schema_objs,fuzz) $(call lib_objs,fuzz)
	@echo '  LD      $@'
	$(Q)$(CC_fuzz) -fsanitize=fuzzer $(LDFLAGS_ALL) $(LDFLAGS_fuzz) $(LDFLAGS) -o $@ $^ $(CHECK_LIBS) $(LIB_LIBS)

build/fuzz/node_%_fuzz: build/fuzz/obj/tests/fuzz/node_%_fuzz.o $(call support_objs,fuzz) $(call node_objs,fuzz) \
                        build/fuzz/obj/src/json/codec_json.o $(call runtime_objs,fuzz) $(call lib_objs,fuzz)
	@echo '  LD      $@'
	$(Q)$(CC_fuzz) -fsanitize=fuzzer $(LDFLAGS_ALL) $(LDFLAGS_fuzz) $(LDFLAGS) -o $@ $^ $(CHECK_LIBS) $(NODE_LIBS) $(JANSSON_LIBS) $(RUNTIME_LIBS)

build/fuzz/%_fuzz: build/fuzz/obj/tests/fuzz/%_fuzz.o $(call support_objs,fuzz) $(call lib_objs,fuzz)
	@echo '  LD      $@'
	$(Q)$(CC_fuzz) -fsanitize=fuzzer $(LDFLAGS_ALL) $(LDFLAGS_fuzz) $(LDFLAGS) -o $@ $^ $(CHECK_LIBS) $(LIB_LIBS)

fuzz-smoke: $(FUZZ_BINS) ## Run every fuzz target for a short while
	$(Q)$(NO_ASLR) $(PYTHON) tools/run_fuzz.py --name fuzz-smoke --jobs $(JOBS) \
	    --seconds $(FUZZ_SMOKE_SECONDS) --record-seconds $(FUZZ_SMOKE_RECORD_SECONDS) --runs $(FUZZ_SMOKE_RUNS) $^

fuzz: $(FUZZ_BINS) ## Run every fuzz target for FUZZ_SECONDS
	$(Q)$(NO_ASLR) $(PYTHON) tools/run_fuzz.py --name fuzz --jobs $(JOBS) --seconds $(FUZZ_SECONDS) \
	    --record-seconds $(FUZZ_RECORD_SECONDS) $^

# --- the command -------------------------------------------------------------------------------
# As a user runs it: the one that is shipped, and the same under the sanitizers.
.PHONY: cli-test cli-check man

# The command with migrations of the tests in place of its own, and tables of a second package.
define MIGRATING_RULES
build/$1/migrating/sapling: $$(call cli_objs,$1) $$(call node_objs,$1) $$(call rows_objs,$1) \
        build/$1/obj/generated/wit_runtime_json.o build/$1/obj/tests/cli/migrations.o \
        build/$1/obj/tests/support/migrations.o build/$1/obj/wit/two/wit_schema_dbis.o \
        $$(filter-out %/migrations.o %/wit_schema_dbis.o,$$(call lib_objs,$1)) $$(call runtime_objs,$1)
	@mkdir -p $$(@D)
	@echo '  LD      $$@'
	$$(Q)$$(CC_$1) -pie $$(LDFLAGS_ALL) $$(LDFLAGS_$1) $$(LDFLAGS) -o $$@ $$^ $$(NODE_LIBS) $$(JANSSON_LIBS) $$(RUNTIME_LIBS)
endef
$(eval $(call MIGRATING_RULES,release))
$(eval $(call MIGRATING_RULES,asan))

CLI_TEST_NEEDS := build/sapling build/libsapling.so build/libsapling-runtime.so build/asan/sapling build/release/migrating/sapling \
                  build/asan/migrating/sapling build/schema_diff
cli-test: $(CLI_TEST_NEEDS) ## Run the command as a user would, also under sanitizers
	$(Q)$(PYTHON) tests/cli/run.py --name cli-test --jobs $(JOBS) --migrating build/release/migrating/sapling build/sapling $(T); status=$$?; \
	    $(ASAN_ENV) $(NO_ASLR) $(PYTHON) tests/cli/run.py --name cli-test-asan --jobs $(JOBS) --migrating build/asan/migrating/sapling build/asan/sapling $(T) && \
	    exit $$status

cli-check: build/sapling build/release/migrating/sapling build/schema_diff ## Run the command as a user would, without sanitizers
	$(Q)$(PYTHON) tests/cli/run.py --name cli-check --jobs $(JOBS) --migrating build/release/migrating/sapling build/sapling $(T)

man: build/sapling ## Rewrite man/sapling.1 from the table of commands
	$(Q)build/sapling help --man > man/sapling.1.new && mv man/sapling.1.new man/sapling.1

# --- examples ----------------------------------------------------------------------------------
# As a user would build them: public headers and the static library, nothing else.
EXAMPLE_BINS := $(EXAMPLE_SRCS:examples/native/%.c=build/examples/%)

build/examples/%: examples/native/%.c build/libsapling.a $(PUBLIC_HEADERS) build/release/flags
	@mkdir -p $(@D)
	@echo '  CC      $@'
	$(Q)$(CC) -std=c11 -O2 -g -pthread $(WARN_TEST) $(HARDEN) -fPIE -pie -Iinclude $(CFLAGS) $(LDFLAGS_ALL) $(LDFLAGS) \
	    -o $@ $< build/libsapling.a $(LIB_LIBS)

# Those of store.h and universe.h need the runtime.
RUNTIME_EXAMPLE_BINS := build/examples/store_jobs_example build/examples/world_example build/examples/universe_order_example
$(RUNTIME_EXAMPLE_BINS): build/examples/%: examples/native/%.c build/libsapling-runtime.a $(PUBLIC_HEADERS) \
                         build/release/flags
	@mkdir -p $(@D)
	@echo '  CC      $@'
	$(Q)$(CC) -std=c11 -O2 -g -pthread $(WARN_TEST) $(HARDEN) -fPIE -pie -Iinclude $(CFLAGS) $(LDFLAGS_ALL) $(LDFLAGS) \
	    -o $@ $< build/libsapling-runtime.a $(RUNTIME_LIBS)

examples: $(EXAMPLE_BINS) ## Build the examples against the public headers and the static library

check-examples: $(EXAMPLE_BINS) ## Run the examples and compare their output
	$(Q)$(RUN_TESTS) --name check-examples --examples examples/native $^

.PHONY: pipeline
pipeline: build/examples/runner_threaded_pipeline_example ## Send orders through four stages, kill them half way, and go on
	$(Q)tools/pipeline.sh $<

# --- everything that is run --------------------------------------------------------------------
# What the steps of ./script/test would build themselves, so that they can run side by side.
TEST_BUILD_NEEDS := clang examples $(CLI_TEST_NEEDS) $(FUZZ_BINS) build/wasm/smoke.wasm amalgamation $(WIT_TOOL) \
    wit-schema-cc-check build/test/tests/tools/leak_probe build/asan/tests/tools/leak_probe \
    $(call test_bins,test,$(tests_all)) $(call test_bins,asan,$(tests_all)) \
    $(call test_bins,tsan,$(tests_threads)) $(call test_bins,nothreads,$(tests_nothreads)) \
    $(if $(QUICK),,$(call test_bins,clang-test,$(tests_all)))

.PHONY: test-build
test-build: all $(TEST_BUILD_NEEDS) ## Build all that ./script/test runs

# --- soak --------------------------------------------------------------------------------------
# Kills of a process at work, for a while, with options and moments by seed.
# The soak of worlds takes an hour where nothing is said: its takeovers take as long as those of programs.
SOAK_UNIVERSE_SECONDS := $(if $(filter undefined,$(origin SOAK_SECONDS)),3600,$(SOAK_SECONDS))
SOAK_SECONDS ?= 600
SOAK_SEED    ?= $(shell date +%s)

POWER_CUTS   ?= 200
POWER_FILE_SYSTEMS ?= ext4 xfs

# How much more a stress run by itself does than the one within `check` and `tsan`.
STRESS_FACTOR ?= 10
STRESS_SEEDS  ?= 5
STRESS_TEST   := tests/stress/runner_multiwriter_threads_test

# Of `make universe-kill` and `make effects-kill`.
UNIVERSE_KILLS ?= 1000
UNIVERSE_TESTS := build/test/tests/integration/universe_kill_test \
                  build/test/tests/integration/universe_processes_threads_test \
                  build/test/tests/unit/universe_simulation_test

# Of `make universe-volume`: they need some 1.5 KB of disk each.
VOLUME_MESSAGES ?= 10000000
VOLUME_TEST     := build/test/tests/integration/universe_volume_threads_test

.PHONY: soak-engine soak-runner soak-store soak-universe universe-kill effects-kill node-kill universe-volume soak-power runner-multiwriter-stress runner-multiwriter-stress-build

soak-engine: build/test/tests/integration/engine_kill_test ## Kill a process that writes to a file, for SOAK_SECONDS
	$(Q)SAP_KILL_SECONDS=$(SOAK_SECONDS) SAP_TEST_SEED=$(SOAK_SEED) $<

soak-runner: build/test/tests/integration/runner_recovery_integration_test ## Kill a process of workers and producers, for SOAK_SECONDS
	$(Q)SAP_KILL_SECONDS=$(SOAK_SECONDS) SAP_TEST_SEED=$(SOAK_SEED) $<

soak-store: build/test/tests/integration/store_kill_test ## Kill a process that works on a store in a file, for SOAK_SECONDS
	$(Q)SAP_KILL_SECONDS=$(SOAK_SECONDS) SAP_TEST_SEED=$(SOAK_SEED) $<

universe-kill: build/test/tests/integration/universe_kill_test ## Kill a process that runs worlds in a file, UNIVERSE_KILLS times
	$(Q)SAP_KILLS=$(UNIVERSE_KILLS) SAP_TEST_SEED=$(SOAK_SEED) $<

effects-kill: build/test/tests/integration/universe_effects_kill_test ## Kill a process whose worlds ask for effects and timers, UNIVERSE_KILLS times
	$(Q)SAP_KILLS=$(UNIVERSE_KILLS) SAP_TEST_SEED=$(SOAK_SEED) $<

# Of `make node-kill`.
NODE_KILLS ?= 200
node-kill: build/sapling ## Kill a node under load, NODE_KILLS times: nothing is lost, and nothing answered twice
	$(Q)SAP_KILLS=$(NODE_KILLS) SAP_TEST_SEED=$(SOAK_SEED) $(PYTHON) tests/cli/run.py --name node-kill \
	    --migrating build/sapling build/sapling up_test.Kills

universe-volume: $(VOLUME_TEST) ## Send VOLUME_MESSAGES through 1000 worlds, let a day pass, and look what is left
	$(Q)dir=$$(mktemp -d build/volume.XXXXXX) && { SAP_VOLUME=$(VOLUME_MESSAGES) SAP_VOLUME_DIR=$$dir $<; status=$$?; \
	    rm -rf $$dir; exit $$status; }

soak-universe: $(UNIVERSE_TESTS) ## Kill, stop and cut off processes that run worlds, and simulate them, for SOAK_SECONDS (by default an hour)
	$(Q)./script/deps soak
	$(Q)tools/soak_universe.sh $(SOAK_UNIVERSE_SECONDS) $(SOAK_SEED) $(UNIVERSE_TESTS)

runner-multiwriter-stress-build: build/test/$(STRESS_TEST) build/tsan/$(STRESS_TEST) ## Build the stress test of workers and producers

runner-multiwriter-stress: runner-multiwriter-stress-build ## Many workers and producers on one DB, STRESS_FACTOR times as long, then under the thread sanitizer
	$(Q)SAP_STRESS=$(STRESS_FACTOR) SAP_TEST_SEED=$(SOAK_SEED) SAP_TEST_SEEDS=$(STRESS_SEEDS) build/test/$(STRESS_TEST)
	$(Q)$(TSAN_ENV) SAP_STRESS=$(STRESS_FACTOR) SAP_TEST_SEED=$(SOAK_SEED) $(NO_ASLR) build/tsan/$(STRESS_TEST)

soak-power: build/test/tests/integration/engine_kill_test ## Cut the power of a file system under a process that writes, POWER_CUTS times on each of POWER_FILE_SYSTEMS (root)
	$(Q)./script/deps soak
	$(Q)tools/power_cuts.sh $(POWER_CUTS) $(SOAK_SEED) $< $(POWER_FILE_SYSTEMS)

# --- blobs --------------------------------------------------------------------------------------
# On the disk that this directory is on: how long it takes, and how long small commits beside it.
BLOB_TEST := build/test/tests/integration/store_blob_threads_test

.PHONY: blob-gib
blob-gib: $(BLOB_TEST) ## Put a blob of 1 GiB into a store and read it again, beside small commits
	$(Q)dir=$$(mktemp -d build/blob.XXXXXX) && { SAP_BLOB_MIB=1024 SAP_BLOB_DIR=$$dir $<; status=$$?; \
	    rm -rf $$dir; exit $$status; }

# --- simulation --------------------------------------------------------------------------------
# The seeds beyond those of ./script/test, half of them in each of two processes.
SIMULATE_SEEDS ?= 10000

.PHONY: simulate-ci
simulate-ci: build/test/tests/unit/universe_simulation_test ## Run SIMULATE_SEEDS seeds of the universe in the simulator
	$(Q)half=$$(($(SIMULATE_SEEDS) / 2)); \
	    SAP_TEST_SEED=2001 SAP_TEST_SEEDS=$$half $< & \
	    SAP_TEST_SEED=$$((2001 + half)) SAP_TEST_SEEDS=$$half $<; first=$$?; wait $$! && exit $$first

# --- mutants -----------------------------------------------------------------------------------
# Known bugs, each planted in a copy of the sources: some test must fail. ONLY=name for some.
MUTANT_TREE := build/mutants/tree

.PHONY: mutants
mutants: ## Plant known bugs one at a time (tests/mutants) and see that a test catches each
	$(Q)$(PYTHON) tools/mutants.py --run tests/mutants --tree $(MUTANT_TREE) --jobs $(JOBS) \
	    --only '$(ONLY)'
