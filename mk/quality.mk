# Checks that read the sources or rebuild the tree.

CLANG_FORMAT ?= clang-format-14
CLANG_TIDY   ?= clang-tidy
CPPCHECK     ?= cppcheck
SHELLCHECK   ?= shellcheck

LINT_SRCS   := $(sort $(wildcard src/*/*.c))
FORMAT_SRCS  = $(sort $(shell find src include tests tools examples bench -name '*.[ch]' 2>/dev/null))
SHELL_SRCS  := $(wildcard script/* .ci/run tools/*.sh tests/tools/*.sh examples/worlds/*.sh)

.PHONY: lint lint-tidy lint-cppcheck lint-shell format format-check tidy tidy-test docs-test tools-test repro-check

lint: lint-tidy lint-cppcheck lint-shell ## Static analysis: clang-tidy, cppcheck, shellcheck

lint-tidy:
	@echo '  TIDY    $(words $(LINT_SRCS)) files'
	$(Q)printf '%s\n' $(LINT_SRCS) | xargs -r -P $(JOBS) -n 1 sh tools/clang_tidy.sh '$(CLANG_TIDY)' \
	    '-std=c11 $(CPPFLAGS_ALL)'

# What every compiler predefines and cppcheck does not.
CPPCHECK_DEFS := -D__GNUC__=12 -D__BYTE_ORDER__=1234 -D__ORDER_LITTLE_ENDIAN__=1234 \
                 -D__ORDER_BIG_ENDIAN__=4321 -D__SIZEOF_POINTER__=8

# One job: with more, cppcheck leaves out the checks that look across files.
lint-cppcheck:
	@echo '  CPPCHECK src'
	$(Q)$(CPPCHECK) --quiet -j 1 --error-exitcode=1 --std=c11 --enable=warning,performance,portability \
	    --platform=unix64 --inline-suppr $(CPPCHECK_DEFS) --suppressions-list=tools/cppcheck-suppressions.txt $(filter -D% -I%,$(CPPFLAGS_ALL)) src

lint-shell:
	@echo '  SHELL   $(words $(SHELL_SRCS)) files'
	$(Q)$(SHELLCHECK) $(SHELL_SRCS)

format: ## Rewrite the sources in the house format
	$(Q)printf '%s\n' $(FORMAT_SRCS) | xargs -r $(CLANG_FORMAT) -i

format-check: ## Fail if a source is not in the house format
	$(Q)printf '%s\n' $(FORMAT_SRCS) | xargs -r $(CLANG_FORMAT) --dry-run --Werror

tidy: ## Check layers, duplicates, byte assembly, dead code, blobs, symbols, links
	$(Q)$(PYTHON) tools/tidy.py

tidy-test: ## Test the checker itself with planted violations
	$(Q)$(PYTHON) tests/tools/tidy_test.py

docs-test: build/libsapling-runtime.a ## Compile and run the examples of the documents
	$(Q)CC='$(CC)' $(PYTHON) tests/tools/docs_examples_test.py

tools-test: tidy-test docs-test ## Test the checker, the test runner and the documents
	$(Q)$(PYTHON) tests/tools/run_tests_test.py
	$(Q)$(PYTHON) tests/tools/mutants_test.py
	$(Q)$(PYTHON) tests/tools/script_test_test.py
	$(Q)$(PYTHON) tests/tools/universe_metrics_test.py

REPRO_FILES := $(addprefix build/,libsapling.a libsapling.so libsapling-runtime.a libsapling-runtime.so)
repro-check: $(REPRO_FILES) ## Build again in another directory and compare bytes
	$(Q)sh tools/repro_check.sh $(REPRO_FILES)
