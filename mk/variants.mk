# Variants: the same sources under different compilers and flags.
#
#   release     what is shipped
#   clang       the same with clang
#   test        fault points and slow assertions on
#   clang-test  the same with clang
#   asan        address and undefined-behaviour sanitizers (leaks included)
#   tsan        thread sanitizer; slow assertions off, they hide races by their timing
#   nothreads   no threads, and pages of files in memory: as on wasm32-wasi
#   fuzz        instrumented for libFuzzer

VARIANTS := release clang test clang-test asan tsan nothreads fuzz

TEST_DEFS := -DSAP_FAULTS=1 -DSAP_SLOW_ASSERTS=1
SANITIZE_ASAN := -fsanitize=address,undefined -fno-sanitize-recover=all

CC_release     := $(CC)
CFLAGS_release := -O2 $(HARDEN)

CC_clang       := $(CLANG)
CFLAGS_clang   := -O2 $(HARDEN)

CC_test        := $(CC)
CFLAGS_test    := -O1 $(TEST_DEFS)

CC_clang-test     := $(CLANG)
CFLAGS_clang-test := -O1 $(TEST_DEFS)

CC_asan        := $(CLANG)
CFLAGS_asan    := -O1 $(TEST_DEFS) $(SANITIZE_ASAN)
LDFLAGS_asan   := $(SANITIZE_ASAN)

CC_tsan        := $(CLANG)
CFLAGS_tsan    := -O1 -DSAP_FAULTS=1 -fsanitize=thread
LDFLAGS_tsan   := -fsanitize=thread

CC_nothreads     := $(CC)
CFLAGS_nothreads := -O1 $(TEST_DEFS) -DSAPLING_THREADED=0 -DSAP_FILE_MAPPED=0

CC_fuzz        := $(CLANG)
CFLAGS_fuzz    := -O1 $(TEST_DEFS) -fsanitize=fuzzer-no-link $(SANITIZE_ASAN)
LDFLAGS_fuzz   := $(SANITIZE_ASAN)

# Flags only for src/sapling, the code whose speed is measured.
ENGINE_release := $(ENGINE_OPT)
ENGINE_clang   := $(ENGINE_OPT)

# Check is looked up when a test is compiled, not when the library is.
CHECK_CFLAGS = $(eval CHECK_CFLAGS := $$(shell $(PKG_CONFIG) --cflags check))$(CHECK_CFLAGS)
CHECK_LIBS   = $(eval CHECK_LIBS := $$(shell $(PKG_CONFIG) --libs check))$(CHECK_LIBS)

# Only the command needs jansson.
JANSSON_CFLAGS = $(eval JANSSON_CFLAGS := $$(shell $(PKG_CONFIG) --cflags jansson))$(JANSSON_CFLAGS)
JANSSON_LIBS   = $(eval JANSSON_LIBS := $$(shell $(PKG_CONFIG) --libs jansson))$(JANSSON_LIBS)

# $(call lib_objs,VARIANT): the library's raw objects, internal symbols still visible.
lib_objs = $(LIB_SRCS:%.c=build/$1/obj/%.o)
# The runtime's own objects; its library has those of lib_objs too.
runtime_objs = $(RUNTIME_SRCS:%.c=build/$1/obj/%.o)
node_objs = $(NODE_SRCS:%.c=build/$1/obj/%.o)
cli_objs = $(CLI_SRCS:%.c=build/$1/obj/%.o)
# What reads schemas needs no JSON library; what shows rows by them does.
schema_objs = $(SCHEMA_SRCS:%.c=build/$1/obj/%.o)
rows_objs = $(call schema_objs,$1) build/$1/obj/src/schema/value_json.o build/$1/obj/src/json/codec_json.o
format_objs = $(addprefix build/$1/obj/src/cli/,format.o format_read.o stream_text.o)

# $(call compile,VARIANT,WARNINGS,MORE)
compile = $(CC_$1) $(CPPFLAGS_ALL) $(CPPFLAGS) $(CFLAGS_ALL) $2 $(CFLAGS_$1) $3 $(CFLAGS) -MMD -MP

define VARIANT_RULES
# Several makes may run side by side: each writes to a file of its own.
build/$1/flags: FORCE
	@mkdir -p $$(@D)
	@new=$$@.$$$$$$$$; \
	{ echo '$$(call compile,$1,$$(WARN_SRC) $$(WARN_TEST),$$(ENGINE_$1)) $$(LDFLAGS_$1) $$(LDFLAGS)'; \
	  $$(CC_$1) --version 2>&1 | head -n 1; } > $$$$new; \
	if cmp -s $$$$new $$@; then rm $$$$new; else mv $$$$new $$@; fi

build/$1/obj/src/sapling/%.o: src/sapling/%.c build/$1/flags
	@mkdir -p $$(@D)
	@echo '  CC      $$@'
	$$(Q)$$(call compile,$1,$$(WARN_SRC),$$(ENGINE_$1)) -c -o $$@ $$<

build/$1/obj/src/cli/%.o: src/cli/%.c build/$1/flags
	@mkdir -p $$(@D)
	@echo '  CC      $$@'
	$$(Q)$$(call compile,$1,$$(WARN_SRC),$$(JANSSON_CFLAGS)) -c -o $$@ $$<

build/$1/obj/src/%.o: src/%.c build/$1/flags
	@mkdir -p $$(@D)
	@echo '  CC      $$@'
	$$(Q)$$(call compile,$1,$$(WARN_SRC)) -c -o $$@ $$<

build/$1/obj/tests/%.o: tests/%.c build/$1/flags
	@mkdir -p $$(@D)
	@echo '  CC      $$@'
	$$(Q)$$(call compile,$1,$$(WARN_TEST),-Itests $$(CHECK_CFLAGS)) -c -o $$@ $$<
endef

$(foreach v,$(VARIANTS),$(eval $(call VARIANT_RULES,$v)))

.SECONDARY:
-include $(wildcard build/*/obj/src/*/*.d build/*/obj/tests/*/*.d)
