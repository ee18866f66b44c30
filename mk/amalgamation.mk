# Engine and runner as two files that a program compiles with its own: build/amalgamation/sapling.{h,c}.
# tools/amalgamate.py says how they are made.
#
#   XXHASH_H=FILE   the xxhash.h to copy (by default the one that CC finds)
#   CXX=g++         checks the header for C++ where it is installed

AMALGAMATION_SOURCES := $(LIB_DIRS) $(LIB_CODECS)
AMALGAMATION      := build/amalgamation/sapling.h build/amalgamation/sapling.c

# Looked up when it is needed: not every target needs it.
XXHASH_H ?= $(eval XXHASH_H := $$(shell printf '\043include <xxhash.h>\n' | $(CC) -M -x c - | \
              tr -d '\\' | tr ' ' '\n' | grep '/xxhash\.h$$$$'))$(XXHASH_H)

ifeq ($(origin CXX),default)
CXX := g++
endif

AMALGAMATE = $(PYTHON) tools/amalgamate.py --vendor xxhash.h='$(XXHASH_H)' $(AMALGAMATION_SOURCES)

.PHONY: amalgamation amalgamation-check amalgamate-test

$(AMALGAMATION) &: $(wildcard $(LIB_DIRS:=/*.[ch])) $(LIB_CODECS) $(LIB_CODECS:.c=.h) $(PUBLIC_HEADERS) VERSION LICENSE \
                   tools/amalgamate.py tools/tidy_c.py mk/amalgamation.mk
	@echo '  PYTHON  $(AMALGAMATION)'
	$(Q)$(AMALGAMATE) --out build/amalgamation

amalgamation: $(AMALGAMATION) ## Write engine and runner as build/amalgamation/sapling.h and sapling.c

amalgamation-check: $(AMALGAMATION) ## Compile the amalgamation as a user would, and run it
	$(Q)CC='$(CC)' CLANG='$(CLANG)' CXX='$(CXX)' NM='$(NM)' \
	    sh tests/tools/amalgamation_check.sh build/amalgamation $(AMALGAMATE)

amalgamate-test: ## Test the generator of the amalgamation
	$(Q)$(PYTHON) tests/tools/amalgamate_test.py

tools-test: amalgamate-test
