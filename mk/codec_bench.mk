# Generated codecs beside hand-written ones of the same bytes. Not part of the tests.
#
# Links the release objects: codecs are not among what the library exports.

CODEC_BENCH_BIN  := build/bench/codec_bench
CODEC_BENCH_OBJS := $(addprefix build/bench/obj/codec/,codec_bench.o by_hand.o wit_codec_bench.o)

.PHONY: bench-codec

build/bench/wit/wit_codec_bench.c: bench/codec/codec-bench.wit $(WIT_TOOL)
	@mkdir -p $(@D)
	$(Q)$(WIT_TOOL) generate --out $(@D) $<

build/bench/obj/codec/%.o: bench/codec/%.c build/bench/wit/wit_codec_bench.c build/release/flags
	@mkdir -p $(@D)
	@echo '  CC      $@'
	$(Q)$(call compile,release,$(WARN_TEST),-Ibuild/bench/wit) -c -o $@ $<

build/bench/obj/codec/wit_codec_bench.o: build/bench/wit/wit_codec_bench.c build/release/flags
	@mkdir -p $(@D)
	@echo '  CC      $@'
	$(Q)$(call compile,release,$(WARN_SRC)) -c -o $@ $<

$(CODEC_BENCH_BIN): $(CODEC_BENCH_OBJS) $(filter build/release/obj/src/common/%,$(call lib_objs,release))
	@echo '  LD      $@'
	$(Q)$(CC) $(LDFLAGS_ALL) $(LDFLAGS) -o $@ $^ $(LIB_LIBS)

bench-codec: $(CODEC_BENCH_BIN) ## Measure generated codecs beside hand-written ones; fails above twice their time
	$(Q)$(CODEC_BENCH_BIN)

-include $(CODEC_BENCH_OBJS:.o=.d)
