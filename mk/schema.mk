# The schema pipeline: schemas/wit/*.wit to C, manifest and reference page.
#
# What is generated from the schemas is checked in under generated/, so that a build needs no
# generator; what is generated from tests/schemas is made where it is needed, in build/wit.

WIT_TOOL_SRCS := $(sort $(wildcard tools/wit_codegen/*.c))
WIT_TOOL_OBJS := $(WIT_TOOL_SRCS:%.c=build/release/obj/%.o)
WIT_TOOL      := build/wit_codegen
WIT_SCHEMAS   := $(sort $(wildcard schemas/wit/*.wit))

build/release/obj/tools/%.o: tools/%.c build/release/flags
	@mkdir -p $(@D)
	@echo '  CC      $@'
	$(Q)$(call compile,release,$(WARN_SRC),$(JANSSON_CFLAGS)) -c -o $@ $<

build/wit_codegen: $(WIT_TOOL_OBJS) $(call schema_objs,release) \
                   $(filter build/release/obj/src/common/%,$(call lib_objs,release))
	@echo '  LD      $@'
	$(Q)$(CC_release) -pie $(LDFLAGS_ALL) $(LDFLAGS) -o $@ $^ $(LIB_LIBS)

SCHEMA_DIFF      := build/schema_diff
SCHEMA_DIFF_OBJS := $(patsubst %.c,build/release/obj/%.o,$(sort $(wildcard tools/schema_diff/*.c)))

$(SCHEMA_DIFF): $(SCHEMA_DIFF_OBJS) $(call schema_objs,release) \
                $(filter build/release/obj/src/common/%,$(call lib_objs,release))
	@echo '  LD      $@'
	$(Q)$(CC_release) -pie $(LDFLAGS_ALL) $(LDFLAGS) -o $@ $^ $(JANSSON_LIBS) $(LIB_LIBS)

-include $(wildcard build/release/obj/tools/*/*.d)

# --- schemas of the tests ----------------------------------------------------------------------
# $(call wit_objs,VARIANT): what a test of generated code links beside the library.
WIT_TEST_NAMES := wit_constructs wit_constructs_json wit_constructs_samples
WIT_TEST_FILES := $(WIT_TEST_NAMES:%=build/wit/%.c)
GENERATED_SRCS := $(sort $(wildcard generated/*.c))
wit_objs = $(WIT_TEST_NAMES:%=build/$1/obj/wit/%.o) \
           $(patsubst %.c,build/$1/obj/%.o,$(filter-out $(LIB_CODECS),$(GENERATED_SRCS))) \
           $(call rows_objs,$1) build/$1/obj/tests/samples/samples.o

build/wit/stamp: tests/schemas/constructs.wit $(WIT_TOOL)
	@mkdir -p $(@D)
	$(Q)$(WIT_TOOL) generate --out build/wit $< && touch $@

$(WIT_TEST_FILES): build/wit/stamp ;

# The tables of two packages.
build/wit/two/wit_schema_dbis.c: tests/schemas/shop.wit $(WIT_SCHEMAS) $(WIT_TOOL)
	@mkdir -p $(@D)
	$(Q)$(WIT_TOOL) generate --out $(@D) --manifest $(@D)/manifest.csv tests/schemas/shop.wit $(WIT_SCHEMAS)

# Named as targets: a pattern rule applies only if what it needs exists or is mentioned, and the
# rule of all other tests would do without these.
define WIT_RULES
$$(call wit_objs,$1):

build/$1/obj/wit/%.o: build/wit/%.c build/$1/flags
	@mkdir -p $$(@D)
	@echo '  CC      $$@'
	$$(Q)$$(call compile,$1,$$(WARN_SRC),-Itests $$(JANSSON_CFLAGS)) -c -o $$@ $$<

build/$1/obj/generated/%.o: generated/%.c build/$1/flags
	@mkdir -p $$(@D)
	@echo '  CC      $$@'
	$$(Q)$$(call compile,$1,$$(WARN_SRC),-Itests $$(JANSSON_CFLAGS)) -c -o $$@ $$<

build/$1/obj/tests/unit/wit_%.o: tests/unit/wit_%.c build/$1/flags build/wit/stamp
	@mkdir -p $$(@D)
	@echo '  CC      $$@'
	$$(Q)$$(call compile,$1,$$(WARN_TEST),-Itests -Ibuild/wit $$(CHECK_CFLAGS) $$(JANSSON_CFLAGS)) -c -o $$@ $$<

build/$1/obj/tests/fuzz/wit_%.o: tests/fuzz/wit_%.c build/$1/flags build/wit/stamp
	@mkdir -p $$(@D)
	@echo '  CC      $$@'
	$$(Q)$$(call compile,$1,$$(WARN_TEST),-Itests -Ibuild/wit $$(JANSSON_CFLAGS)) -c -o $$@ $$<
endef
$(foreach v,$(VARIANTS),$(eval $(call WIT_RULES,$v)))
-include $(wildcard build/*/obj/wit/*.d build/*/obj/generated/*.d)

# --- targets -----------------------------------------------------------------------------------
SCHEMA_MANIFEST := schemas/dbi_manifest.csv
SCHEMA_PAGE     := docs/reference/row-layouts.md
SCHEMA_AGAIN    := build/wit/again

.PHONY: schema-check wit-schema-check wit-schema-generate wit-schema-cc-check wit-schema-same \
        wit-schema-test schema-diff-test

wit-schema-check: $(WIT_TOOL) ## Parse and check the schemas, and compare their tables with the code
	$(Q)$(WIT_TOOL) check --src src $(WIT_SCHEMAS)

wit-schema-generate: $(WIT_TOOL) ## Rewrite what is generated from the schemas
	$(Q)mkdir -p generated
	$(Q)$(WIT_TOOL) generate --out generated --manifest $(SCHEMA_MANIFEST) --page $(SCHEMA_PAGE) $(WIT_SCHEMAS)

wit-schema-cc-check: $(foreach v,release clang,$(call wit_objs,$v) $(LIB_CODECS:%.c=build/$v/obj/%.o)) ## Compile generated code with gcc and clang
	@test -n '$(GENERATED_SRCS)' || { echo 'nothing is generated' >&2; exit 1; }

wit-schema-same: $(WIT_TOOL)
	$(Q)rm -rf $(SCHEMA_AGAIN) && mkdir -p $(SCHEMA_AGAIN)/generated
	$(Q)$(WIT_TOOL) generate --out $(SCHEMA_AGAIN)/generated --manifest $(SCHEMA_AGAIN)/manifest.csv \
	    --page $(SCHEMA_AGAIN)/page.md $(WIT_SCHEMAS)
	$(Q)diff -r $(SCHEMA_AGAIN)/generated generated && \
	    diff $(SCHEMA_AGAIN)/manifest.csv $(SCHEMA_MANIFEST) && \
	    diff $(SCHEMA_AGAIN)/page.md $(SCHEMA_PAGE) || \
	    { echo 'generated files are not those of the schemas: make wit-schema-generate' >&2; exit 1; }

wit-schema-test: $(WIT_TOOL) ## Test the reader of schemas with one mistake of each kind
	$(Q)$(PYTHON) tests/tools/wit_codegen_test.py $(WIT_TOOL)

schema-diff-test: $(SCHEMA_DIFF) ## Test the comparison of schemas with one change of each kind
	$(Q)$(PYTHON) tests/tools/schema_diff_test.py $(SCHEMA_DIFF)

schema-check: wit-schema-check wit-schema-same wit-schema-cc-check wit-schema-test schema-diff-test ## Check schemas, manifest and all generated code
