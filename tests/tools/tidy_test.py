#!/usr/bin/env python3
"""Tests of tools/tidy.py: a clean tree passes, and each planted violation is reported with its
file, line and rule, alone."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

TOOLS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools")
sys.path.insert(0, TOOLS)
sys.dont_write_bytecode = True

import tidy  # noqa: E402
import tidy_c  # noqa: E402

CLEAN = {
    "include/sapling/error.h": """\
/* error.h - result codes. */
#ifndef ERROR_H
#define ERROR_H
#define SAP_API __attribute__((visibility("default")))
#ifdef __cplusplus
extern "C" {
#endif
SAP_API const char *sap_strerror(int rc);
#ifdef __cplusplus
}
#endif
#endif
""",
    "include/sapling/sapling.h": """\
/* sapling.h - the engine. */
#ifndef SAPLING_H
#define SAPLING_H
#include "sapling/error.h"
typedef struct SapTxn SapTxn;
SAP_API int sap_txn_put(SapTxn *txn,
                        const void *key);
#include "sapling/short_names.h"
#endif
""",
    "include/sapling/short_names.h": """\
#ifndef SHORT_NAMES_H
#define SHORT_NAMES_H
#define txn_put sap_txn_put
#endif
""",
    "src/common/README.md": "# common\n\nSee [the engine](../sapling/README.md#top) and "
                            "[elsewhere](https://example.org/x).\n",
    "src/common/bytes.h": """\
#ifndef BYTES_H
#define BYTES_H
#include <stdint.h>
static inline uint32_t load_u32be(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}
#endif
""",
    "src/common/table.h": """\
#ifndef TABLE_H
#define TABLE_H
extern const char *const table_names[2];
int table_size(void);
#endif
""",
    "src/common/table.c": """\
#include "common/table.h"

#include "sapling/error.h"

const char *const table_names[2] = {"one {", "two"};

int table_size(void)
{
    return 2;
}
""",
    "src/sapling/README.md": "# sapling\n",
    "src/sapling/txn.c": """\
#include "common/bytes.h"
#include "common/table.h"
#include "sapling/sapling.h"

/* Flags are single bits; that is no byte assembly: 1 << 8 | 1. */
enum { FLAG_A = 1u << 8 | 1u << 16 };

static int helper(const void *key)
{
#ifdef ONE
    if (key) {
#else
    if (!key) {
#endif
        return table_size();
    }
    return (int)load_u32be(key);
}

const char *sap_strerror(int rc)
{
    return rc ? table_names[0] : "TODO << 8 |";
}

int sap_txn_put(SapTxn *txn, const void *key)
{
    (void)txn;
    return helper(key) | FLAG_A;
}
""",
    "tests/unit/table_test.c": """\
#include "common/table.h"

#include <check.h>

START_TEST(table_has_two_names)
{
    ck_assert_int_eq(table_size(), 2);
}
END_TEST
""",
    "tools/exported-symbols.txt": "sap_strerror\nsap_txn_put\n",
    "docs/index.md": "[home](../src/common/README.md)\n\n```\n[not a link](nowhere.md)\n```\n"
                     "`[nor this](nowhere.md)`\n\n[home]: ../src/sapling/txn.c\n",
}

SIX_LINES = """
    int sum = 0;
    for (int i = 0; i < n; i++) {
        sum += i;
        sum *= 2;
    }
    return sum;
"""


class TidyTest(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp(prefix="sapling-tidy-")
        self.addCleanup(shutil.rmtree, self.root)
        for path, text in CLEAN.items():
            self.write(path, text)

    def write(self, path, text):
        full = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as file:
            file.write(text)

    def append(self, path, text):
        """Adds `text` and returns the number of its first line."""
        with open(os.path.join(self.root, path), encoding="utf-8") as file:
            before = file.read()
        self.write(path, before + text)
        return before.count("\n") + 1

    def findings(self):
        return [(f.path, f.line, f.rule) for f in tidy.check(self.root)[1]]

    def assert_only(self, path, line, rule):
        self.assertEqual(self.findings(), [(path, line, rule)])

    def git(self, *arguments):
        subprocess.run(["git", "-C", self.root, *arguments], check=True, capture_output=True)

    def test_clean_tree_passes(self):
        self.assertEqual([str(f) for f in tidy.check(self.root)[1]], [])

    def test_command_prints_findings_and_fails(self):
        line = self.append("src/common/table.c", "/* TODO: more */\n")
        command = [sys.executable, os.path.join(TOOLS, "tidy.py"), "--root", self.root]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 1)
        self.assertIn(f"src/common/table.c:{line}: [banned-words] ", result.stdout)
        self.write("src/common/table.c", CLEAN["src/common/table.c"])
        self.assertEqual(subprocess.run(command, capture_output=True, check=False).returncode, 0)

    # layers
    def test_lower_layer_may_not_include_a_higher_one(self):
        self.write("src/sapling/page.h", "int page_size(void);\n")
        self.append("src/sapling/txn.c", '#include "sapling/page.h"\n')
        line = self.append("src/common/table.c", '#include "sapling/page.h"\n')
        self.assert_only("src/common/table.c", line, "layers")

    def test_public_header_counts_as_its_layer(self):
        line = self.append("src/common/table.c", "#include <sapling/sapling.h>\n")
        self.assert_only("src/common/table.c", line, "layers")

    def test_layers_beside_each_other_may_not_meet(self):
        self.write("src/store/README.md", "# store\n")
        self.write("src/runner/README.md", "# runner\n")
        self.write("src/runner/frame.h", "#include \"common/table.h\"\n")
        self.write("src/store/store.c", '#include "runner/frame.h"\nint main(void)\n{\n    return 0;\n}\n')
        self.assert_only("src/store/store.c", 1, "layers")

    def test_directory_outside_the_table_is_reported(self):
        self.write("src/extra/README.md", "# extra\n")
        self.write("src/extra/main.c", "int main(void)\n{\n    return 0;\n}\n")
        self.assert_only("src/extra/main.c", 1, "layers")

    def test_public_header_may_not_include_a_private_one(self):
        line = self.append("include/sapling/sapling.h", '#include "common/table.h"\n')
        self.assert_only("include/sapling/sapling.h", line, "layers")

    def test_generated_code_may_use_common_and_only_its_json_files_json(self):
        self.write("generated/wit_x.h", '#include "common/table.h"\n')
        self.write("generated/wit_x_json.c", '#include "wit_x.h"\n#include "common/table.h"\n')
        self.write("generated/wit_x_samples.c", '#include "wit_x.h"\n#include "samples/any.h"\n')
        self.assertEqual(self.findings(), [])
        self.write("generated/wit_x.c", '#include "wit_x.h"\n\n#include "json/codec_json.h"\n')
        self.assert_only("generated/wit_x.c", 3, "layers")
        self.write("generated/wit_x.c", '#include "wit_x_json.h"\n')
        self.assert_only("generated/wit_x.c", 1, "layers")

    def test_generated_headers_are_for_the_layers_above_the_engine(self):
        self.write("generated/wit_x.h", "")
        line = self.append("src/common/table.c", '#include "wit_x.h"\n')
        self.assert_only("src/common/table.c", line, "layers")

    def test_c_tools_may_use_common_alone(self):
        self.write("tools/gen/main.c", '#include "gen.h"\n#include "common/table.h"\n')
        self.assertEqual(self.findings(), [])
        self.write("tools/gen/main.c", '#include "sapling/page.h"\n')
        self.assert_only("tools/gen/main.c", 1, "layers")

    def test_include_inside_a_comment_is_none(self):
        self.append("src/common/table.c", '/*\n#include "sapling/sapling.h"\n*/\n')
        self.assertEqual(self.findings(), [])

    # duplicate-body
    def test_same_body_in_two_files_is_reported(self):
        self.append("src/common/table.c", "\nstatic int first(int n)\n{" + SIX_LINES + "}\n")
        line = self.append("tests/unit/table_test.c", "static int second(int n)\n{ /* other words */" +
                           SIX_LINES.replace("    ", "\t") + "}\n")
        self.assert_only("tests/unit/table_test.c", line, "duplicate-body")

    def test_short_or_different_bodies_are_fine(self):
        self.append("src/common/table.c", "static int a(int n)\n{" + SIX_LINES + "}\n")
        self.append("src/common/table.c", "static int b(int n)\n{" + SIX_LINES.replace("2", "3") + "}\n")
        self.append("src/common/table.c", "static int c(void)\n{\n    return 1;\n}\n")
        self.append("src/common/table.c", "static int d(void)\n{\n    return 1;\n}\n")
        self.assertEqual(self.findings(), [])

    def test_bodies_that_differ_in_a_literal_are_fine(self):
        for name in ("a", "b"):
            self.append("tests/unit/table_test.c", f"static void {name}(int n)\n{{" + SIX_LINES +
                        f'    puts("{name}");\n}}\n')
        self.assertEqual(self.findings(), [])

    # byte-assembly
    def test_byte_assembly_is_reported(self):
        for code in ("x = a[0] << 8 | a[1];", "x = a[1] | (a[0] << 8);", "p[0] = (x >> 24) & 0xff;",
                     "p[0] = (uint8_t)(x >> 16);", "x = htonl(x);", "x = be64toh(x);",
                     "x = __builtin_bswap32(x);", "x |= (uint64_t)a[2] << 40;",
                     "x = hi << 24 | mid << 16;", "x = x | (uint32_t)*p << 24;"):
            with self.subTest(code=code):
                self.write("src/common/table.c", CLEAN["src/common/table.c"])
                line = self.append("src/common/table.c", f"static int f(void)\n{{\n    {code}\n}}\n")
                self.assert_only("src/common/table.c", line + 2, "byte-assembly")

    def test_shifts_that_assemble_nothing_are_fine(self):
        self.append("src/common/table.c", "static int f(void)\n{\n    x = y << 8;\n    z = y >> 8;\n"
                    "    w = a || b << 8;\n    v = (1u << 8) | (UINT64_C(1) << 16);\n"
                    "    id = (uint64_t)hi << 32 | lo;\n    stamp = ms << 16 | tag;\n"
                    "    turned = x << 24 | x >> 40;\n}\n")
        self.assertEqual(self.findings(), [])

    # descriptors
    def test_opening_without_fd_h_is_reported(self):
        for code in ('x = open("a", 0);', "x = socket(1, 2, 3);", "x = accept4(x, 0, 0, 0);",
                     'd = opendir(".");', 'f = fopen("a", "r");', "pipe2(two, 0);"):
            with self.subTest(code=code):
                self.write("src/common/table.c", CLEAN["src/common/table.c"])
                line = self.append("src/common/table.c", f"static int f(void)\n{{\n    {code}\n}}\n")
                self.assert_only("src/common/table.c", line + 2, "descriptors")

    def test_opening_through_fd_h_is_fine(self):
        self.append("src/common/table.c", 'static int f(void)\n{\n    x = fd_raise(socket(1, 2, 3));\n'
                    '    x = fd_open("a", 0, 0);\n    x = calls->open(1);\n}\n')
        self.assertEqual(self.findings(), [])

    # unreferenced
    def test_header_nobody_includes_is_reported(self):
        self.write("src/common/lonely.h", "int x;\n")
        self.assert_only("src/common/lonely.h", 1, "unreferenced")

    def test_function_nobody_uses_is_reported(self):
        self.append("src/common/table.h", "int table_unused(int n);\n")
        line = self.append("src/common/table.c",
                           "\n/* calls itself only */\nint table_unused(int n)\n{\n    return table_unused(n);\n}\n")
        self.assert_only("src/common/table.c", line + 2, "unreferenced")

    def test_inline_function_nobody_uses_is_reported(self):
        line = self.append("src/common/table.h", "static inline int never(void)\n{\n    return 1;\n}\n")
        self.assert_only("src/common/table.h", line, "unreferenced")

    def test_file_nobody_uses_is_reported_once(self):
        self.write("src/common/island.c", "int island_a(void)\n{\n    return 1;\n}\n"
                   "int island_b(void)\n{\n    return island_a();\n}\n")
        self.assert_only("src/common/island.c", 1, "unreferenced")

    def test_use_in_a_test_or_by_pointer_counts(self):
        self.append("src/common/table.c", "int table_first(void)\n{\n    return 1;\n}\n")
        self.append("tests/unit/table_test.c", "static int (*pointer)(void) = table_first;\n")
        self.assertEqual(self.findings(), [])

    # blobs
    def test_large_untracked_file_is_reported_and_ignored_one_is_not(self):
        self.git("init", "-q")
        self.write(".gitignore", "/ignored.bin\n")
        self.write("ignored.bin", "x" * (600 * 1024))
        self.write("docs/large.bin", "x" * (600 * 1024))
        self.assert_only("docs/large.bin", 1, "blobs")

    def test_tracked_build_product_is_reported(self):
        self.git("init", "-q")
        self.write("docs/thing.o", "object")
        self.assertEqual(self.findings(), [])
        self.git("add", "docs/thing.o")
        self.assert_only("docs/thing.o", 1, "blobs")

    # symbols
    def test_unsorted_list_is_reported(self):
        self.write("tools/exported-symbols.txt", "sap_txn_put\nsap_strerror\n")
        self.assert_only("tools/exported-symbols.txt", 2, "symbols")

    def test_symbol_without_prefix_is_reported(self):
        self.write("tools/exported-symbols.txt", "other\nsap_strerror\nsap_txn_put\n")
        self.assert_only("tools/exported-symbols.txt", 1, "symbols")

    def test_symbol_without_declaration_is_reported(self):
        self.write("tools/exported-symbols.txt", "sap_gone\nsap_strerror\nsap_txn_put\n")
        self.assert_only("tools/exported-symbols.txt", 1, "symbols")

    def test_declaration_without_symbol_is_reported(self):
        line = self.append("include/sapling/error.h", "SAP_API int\nsap_new(int rc);\n")
        self.assert_only("include/sapling/error.h", line + 1, "symbols")

    # banned-words
    def test_banned_word_is_reported_in_each_language(self):
        for path, text, offset in (("src/common/table.c", "/* first\n * FIXME later */\n", 1),
                                   ("src/common/table.c", "int table_x; // HACK\n", 0),
                                   ("script/run", "echo XXX # fine?\ntrue # XXX\n", 1),
                                   ("tools/a.py", 'TEXT = "TODO"\nN = 1  # TODO\n', 1)):
            with self.subTest(path=path, text=text):
                self.write(path, CLEAN.get(path, ""))
                line = self.append(path, text)
                self.assert_only(path, line + offset, "banned-words")
                self.write(path, CLEAN.get(path, ""))

    # conflicts
    def test_mark_of_an_unfinished_merge_is_reported(self):
        self.write("docs/a.md", "# A\n" + "<" * 7 + " HEAD\n")
        self.assert_only("docs/a.md", 2, "conflicts")

    # short-names
    def test_missing_short_name_is_reported(self):
        line = self.append("include/sapling/sapling.h", "SAP_API void sap_cursor_close(void *cursor);\n")
        self.write("tools/exported-symbols.txt", "sap_cursor_close\nsap_strerror\nsap_txn_put\n")
        self.assert_only("include/sapling/sapling.h", line, "short-names")

    # version
    def test_version_that_differs_from_its_macros_is_reported(self):
        macros = "".join(f"#define SAPLING_VERSION_{part} {number}\n"
                         for part, number in (("MAJOR", 1), ("MINOR", 22), ("PATCH", 3)))
        self.write("include/sapling/version.h", "#ifndef V_H\n#define V_H\n" + macros + "#endif\n")
        self.append("src/common/table.c", '#include "sapling/version.h"\n')
        self.write("VERSION", "1.22.3\n")
        self.assertEqual(self.findings(), [])
        self.write("VERSION", "1.22.4\n")
        self.assert_only("include/sapling/version.h", 1, "version")

    # length
    def test_long_function_is_reported(self):
        body = "".join(f"    x = {i};\n" for i in range(150))
        line = self.append("src/common/table.c", "\nstatic int long_one(void)\n{\n" + body + "}\n")
        self.assert_only("src/common/table.c", line + 1, "length")

    def test_long_file_is_reported(self):
        self.append("src/common/table.c", "\n" * 1000)
        self.assert_only("src/common/table.c", 1001, "length")

    # readme
    def test_missing_readme_is_reported(self):
        os.remove(os.path.join(self.root, "src/sapling/README.md"))
        self.write("src/common/README.md", "# common\n")
        self.assert_only("src/sapling/README.md", 1, "readme")

    def test_long_readme_is_reported(self):
        self.write("src/sapling/README.md", "line\n" * 61)
        self.assert_only("src/sapling/README.md", 61, "readme")

    # links
    def test_dead_link_is_reported(self):
        line = self.append("docs/index.md", "See [there](missing.md#part).\n")
        self.assert_only("docs/index.md", line, "links")

    def test_dead_reference_is_reported(self):
        line = self.append("docs/index.md", "[ref]: gone/file.c\n")
        self.assert_only("docs/index.md", line, "links")

    # the allow list
    def test_allowed_finding_is_silent_and_unused_entry_is_reported(self):
        self.append("src/common/table.c", "static int f(int x)\n{\n    return htonl(x);\n}\n")
        self.write("tools/tidy-allow.txt", "# rule path reason\nbyte-assembly src/common/table.c a peer asks for it\n")
        self.assertEqual(self.findings(), [])
        self.write("src/common/table.c", CLEAN["src/common/table.c"])
        self.assert_only("tools/tidy-allow.txt", 2, "allow-list")

    def test_every_rule_has_a_test_above(self):
        with open(__file__, encoding="utf-8") as file:
            text = file.read()
        for rule in tidy.RULES:
            self.assertRegex(text, rf'assert_only\(.*"{tidy.rule_name(rule)}"\)')


class SourceTest(unittest.TestCase):
    def test_functions_are_found_behind_what_surrounds_them(self):
        source = tidy_c.Source("x.c", """\
struct S { int (*call)(int); };
static const struct S table[] = {{0}, {0}};
__attribute__((noreturn)) static void die(int rc)
{
    for (;;) { }
}
SAP_PRINTF(1, 2) int
log_line(const char *format, ...)
{
    return '{' + "}"[0];
}
START_TEST(claim)
{
    die(1);
}
END_TEST
struct S *make(void) { return 0; }
int (*chosen)(int) = 0;
int proto(int (*f)(int), void *p);
""")
        self.assertEqual([(f.name, f.line, f.static) for f in source.functions],
                         [("die", 3, True), ("log_line", 8, False), ("claim", 12, True),
                          ("make", 17, False)])
        self.assertEqual([p.name for p in source.prototypes], ["proto"])
        self.assertEqual([v.name for v in source.variables], ["table", "chosen"])


def main():
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules[__name__])
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=1).run(suite)
    failed = len(result.failures) + len(result.errors)
    print(f"tidy-test: {result.testsRun - failed} passed, {failed} failed")
    return 1 if failed or result.testsRun == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
