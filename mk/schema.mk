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
	$(Q)$(call compile,release,$(WARN_SRC)) -c -o $@ $<

build/wit_codegen: $(WIT_TOOL_OBJS) $(filter build/release/obj/src/common/%,$(call lib_objs,release))
	@echo '  LD      $@'
	$(Q)$(CC_release) -pie $(LDFLAGS_ALL) $(LDFLAGS) -o $@ $^ $(LIB_LIBS)

-include $(wildcard build/release/obj/tools/*/*.d)

.PHONY: wit-schema-test

wit-schema-test: $(WIT_TOOL) ## Test the reader of schemas with one mistake of each kind
	$(Q)$(PYTHON) tests/tools/wit_codegen_test.py $(WIT_TOOL)
