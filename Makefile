# Sapling build. `make help` lists the targets.
#
# One set of sources is compiled in several variants (mk/variants.mk), each with its own
# object directory build/<variant>/obj, so that no variant ever rebuilds another's files.
# Every compiled file also depends on build/<variant>/flags, which changes only when the
# compiler or its flags change.
#
#   make V=1 ...        show the commands
#   make CC=... ...     another compiler for the release and test variants
#   make check T=name   only the test binaries whose path contains `name`

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules
SHELL := /bin/sh

# The compiler records $PWD, the prefix map below replaces $(CURDIR): make them the same text.
export PWD := $(CURDIR)
export LC_ALL := C
export PYTHONDONTWRITEBYTECODE := 1

VERSION  := $(shell cat VERSION)
SO_MAJOR := $(firstword $(subst ., ,$(VERSION)))
SONAME   := libsapling.so.$(SO_MAJOR)
RUNTIME_SONAME := libsapling-runtime.so.$(SO_MAJOR)

ifeq ($(origin CC),default)
CC := gcc
endif
ifeq ($(origin AR),default)
AR := ar
endif
ifeq ($(origin LD),default)
LD := ld
endif
CLANG      ?= clang
OBJCOPY    ?= objcopy
NM         ?= nm
PYTHON     ?= python3
PKG_CONFIG ?= pkg-config
JOBS       ?= 2
ENGINE_OPT ?= -O2
Q          := $(if $(V),,@)

# libsapling: common, engine, runner, and the codecs of the runner's rows.
LIB_DIRS  := src/common src/sapling src/runner
LIB_CODECS := generated/wit_runtime.c generated/wit_schema_dbis.c
LIB_SRCS  := $(sort $(wildcard $(LIB_DIRS:=/*.c))) $(LIB_CODECS)
# libsapling-runtime: libsapling, the store and what stands on it, and the codecs of their rows.
RUNTIME_DIRS := src/store src/simulator src/universe
RUNTIME_CODECS := generated/wit_store.c generated/wit_universe.c
RUNTIME_SRCS := $(sort $(wildcard $(RUNTIME_DIRS:=/*.c)) $(filter-out src/json/codec_json.c,$(wildcard src/json/*.c))) $(RUNTIME_CODECS)
NODE_SRCS := $(sort $(wildcard src/node/*.c))
CLI_SRCS  := $(sort $(wildcard src/cli/*.c))
SCHEMA_SRCS := $(filter-out %_json.c,$(sort $(wildcard src/schema/*.c)))
PUBLIC_HEADERS := $(sort $(wildcard include/sapling/*.h))
LIB_LIBS  := -lxxhash -pthread
RUNTIME_LIBS := -lpq -lsodium $(LIB_LIBS)
# What only the node needs: it is part of the command and of no library.
NODE_LIBS := -lmicrohttpd -lcurl

# Where libpq's header is.
PQ_CFLAGS := $(shell $(PKG_CONFIG) --cflags libpq 2>/dev/null)
CPPFLAGS_ALL := -D_GNU_SOURCE -Iinclude -Isrc -Igenerated $(PQ_CFLAGS)
CFLAGS_ALL   := -std=c11 -g -pthread -fPIC -fvisibility=hidden -fno-omit-frame-pointer \
                -ffile-prefix-map=$(CURDIR)=.
WARN_SRC     := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion \
                -Wstrict-prototypes -Wmissing-prototypes -Wcast-qual -Wvla -Werror
# Check's assertion macros pass variadic arguments in ways -Wpedantic rejects, and its tests
# are static functions already.
WARN_TEST    := -Wall -Wextra -Wshadow -Wstrict-prototypes -Werror
HARDEN       := -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -fstack-protector-strong
LDFLAGS_ALL  := -Wl,--as-needed -Wl,-z,relro,-z,now

include mk/variants.mk
include mk/library.mk
include mk/schema.mk
include mk/test.mk
include mk/runner.mk
include mk/quality.mk
include mk/install.mk
include mk/wasm.mk
include mk/amalgamation.mk
include mk/model.mk
include mk/python.mk
-include mk/bench.mk
-include mk/wal_bench.mk
-include mk/codec_bench.mk

.PHONY: all help clean clang FORCE

all: build/libsapling.a build/libsapling.so build/libsapling-runtime.a build/libsapling-runtime.so build/sapling build/schema_diff ## Build the libraries, the command and schema_diff

clang: build/clang/libsapling.a build/clang/libsapling.so build/clang/libsapling-runtime.a build/clang/libsapling-runtime.so build/clang/sapling ## Build the libraries and the command with clang

clean: ## Remove everything that was built
	rm -rf build

help: ## Show this list
	@sed -n 's/^\([a-z][a-z-]*\):.*## \(.*\)/\1\t\2/p' $(filter Makefile mk/%,$(MAKEFILE_LIST)) | \
	    sort | awk -F'\t' '{ printf "  %-18s %s\n", $$1, $$2 }'

FORCE:
