# The static and the shared libraries.
#
# An archive holds one relocatable object in which every hidden symbol has been made local, so
# that a program linked with it sees the exported names and nothing else, as with the shared one.

# $(call LIBRARY_RULES,VARIANT,DIRECTORY,NAME,OBJECTS,SONAME,LIBRARIES)
define LIBRARY_RULES
build/$1/obj/$3.o: $4
	@test -n '$$^' || { echo 'no library sources found' >&2; exit 1; }
	@echo '  LD      $$@'
	$$(Q)$$(LD) -r -o $$@.all $$^
	$$(Q)$$(OBJCOPY) --localize-hidden $$@.all $$@
	@rm -f $$@.all

$2/$3.a: build/$1/obj/$3.o
	@echo '  AR      $$@'
	@rm -f $$@
	$$(Q)$$(AR) rcsD $$@ $$<

$2/$3.so: $4
	@echo '  LD      $$@'
	$$(Q)$$(CC_$1) -shared $$(LDFLAGS_ALL) $$(LDFLAGS_$1) $$(LDFLAGS) -Wl,--no-undefined \
	    -Wl,-soname,$5 -o $$@ $$^ $6
	@ln -sf $3.so $2/$5
endef

# $(call LIBRARIES,VARIANT,DIRECTORY)
define LIBRARIES
$(call LIBRARY_RULES,$1,$2,libsapling,$(call lib_objs,$1),$(SONAME),$(LIB_LIBS))

$(call LIBRARY_RULES,$1,$2,libsapling-runtime,$(call lib_objs,$1) $(call runtime_objs,$1),$(RUNTIME_SONAME),$(RUNTIME_LIBS))
endef

$(eval $(call LIBRARIES,release,build))
$(eval $(call LIBRARIES,clang,build/clang))

# The command, with everything in it: the runtime too, and so the libraries that only the runtime needs.
define COMMAND_RULES
$2/sapling: $$(call cli_objs,$1) $$(call node_objs,$1) $$(call rows_objs,$1) build/$1/obj/generated/wit_runtime_json.o \
            $$(call lib_objs,$1) $$(call runtime_objs,$1)
	@echo '  LD      $$@'
	$$(Q)$$(CC_$1) -pie $$(LDFLAGS_ALL) $$(LDFLAGS_$1) $$(LDFLAGS) -o $$@ $$^ $$(NODE_LIBS) $$(JANSSON_LIBS) $$(RUNTIME_LIBS)
endef

$(eval $(call COMMAND_RULES,release,build))
$(eval $(call COMMAND_RULES,clang,build/clang))
$(eval $(call COMMAND_RULES,asan,build/asan))

.PHONY: symbols-check symbols-update

SYMBOL_LIBRARIES := build/libsapling.so build/libsapling.a
RUNTIME_SYMBOL_LIBRARIES := build/libsapling-runtime.so build/libsapling-runtime.a
SYMBOLS = NM='$(NM)' $(PYTHON) tools/symbols.py

symbols-check: $(SYMBOL_LIBRARIES) $(RUNTIME_SYMBOL_LIBRARIES) build/sapling ## Compare exported symbols with tools/exported-symbols*.txt
	$(Q)$(SYMBOLS) check tools/exported-symbols.txt $(SYMBOL_LIBRARIES)
	$(Q)$(SYMBOLS) check tools/exported-symbols-runtime.txt+tools/exported-symbols.txt $(RUNTIME_SYMBOL_LIBRARIES)
	$(Q)$(SYMBOLS) clash build/sapling

symbols-update: $(SYMBOL_LIBRARIES) $(RUNTIME_SYMBOL_LIBRARIES) ## Rewrite tools/exported-symbols*.txt from the build
	$(Q)$(SYMBOLS) update tools/exported-symbols.txt $(SYMBOL_LIBRARIES)
	$(Q)$(SYMBOLS) update tools/exported-symbols-runtime.txt+tools/exported-symbols.txt $(RUNTIME_SYMBOL_LIBRARIES)
