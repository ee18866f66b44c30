# Installation.

PREFIX     ?= /usr/local
LIBDIR     ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
MANDIR     ?= $(PREFIX)/share/man
PYTHONDIR  ?= $(PREFIX)/share/sapling/python
INSTALL    ?= install

.PHONY: install install-check headers-check

install: all ## Install libraries, headers, pkg-config files, the commands, their man pages and the Python package under DESTDIR PREFIX
	$(INSTALL) -d $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(INCLUDEDIR)/sapling
	$(INSTALL) -m 644 build/libsapling.a $(DESTDIR)$(LIBDIR)/libsapling.a
	$(INSTALL) -m 755 build/libsapling.so $(DESTDIR)$(LIBDIR)/libsapling.so.$(VERSION)
	ln -sf libsapling.so.$(VERSION) $(DESTDIR)$(LIBDIR)/$(SONAME)
	ln -sf $(SONAME) $(DESTDIR)$(LIBDIR)/libsapling.so
	$(INSTALL) -m 644 build/libsapling-runtime.a $(DESTDIR)$(LIBDIR)/libsapling-runtime.a
	$(INSTALL) -m 755 build/libsapling-runtime.so $(DESTDIR)$(LIBDIR)/libsapling-runtime.so.$(VERSION)
	ln -sf libsapling-runtime.so.$(VERSION) $(DESTDIR)$(LIBDIR)/$(RUNTIME_SONAME)
	ln -sf $(RUNTIME_SONAME) $(DESTDIR)$(LIBDIR)/libsapling-runtime.so
	$(INSTALL) -m 644 $(PUBLIC_HEADERS) $(DESTDIR)$(INCLUDEDIR)/sapling/
	for name in sapling sapling-runtime; do \
	    sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' -e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' \
	        -e 's|@VERSION@|$(VERSION)|' $$name.pc.in > $(DESTDIR)$(LIBDIR)/pkgconfig/$$name.pc || exit 1; done
	$(INSTALL) -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(MANDIR)/man1
	$(INSTALL) -m 755 build/sapling $(DESTDIR)$(PREFIX)/bin/sapling
	$(INSTALL) -m 755 build/schema_diff $(DESTDIR)$(PREFIX)/bin/schema_diff
	$(INSTALL) -m 644 man/sapling.1 man/schema_diff.1 $(DESTDIR)$(MANDIR)/man1/
	$(INSTALL) -d $(DESTDIR)$(PYTHONDIR)/sapling
	$(INSTALL) -m 644 $(sort $(wildcard clients/python/sapling/*.py)) $(DESTDIR)$(PYTHONDIR)/sapling/

headers-check: ## Compile the public headers alone and in pairs, as C and C++
	$(Q)CC='$(CC)' CXX='$(CXX)' sh tests/tools/headers_check.sh include

install-check: all ## Install into a scratch directory and build programs against it
	$(Q)CC='$(CC)' CXX='$(CXX)' MAKE='$(MAKE)' PKG_CONFIG='$(PKG_CONFIG)' sh tools/install_check.sh
