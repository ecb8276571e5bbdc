"""One name means one thing: no two structs or enums share a tag that begins with ml_, no two
libraries define a function of the same name, no identifier is a keyword of C++, and no variable of
a whole file has a name that could be any file's.

    test_identifiers.py SOURCE_DIR

SPDX-License-Identifier: Apache-2.0
"""
import collections
import os
import re
import sys

SOURCE = sys.argv[1]
FOLDERS = ("src", "include", "python/native")

CXX_KEYWORDS = set("""
    and and_eq bitand bitor catch class compl concept const_cast consteval constexpr constinit
    co_await co_return co_yield decltype delete dynamic_cast explicit export friend mutable
    namespace new noexcept not not_eq nullptr operator or or_eq private protected public
    reinterpret_cast requires static_cast template this throw try typeid typename using virtual
    xor xor_eq""".split())
ANY_FILES = ("lock", "here", "tables")

NOT_CODE = re.compile(r"""/\*.*?\*/ | //[^\n]* | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'
                          | ^[ \t]*\#[ \t]*include[^\n]*""", re.S | re.M | re.X)
TAG = re.compile(r"^(?:typedef )?(?:struct|enum|union) (ml_\w+) \{", re.M)
FUNCTION = re.compile(r"^(?!static|typedef|extern)[\w \t*()]*?\b(ml_\w+)\([^;{]*\)\n\{", re.M)
FILE_VARIABLE = re.compile(r"^(?:static [^;={(]*?\b|\} )(%s)(?: =|;|\[)" % "|".join(ANY_FILES), re.M)


def code_files():
    for folder in FOLDERS:
        for at, _, names in os.walk(os.path.join(SOURCE, folder)):
            for name in sorted(names):
                if name.endswith((".c", ".h")):
                    with open(os.path.join(at, name), encoding="utf-8") as f:
                        yield os.path.relpath(os.path.join(at, name), SOURCE), f.read()


def faults_of(files):
    """What is wrong with these (path, text), as sentences."""
    tags, functions = collections.defaultdict(set), collections.defaultdict(set)
    for path, text in files:
        code = NOT_CODE.sub(" ", text)
        for keyword in sorted(set(re.findall(r"[A-Za-z_]\w*", code)) & CXX_KEYWORDS):
            yield f"{path}: the identifier '{keyword}' is a keyword of C++"
        for name in sorted(set(FILE_VARIABLE.findall(code))):
            yield f"{path}: a variable of the whole file is called '{name}'; say what it is for"
        for tag in TAG.findall(code):
            tags[tag].add(path)
        if path.endswith(".c"):
            for function in FUNCTION.findall(code):
                functions[function].add(path)
    for kind, found in (("type", tags), ("function", functions)):
        for name, paths in sorted(found.items()):
            if len(paths) > 1:
                yield f"the {kind} '{name}' is defined in {' and '.join(sorted(paths))}"


def test_it_notices():
    """The check itself: each sort of fault is found in a made-up file."""
    wrong = [("a.c", "struct ml_x {\n};\nvoid ml_f(void)\n{\n}\nstatic struct ml_lock lock;\n"),
             ("b.c", "struct ml_x {\n};\nint *ml_f(int class)\n{\n}\nstatic struct {\n} here;\n"),
             ("c.c", "/* a class of its own: new, delete */\nconst char *s = \"delete\";\n")]
    faults = list(faults_of(wrong))
    wanted = ["a.c: a variable", "b.c: the identifier 'class'", "b.c: a variable", "'ml_x'", "'ml_f'"]
    return [f"not noticed: {w}" for w in wanted if not any(w in f for f in faults)] + \
           [f"wrongly noticed: {f}" for f in faults if f.startswith("c.c")]


def main():
    files = list(code_files())
    faults = test_it_notices() + list(faults_of(files))
    print(f"{len(files)} files of C read, {len(faults)} names to change")
    print("\n".join(faults))
    return 1 if faults else 0


sys.exit(main())
