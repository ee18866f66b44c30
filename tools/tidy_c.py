"""A shallow model of a C source file, enough for the checks in tidy.py.

Nothing is preprocessed and no type is understood. The file is split into comments and code;
in the code, function definitions and prototypes are recognised by their shape at file level.
All texts derived from a file have its length and its line breaks, so an offset found in one
of them is an offset in the others.
"""
import bisect
import re

IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.M)
CONDITIONAL = re.compile(r"#\s*(if|ifdef|ifndef|elif|else|endif)\b")
# A word before a parenthesis that does not name the function.
NOT_A_NAME = re.compile(r"^(__attribute__|__declspec|_Alignas|_Static_assert|static_assert|__asm__"
                        r"|[A-Z][A-Z0-9_]*)$")


class Function:
    """A definition: `line` is that of its name, the body excludes the outer braces."""

    def __init__(self, name, name_at, static, inline, start, body_start):
        self.name = name
        self.name_at = name_at
        self.static = static
        self.inline = inline
        self.start = start
        self.body_start = body_start
        self.body_end = body_start
        self.line = 0
        self.last_line = 0


class Declared:
    """A prototype or a file-level variable."""

    def __init__(self, name, at, static, head):
        self.name = name
        self.at = at
        self.static = static
        self.head = head


def blank(text):
    return re.sub(r"[^\n]", " ", text)


def split_comments(text):
    """Returns (text without comments, the same without literals' contents, [(offset, comment)])."""
    token = re.compile(r'/\*.*?(?:\*/|\Z)|//(?:\\\n|[^\n])*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'',
                       re.S)
    plain, bare, comments, at = [], [], [], 0
    for match in token.finditer(text):
        before = text[at:match.start()]
        piece = match.group()
        at = match.end()
        plain.append(before)
        bare.append(before)
        if piece.startswith("/"):
            comments.append((match.start(), piece))
            plain.append(blank(piece))
            bare.append(blank(piece))
        else:
            plain.append(piece)
            bare.append(piece[0] + blank(piece[1:-1]) + piece[-1])
    plain.append(text[at:])
    bare.append(text[at:])
    return "".join(plain), "".join(bare), comments


class Source:
    def __init__(self, path, text):
        self.path = path
        self.text = text
        self.plain, self.bare, self.comments = split_comments(text)
        self._starts = [0] + [m.end() for m in re.finditer("\n", text)]
        self.line_count = len(text.splitlines())
        self.functions = []
        self.prototypes = []
        self.variables = []
        self._code = self._without_directives()
        self._scan()
        for function in self.functions:
            function.line = self.line(function.name_at)
            function.last_line = self.line(function.body_end)
        self._positions = None

    def line(self, offset):
        return bisect.bisect_right(self._starts, offset)

    def includes(self):
        """[(line, target, quoted)]"""
        return [(self.line(m.start(0) + len(m.group(0)) - len(m.group(0).lstrip())),
                 m.group(1) or m.group(2), m.group(1) is not None)
                for m in INCLUDE.finditer(self.plain)]

    def positions(self):
        """Where each identifier occurs in the code, directives included."""
        if self._positions is None:
            self._positions = {}
            for match in IDENTIFIER.finditer(self.bare):
                self._positions.setdefault(match.group(), []).append(match.start())
        return self._positions

    def code(self):
        """The code without comments, literals' contents and directives."""
        return self._code

    def body(self, function):
        return self.plain[function.body_start:function.body_end]

    def _without_directives(self):
        self._directives = []

        def replace(match):
            conditional = CONDITIONAL.match(match.group().strip())
            if conditional:
                self._directives.append((match.start(), conditional.group(1)))
            return blank(match.group())

        return re.sub(r"^[ \t]*#(?:\\\n|[^\n])*", replace, self.bare, flags=re.M)

    def _scan(self):
        """Walks the code at brace level. Alternatives of a conditional start from the same level,
        so that braces opened in both branches count once."""
        code = self._code
        stack, saved = [], []
        head = 0
        directives = iter(self._directives + [(len(code) + 1, "")])
        next_at, next_kind = next(directives)
        for match in re.finditer(r"[{};]", code):
            at, char = match.start(), match.group()
            while next_at < at:
                if next_kind in ("if", "ifdef", "ifndef"):
                    saved.append(list(stack))
                elif next_kind in ("else", "elif") and saved:
                    stack = list(saved[-1])
                elif next_kind == "endif" and saved:
                    saved.pop()
                next_at, next_kind = next(directives)
            level = [kind for kind in stack if kind != "linkage"]
            if char == "{":
                if level:
                    stack.append("block")
                elif re.match(r'\s*extern\s*"\s*"\s*$', code[head:at]):
                    stack.append("linkage")
                    head = at + 1
                else:
                    function = self._function(head, at)
                    stack.append(function or "block")
            elif char == "}":
                closed = stack.pop() if stack else None
                if isinstance(closed, Function):
                    closed.body_end = at
                    self.functions.append(closed)
                    head = at + 1
                elif closed == "linkage":
                    head = at + 1
            elif not level:
                self._declaration(head, at)
                head = at + 1

    def _named_call(self, head, end):
        """The first `name (` of a file-level head that can be a function's name."""
        depth = 0
        for match in re.finditer(r"[()]|[A-Za-z_]\w*", self._code[head:end]):
            word = match.group()
            if word == "(":
                depth += 1
            elif word == ")":
                depth -= 1
            elif depth == 0:
                after = self._code[head + match.end():end].lstrip()
                pointer = re.match(r"\(\s*\*", after)
                if after.startswith("(") and not pointer and not NOT_A_NAME.match(word):
                    return word, head + match.start()
        return None

    def _function(self, head, brace):
        text = self._code[head:brace]
        test = re.search(r"(?:^|\s)START_TEST\s*\(\s*(\w+)\s*\)\s*$", text)
        if test:
            return Function(test.group(1), head + test.start(1), True, False,
                            head + len(text) - len(text.lstrip()), brace + 1)
        if "=" in text or ")" not in text:
            return None
        named = self._named_call(head, brace)
        if not named:
            return None
        words = set(IDENTIFIER.findall(text[:named[1] - head]))
        return Function(named[0], named[1], "static" in words,
                        bool(words & {"inline", "__inline", "__inline__"}),
                        head + len(text) - len(text.lstrip()), brace + 1)

    def _declaration(self, head, end):
        text = self._code[head:end]
        words = IDENTIFIER.findall(text)
        if not words or words[0] in ("typedef", "_Static_assert", "END_TEST"):
            return
        before = text.split("=")[0]
        before = re.sub(r"\{.*", "", before, flags=re.S)
        named = self._named_call(head, head + len(before))
        static = "static" in words
        if named:
            self.prototypes.append(Declared(named[0], named[1], static, text))
            return
        variable = re.search(r"\(\s*\*\s*(?:const\s+)?([A-Za-z_]\w*)[^()]*\)\s*\(", before) or \
            re.search(r"([A-Za-z_]\w*)\s*(?:\[[^\]]*\]\s*)*$", before)
        if variable and len(IDENTIFIER.findall(before)) > 1 and \
                not re.match(r"\s*(struct|union|enum)\s+\w+\s*$", before):
            self.variables.append(Declared(variable.group(1), head + variable.start(1), static, text))
