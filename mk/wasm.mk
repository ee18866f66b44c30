# The engine as a WebAssembly module: wasm32-wasi, no threads, run by Node with one directory.
#
# clang would search the host's /usr/include after WASI's: -nostdlibinc leaves it out, so that a
# header which WASI lacks is an error. xxhash.h, the one header taken from the host, is copied
# (XXHASH_H is in mk/amalgamation.mk).
#
#   WASI_INCLUDE=DIR    the headers of wasi-libc
#   NODE=node           any Node from 18 on

WASM_CC      ?= $(CLANG) --target=wasm32-wasi
WASI_INCLUDE ?= /usr/include/wasm32-wasi
NODE         ?= node

WASM_SRCS := $(LIB_SRCS) tests/wasm/smoke.c
WASM_OBJS := $(WASM_SRCS:%.c=build/wasm/obj/%.o)

# The stack lies at the bottom of memory: an overflow traps instead of running into data. A 64-bit
# length cut to a 32-bit size_t is worth a warning here and nowhere else.
WASM_COMPILE := $(WASM_CC) -nostdlibinc -isystem $(WASI_INCLUDE) -isystem build/wasm/include \
                $(CPPFLAGS_ALL) -std=c11 -O2 $(WARN_SRC) 
WASM_LINK    := $(WASM_CC) -Wl,--stack-first -Wl,--fatal-warnings

.PHONY: wasm wasm-check

build/wasm/flags: FORCE
	@mkdir -p $(@D)
	@new=$@.$$$$; { echo '$(WASM_COMPILE) $(WASM_LINK)'; $(CLANG) --version 2>&1 | head -n 1; } > $$new; \
	if cmp -s $$new $@; then rm $$new; else mv $$new $@; fi

build/wasm/include/xxhash.h: build/wasm/flags
	@mkdir -p $(@D)
	$(Q)cp '$(XXHASH_H)' $@

build/wasm/obj/%.o: %.c build/wasm/flags build/wasm/include/xxhash.h
	@mkdir -p $(@D)
	@echo '  WASM    $@'
	$(Q)$(WASM_COMPILE) -MMD -MP -c -o $@ $<

build/wasm/smoke.wasm: $(WASM_OBJS)
	@echo '  WASM    $@'
	$(Q)$(WASM_LINK) -o $@ $^

wasm: build/wasm/smoke.wasm ## Build the engine and its smoke test for wasm32-wasi

# Early releases of Node 18 have WASI behind a flag, which later ones may not take.
wasm-check: build/wasm/smoke.wasm ## Run the engine's smoke test under Node's WASI
	$(Q)flag=--experimental-wasi-unstable-preview1; \
	$(NODE) $$flag --eval 0 2>/dev/null || flag=; \
	$(NODE) --no-warnings $$flag tests/wasm/run.mjs $<
