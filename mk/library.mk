# The static and the shared library.
#
# The archive holds one relocatable object in which every hidden symbol has been made local, so
# that a program linked with it sees the exported names and nothing else, as with the shared one.

define LIBRARY_RULES
build/$1/obj/libsapling.o: $$(call lib_objs,$1)
	@test -n '$$^' || { echo 'no library sources found' >&2; exit 1; }
	@echo '  LD      $$@'
	$$(Q)$$(LD) -r -o $$@.all $$^
	$$(Q)$$(OBJCOPY) --localize-hidden $$@.all $$@
	@rm -f $$@.all

$2/libsapling.a: build/$1/obj/libsapling.o
	@echo '  AR      $$@'
	@rm -f $$@
	$$(Q)$$(AR) rcsD $$@ $$<

$2/libsapling.so: $$(call lib_objs,$1)
	@echo '  LD      $$@'
	$$(Q)$$(CC_$1) -shared $$(LDFLAGS_ALL) $$(LDFLAGS_$1) $$(LDFLAGS) -Wl,--no-undefined \
	    -Wl,-soname,$$(SONAME) -o $$@ $$^ $$(LIB_LIBS)
	@ln -sf libsapling.so $2/$$(SONAME)
endef

$(eval $(call LIBRARY_RULES,release,build))
$(eval $(call LIBRARY_RULES,clang,build/clang))

# The command, with everything in it.
define COMMAND_RULES
$2/sapling: $$(call cli_objs,$1) $$(call node_objs,$1) $$(call rows_objs,$1) build/$1/obj/generated/wit_runtime_json.o \
            $$(call lib_objs,$1)
	@echo '  LD      $$@'
	$$(Q)$$(CC_$1) -pie $$(LDFLAGS_ALL) $$(LDFLAGS_$1) $$(LDFLAGS) -o $$@ $$^ $$(JANSSON_LIBS) $$(LIB_LIBS)
endef

$(eval $(call COMMAND_RULES,release,build))
$(eval $(call COMMAND_RULES,clang,build/clang))
$(eval $(call COMMAND_RULES,asan,build/asan))

.PHONY: symbols-check symbols-update

symbols-check: build/libsapling.a build/libsapling.so ## Compare exported symbols with tools/exported-symbols.txt
	$(Q)NM='$(NM)' $(PYTHON) tools/symbols.py check build/libsapling.so build/libsapling.a

symbols-update: build/libsapling.a build/libsapling.so ## Rewrite tools/exported-symbols.txt from the build
	$(Q)NM='$(NM)' $(PYTHON) tools/symbols.py update build/libsapling.so build/libsapling.a
