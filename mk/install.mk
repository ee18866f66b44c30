# Installation.

PREFIX     ?= /usr/local
LIBDIR     ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
MANDIR     ?= $(PREFIX)/share/man
INSTALL    ?= install

.PHONY: install install-check

install: all ## Install libraries, headers, sapling.pc, the command and its man page under DESTDIR PREFIX
	$(INSTALL) -d $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(INCLUDEDIR)/sapling
	$(INSTALL) -m 644 build/libsapling.a $(DESTDIR)$(LIBDIR)/libsapling.a
	$(INSTALL) -m 755 build/libsapling.so $(DESTDIR)$(LIBDIR)/libsapling.so.$(VERSION)
	ln -sf libsapling.so.$(VERSION) $(DESTDIR)$(LIBDIR)/$(SONAME)
	ln -sf $(SONAME) $(DESTDIR)$(LIBDIR)/libsapling.so
	$(INSTALL) -m 644 $(PUBLIC_HEADERS) $(DESTDIR)$(INCLUDEDIR)/sapling/
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' -e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' \
	    -e 's|@VERSION@|$(VERSION)|' sapling.pc.in > $(DESTDIR)$(LIBDIR)/pkgconfig/sapling.pc
	$(INSTALL) -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(MANDIR)/man1
	$(INSTALL) -m 755 build/sapling $(DESTDIR)$(PREFIX)/bin/sapling
	$(INSTALL) -m 644 man/sapling.1 $(DESTDIR)$(MANDIR)/man1/sapling.1

install-check: all ## Install into a scratch directory and build a program against it
	$(Q)CC='$(CC)' MAKE='$(MAKE)' PKG_CONFIG='$(PKG_CONFIG)' sh tools/install_check.sh
