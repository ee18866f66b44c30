#!/usr/bin/env python3
"""Tests of tools/amalgamate.py: small trees, put into two files, compiled and run."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

TOOL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "amalgamate.py")
CC = os.environ.get("CC", "gcc").split()

API = """#ifndef API_H
#define API_H
#if defined(__GNUC__)
#define SAP_API __attribute__((visibility("default")))
#else
#define SAP_API
#endif
SAP_API int sap_one(void);
SAP_API int sap_two(void);
#endif
"""
ONE = '#include "sapling/api.h"\nint sap_one(void)\n{\n    return 1;\n}\n'
TWO = '#include "sapling/api.h"\nint sap_two(void)\n{\n    return 2;\n}\n'
MAIN = '#include "sapling.h"\nint main(void)\n{\n    return sap_one() == 1 && sap_two() == 2 ? 0 : 1;\n}\n'


class AmalgamateTest(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp(prefix="sapling-amalgamate-")
        self.addCleanup(shutil.rmtree, self.root)
        self.write("VERSION", "1.2.3\n")
        self.write("LICENSE", "A license\n\nof two paragraphs.\n")
        self.write("include/sapling/api.h", API)
        self.write("src/a/one.c", ONE)
        self.write("src/b/two.c", TWO)

    def write(self, path, text):
        full = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as file:
            file.write(text)

    def read(self, path):
        with open(os.path.join(self.root, path), encoding="utf-8") as file:
            return file.read()

    def generate(self, *options, out="out"):
        command = [sys.executable, "-B", TOOL, "--root", self.root, "--out",
                   os.path.join(self.root, out), *options, "src/a", "src/b"]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def compile(self, *options, main=MAIN):
        """Generates, compiles without warnings, runs."""
        result = self.generate(*options)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.write("out/main.c", main)
        command = [*CC, "-std=c11", "-Wall", "-Wextra", "-Werror", "main.c", "sapling.c", "-o", "main"]
        out = os.path.join(self.root, "out")
        result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=out)
        self.assertEqual(result.returncode, 0, result.stderr + self.read("out/sapling.c"))
        self.assertEqual(subprocess.run(["./main"], check=False, cwd=out).returncode, 0)
        return self.read("out/sapling.h"), self.read("out/sapling.c")

    def expect_error(self, text):
        result = self.generate()
        self.assertEqual(result.returncode, 1)
        self.assertIn(text, result.stderr)
        self.assertFalse(os.path.exists(os.path.join(self.root, "out")))

    def test_smallest_tree_gives_two_files_that_work(self):
        header, source = self.compile()
        for text in (header, source):
            self.assertIn("1.2.3", text)
            self.assertIn(" * A license\n *\n * of two paragraphs.\n", text)

    def test_output_is_the_same_each_time_and_everywhere(self):
        self.generate()
        first = self.root
        self.setUp()
        self.generate()
        self.generate(out="again")
        for name in ("sapling.h", "sapling.c"):
            text = self.read(f"out/{name}")
            self.assertEqual(text, self.read(f"again/{name}"))
            self.assertNotIn(self.root, text)
            with open(os.path.join(first, "out", name), encoding="utf-8") as file:
                self.assertEqual(text, file.read())

    def test_static_names_of_two_files_are_kept_apart(self):
        helper = "static int value = {0};\nstatic int get(void)\n{{\n    return value;\n}}\n"
        for path, text, number in (("src/a/one.c", ONE, 1), ("src/b/two.c", TWO, 2)):
            text = text.replace("int sap_", helper.format(number) + "int sap_")
            self.write(path, text.replace(f"return {number}", "return get()"))
        _, source = self.compile()
        self.assertIn("one_get(void)", source)
        self.assertIn("return two_value;", source)

    def test_types_and_enumerators_of_two_files_are_kept_apart(self):
        types = ("typedef struct Pair {{\n    int first;\n}} Pair;\nenum {{ SIZE = {0}, OTHER }};\n"
                 "typedef int (*Fn)(struct Pair *);\n")
        for path, text, number in (("src/a/one.c", ONE, 1), ("src/b/two.c", TWO, 2)):
            text = text.replace("int sap_", types.format(number) + "int sap_")
            self.write(path, text.replace(f"return {number};", "Pair p = {SIZE};\n    Fn fn = 0;\n"
                                          "    return fn == 0 && OTHER > 0 ? p.first : 0;"))
        self.compile()

    def test_static_name_gives_way_to_a_header_its_file_does_not_know(self):
        self.write("src/b/area.h", "#ifndef AREA_H\n#define AREA_H\nint area(int side);\n"
                                   "#define edge(x) ((x) + 0)\n#endif\n")
        self.write("src/b/area.c", '#include "b/area.h"\nint area(int side)\n{\n'
                                   "    return side * edge(side);\n}\n")
        self.write("src/a/one.c", ONE.replace("int sap_", "static int area(void)\n{\n    return 0;\n}\n"
                                              "static int edge(int a, int b)\n{\n    return a + b;\n}\n"
                                              "int sap_").replace("return 1", "return edge(1, area())"))
        _, source = self.compile()
        self.assertIn("one_area(void)", source)
        self.assertIn("SAP_PRIVATE int area(int side);", source)

    def test_members_keep_their_names(self):
        self.write("src/b/box.h", "#ifndef BOX_H\n#define BOX_H\ntypedef struct Box {\n    int get;\n"
                                  "} Box;\n#endif\n")
        text = ('#include "b/box.h"\n{0}struct Local {{\n    Box *get;\n    int other, rest[2];\n}};\n'
                "static int get(const Box *box)\n{{\n    return box->get;\n}}\n{1}")
        for path, whole, number in (("src/a/one.c", ONE, 1), ("src/b/two.c", TWO, 2)):
            include, function = whole.split("\n", 1)
            function = function.replace(f"return {number};", f"Box box = {{.get = {number}}};\n"
                                        "    struct Local local = {.get = &box};\n"
                                        "    return get(local.get);")
            self.write(path, text.format(include + "\n", function))
        _, source = self.compile()
        self.assertIn("Box *get;", source)

    def test_type_that_a_header_leaves_open_keeps_its_name(self):
        self.write("src/b/open.h", "#ifndef OPEN_H\n#define OPEN_H\ntypedef struct Open Open;\n"
                                   "int open_value(const Open *o);\nOpen *open_make(void);\n#endif\n")
        self.write("src/b/open.c", '#include "b/open.h"\nstruct Open {\n    int v;\n};\n'
                                   "int open_value(const Open *o)\n{\n    return o->v;\n}\n"
                                   "Open *open_make(void)\n{\n    static Open o = {2};\n    return &o;\n}\n")
        self.write("src/b/two.c", TWO.replace("return 2", "return open_value(open_make())")
                   .replace("#include", '#include "b/open.h"\nstruct Open;\n#include', 1))
        _, source = self.compile()
        self.assertIn("struct Open {", source)

    def test_new_name_that_is_taken_is_avoided(self):
        get = "static int get(void)\n{{\n    int one_get = {0};\n    return one_get;\n}}\n"
        for path, text, number in (("src/a/one.c", ONE, 1), ("src/b/two.c", TWO, 2)):
            text = text.replace(f"return {number}", "return get()")
            self.write(path, text.replace("int sap_", get.format(number) + "int sap_"))
        _, source = self.compile()
        self.assertIn("static int one_get_(void)", source)

    def test_macros_end_with_their_file(self):
        for path, text, number in (("src/a/one.c", ONE, 1), ("src/b/two.c", TWO, 2)):
            text = text.replace(f"return {number}", "return NUMBER")
            self.write(path, text.replace("int sap_", f"#define NUMBER {number}\nint sap_"))
        self.compile()

    def test_only_the_public_names_are_exported(self):
        self.write("src/b/inner.h", "#ifndef INNER_H\n#define INNER_H\n"
                                    "/* It { doubles; */\nint\ninner(int x);\nint unused(void);\n"
                                    "extern int inner_state;\n"
                                    "static inline int inner_inline(void)\n{\n    return 0;\n}\n#endif\n")
        self.write("src/b/inner.c", '#include "b/inner.h"\nint inner_state = 2;\n'
                                    "int inner(int x)\n{\n    return 2 * x;\n}\n"
                                    "int unused(void)\n{\n    return 0;\n}\n")
        self.write("src/b/two.c", TWO.replace("return 2", "return inner(inner_state) / 2")
                   .replace("#include", '#include "b/inner.h"\n#include', 1))
        _, source = self.compile()
        # clang warns of an unused one outside a header.
        self.assertIn("SAP_PRIVATE inline int inner_inline", source)
        out = os.path.join(self.root, "out")
        subprocess.run([*CC, "-c", "sapling.c"], check=True, cwd=out)
        names = subprocess.run(["nm", "-g", "--defined-only", "--format=posix", "sapling.o"],
                               check=True, cwd=out, capture_output=True, text=True).stdout
        self.assertEqual([line.split()[0] for line in names.splitlines()], ["sap_one", "sap_two"])

    def test_system_headers_come_first_except_under_a_condition(self):
        self.write("src/a/one.c", "#include <string.h>\n#if 1\n#include <limits.h>\n#endif\n" + ONE)
        self.write("src/b/two.c", "#include <string.h> /* memcpy */\n" + TWO)
        _, source = self.compile()
        self.assertEqual(source.count("#include <string.h>"), 1)
        self.assertLess(source.index("<string.h>"), source.index('"sapling.h"'))
        self.assertIn("#if 1\n#include <limits.h>\n#endif\n", source)

    def test_vendored_header_is_copied_to_its_place(self):
        self.write("elsewhere/vendored.h", "/* its license */\n#ifdef WANT\nstatic int v(void)\n{\n"
                                           "    return 1;\n}\n#endif\n")
        self.write("src/a/one.c", "#define WANT\n#include <vendored.h>\n" + ONE.replace("return 1", "return v()"))
        _, source = self.compile("--vendor", "vendored.h=" + os.path.join(self.root, "elsewhere/vendored.h"))
        self.assertIn("/* its license */", source)
        self.assertNotIn("#include <vendored.h>", source)

    def test_public_header_that_no_source_includes_is_left_out(self):
        self.write("include/sapling/later.h", "SAP_API int sap_later(void);\n")
        header, _ = self.compile()
        self.assertNotIn("sap_later", header)

    def test_public_headers_come_after_those_they_include(self):
        self.write("include/sapling/base.h", "#ifndef BASE_H\n#define BASE_H\ntypedef int Number;\n#endif\n")
        self.write("include/sapling/api.h", API.replace("SAP_API int sap_one",
                                                        '#include "sapling/base.h"\nSAP_API Number sap_one'))
        header, source = self.compile()
        self.assertLess(header.index("typedef int Number"), header.index("Number sap_one"))
        self.assertNotIn("typedef int Number", source)
        self.assertIsNone(re.search(r'#include "(?!sapling\.h")', header + source))

    def test_headers_that_include_each_other_come_once(self):
        for name, other in (("x", "y"), ("y", "x")):
            self.write(f"src/b/{name}.h", f'#ifndef {name}_H\n#define {name}_H\n#include "b/{other}.h"\n'
                                          f"enum {{ {name}_value = 2 }};\n#endif\n")
        self.write("src/b/two.c", '#include "b/x.h"\n' + TWO.replace("return 2", "return x_value * y_value / 2"))
        _, source = self.compile()
        self.assertEqual(source.count("enum {"), 2)

    def test_header_included_at_the_end_on_condition_stays_so(self):
        self.write("include/sapling/short.h", '#ifndef SHORT_H\n#define SHORT_H\n#include "sapling/api.h"\n'
                                              "#define one sap_one\n#endif\n")
        self.write("include/sapling/api.h", API[:-len("#endif\n")] + '\n#ifndef NO_SHORT\n'
                                            '#include "sapling/short.h"\n#endif\n#endif\n')
        header, _ = self.compile(main=MAIN.replace("sap_one", "one"))
        self.assertLess(header.index("sap_two(void);"), header.index("#define one sap_one"))
        self.compile(main="#define NO_SHORT\n" + MAIN.replace("int main(void)\n{", "int main(void)\n{\n"
                                                              "    int one = 0;\n    (void)one;"))

    def test_how_names_are_exported_can_be_replaced(self):
        main = '#define SAP_API static\n#include "sapling.c"\n' + MAIN.split("\n", 1)[1]
        self.generate()
        self.write("out/main.c", main)
        out = os.path.join(self.root, "out")
        subprocess.run([*CC, "-std=c11", "-Wall", "-Wextra", "-Werror", "main.c", "-o", "main"],
                       check=True, cwd=out)
        self.assertEqual(subprocess.run(["./main"], check=False, cwd=out).returncode, 0)

    def test_public_function_that_is_not_defined_is_an_error(self):
        self.write("include/sapling/api.h", API.replace("SAP_API int sap_two",
                                                        "SAP_API int sap_gone(void);\nSAP_API int sap_two"))
        self.expect_error("sap_gone")

    def test_missing_header_is_an_error(self):
        self.write("src/a/one.c", '#include "a/gone.h"\n' + ONE)
        self.expect_error("a/gone.h not found")

    def test_public_header_included_under_alternatives_is_an_error(self):
        self.write("include/sapling/x.h", "")
        self.write("include/sapling/api.h", API.replace("SAP_API int sap_one", "#ifdef Y\n#else\n"
                                                        '#include "sapling/x.h"\n#endif\nSAP_API int sap_one'))
        self.expect_error("alternatives")

    def test_directory_without_sources_is_an_error(self):
        os.remove(os.path.join(self.root, "src/a/one.c"))
        os.remove(os.path.join(self.root, "src/b/two.c"))
        self.expect_error("no sources")


def main():
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules[__name__])
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=1).run(suite)
    failed = len(result.failures) + len(result.errors)
    print(f"amalgamate-test: {result.testsRun - failed} passed, {failed} failed")
    return 1 if failed or result.testsRun == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
