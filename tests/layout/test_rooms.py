#!/usr/bin/env python3
# test_rooms.py ROOT TARGETS: which folder of src/ uses which, by their #includes.
#
# Prints every folder with those that it uses, from the bottom up, and fails
#  - when folders use each other in a cycle, or
#  - when one includes a header of a folder that its library does not depend on.
#
# The second is read from TARGETS, Meson's list of what is built and with which include paths: the
# meson.build files are the only place where dependencies are declared. Such an include does not
# compile either, unless the file is not compiled or several folders share a library.
#
# SPDX-License-Identifier: Apache-2.0
import json
import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
PUBLIC = "memledger/"  # the folder of the public header, the only one that is named in an include


# ---- Reading ----------------------------------------------------------------------------


def read_includes(src):
    """{file: the names it includes}, files as "analyze/live/replay.h"."""
    return {path.relative_to(src).as_posix(): INCLUDE.findall(path.read_text())
            for path in sorted(src.rglob("*.[ch]"))}


def room_of(file):
    return file.rpartition("/")[0]


def declared_uses(targets, src):
    """{folder: the folders on the include path of what is compiled from it}, and what that is."""
    may_use, compiled = {}, set()
    for target in targets:
        if not pathlib.Path(target["defined_in"]).is_relative_to(src):
            continue  # tests compile some sources again
        for group in target["target_sources"]:
            paths = (pathlib.Path(option[2:]) for option in group.get("parameters", [])
                     if option.startswith("-I"))
            seen = {path.relative_to(src).as_posix() for path in paths if path.is_relative_to(src)}
            for source in group["sources"]:
                source = pathlib.Path(source)
                if source.is_relative_to(src):
                    file = source.relative_to(src).as_posix()
                    may_use.setdefault(room_of(file), set()).update(seen)
                    compiled.add(file)
    return may_use, compiled


# ---- The graph --------------------------------------------------------------------------


def graph_of(includes):
    """{folder: {folder it uses: "file includes header", one of them}}, and what is not plain."""
    home = {file.rpartition("/")[2]: room_of(file) for file in includes if file.endswith(".h")}
    graph = {room_of(file): {} for file in includes}
    problems = []
    for file, names in includes.items():
        for name in names:
            if "/" in name and not name.startswith(PUBLIC):
                problems.append(f'src/{file}: "{name}": headers are included by their name alone')
            used = home.get(name.rpartition("/")[2])
            if used is not None and used != room_of(file):
                graph[room_of(file)].setdefault(used, f"src/{file} includes {name}")
    return graph, problems


def layers_of(graph):
    """Folders by height: each uses only those before its layer. What is in or above a cycle has
    no height and is left out."""
    layers, left = [], dict(graph)
    while left:
        layer = [room for room, uses in left.items() if not left.keys() & uses.keys()]
        if not layer:
            break
        layers.append(sorted(layer))
        left = {room: uses for room, uses in left.items() if room not in layer}
    return layers, left


def cycle_in(left):
    """A cycle among folders that each use another of them."""
    path = [min(left)]
    while path[-1] not in path[:-1]:
        path.append(min(left.keys() & left[path[-1]].keys()))
    return path[path.index(path[-1]):]


def problems_of(includes, may_use, compiled):
    graph, problems = graph_of(includes)
    # An option of Meson's may have switched off a room, or some of its files.
    built, _ = graph_of({file: names for file, names in includes.items()
                         if file.endswith(".h") or file in compiled})
    for room, uses in built.items():
        for used, reason in uses.items():
            if {room, used} <= may_use.keys() and used not in may_use[room]:
                problems.append(f"{reason}: {room} does not depend on {used} in meson.build")
    left = layers_of(graph)[1]
    if left:
        cycle = cycle_in(left)
        problems.append("a cycle: " + " -> ".join(cycle))
        problems += [f"    {graph[a][b]}" for a, b in zip(cycle, cycle[1:])]
    return problems


def show(includes):
    graph, _ = graph_of(includes)
    for height, layer in enumerate(layers_of(graph)[0]):
        for room in layer:
            count = sum(room_of(file) == room for file in includes)
            print(f"{height:2}  {room:20} {count:4} files  " + ", ".join(sorted(graph[room])))


# ---- Whether this test notices ----------------------------------------------------------


def must_find(words, includes, declared, file, name):
    """Adds an include to a copy of what was read; what is said of it must contain the words."""
    wrong = dict(includes)
    wrong[file] = includes.get(file, []) + [name]
    found = "\n".join(problems_of(wrong, *declared))
    if words not in found:
        sys.exit(f'test_rooms.py does not notice that {file} includes "{name}":\n{found}')


def test_itself(includes, declared):
    must_find("live does not depend on analyze/ledger", includes, declared,
              "analyze/live/replay.h", "ledger.h")
    must_find("base does not depend on format", includes, declared, "base/vec.h", "event.h")
    must_find("base does not depend on format", includes, declared, "base/text.c", "event.h")
    must_find("name alone", includes, declared, "cli/main.c", "../report/style.h")
    # A cycle is one, whatever is declared.
    may_use, compiled = declared
    anything = dict.fromkeys(may_use, {room_of(file) for file in includes}), compiled
    must_find("a cycle: ", includes, anything, "analyze/live/replay.h", "ledger.h")
    must_find("a cycle: base -> format -> base", includes, anything, "base/vec.h", "event.h")


def main(root, targets):
    src = pathlib.Path(root).resolve() / "src"
    includes = read_includes(src)
    declared = declared_uses(json.loads(pathlib.Path(targets).read_text()), src)
    show(includes)
    problems = problems_of(includes, *declared)
    if problems:
        sys.exit("\n".join(problems))
    test_itself(includes, declared)


main(*sys.argv[1:])
