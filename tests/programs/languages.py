# languages.py: interpreters, run-time systems and tools with work that allocates, each with an
# allocator or a garbage collector of its own.
#
# SPDX-License-Identifier: Apache-2.0
from outcome import observe
from stage import PATIENCE_S, as_user, environment

PROGRAMS = {
    "ruby": ["ruby", "-e", """
        h = {}; 200_000.times { |i| h["k#{i}"] = [i] * 3 }
        t = 4.times.map { Thread.new { (1..50_000).map { |x| x.to_s * 2 }.size } }
        puts t.sum(&:value), h.size, `echo child`
        Process.wait fork { puts "in fork"; exit 3 }
        exit $?.exitstatus"""],
    "php": ["php", "-r", """
        for ($i = 0; $i < 300000; $i++) $a["k$i"] = str_repeat("x", $i % 50);
        echo count($a), " ", strlen(serialize($a)), "\\n";"""],
    "guile": ["guile", "--no-auto-compile", "-c", """
        (use-modules (ice-9 threads))
        (display (apply + (par-map (lambda (n) (length (iota (* n 1000)))) (iota 40))))"""],
    "lua": ["lua5.4", "-e", """
        t = {} for i = 1, 500000 do t[i] = tostring(i) .. i end collectgarbage()
        co = coroutine.wrap(function() for i = 1, 3 do coroutine.yield(i) end end)
        print(#t, co(), co(), co())"""],
    "erlang": ["erl", "-noshell", "-eval", """
        P = [spawn_monitor(fun() -> lists:sum(lists:seq(1, N * 1000)) end) || N <- lists:seq(1, 200)],
        [receive {_, R, _, _, _} -> ok end || {_, R} <- P],
        io:format("~p~n", [length(P)]), halt(4)."""],
    "sbcl": ["sbcl", "--noinform", "--eval", """
        (let ((l (loop for i below 300000 collect (format nil "~a" i))))
          (sb-ext:gc :full t) (print (length l)) (terpri) (sb-ext:exit :code 5))"""],
    "perl": ["perl", "-e", "@a = map { {x => $_} } 1..100000; print @a + 0; exec 'echo', ' done'"],
    "python": ["/usr/bin/python3", "-c", """if True:
        import multiprocessing, sqlite3
        with multiprocessing.Pool(3) as pool:
            print(sum(pool.map(abs, range(1000))))
        db = sqlite3.connect(":memory:")
        db.execute("create table t (a, b)")
        db.executemany("insert into t values (?, ?)", ((i, str(i)) for i in range(100000)))
        print(db.execute("select count(*), max(length(b)) from t").fetchone())"""],
    "ghostscript": ["gs", "-q", "-dNOPAUSE", "-dBATCH", "-sDEVICE=ppmraw", "-r72",
                    "-sOutputFile=/dev/null", "-c", """
        /Helvetica findfont 20 scalefont setfont
        0 1 200 {dup 2 mul 50 moveto 20 string cvs show} for showpage"""],
    "compiler": ["sh", "-c", """
        printf '#include <iostream>\\n#include <regex>\\nint main() { std::cout <<
        std::regex_match("ab", std::regex("a.*")) << "\\\\n"; }\\n' > a.cc
        g++ -O2 -o a.out a.cc && ./a.out"""],
}


def play(record, path):
    seen = {}
    for name, command in PROGRAMS.items():
        done = observe(as_user(record(name, command)), PATIENCE_S, cwd=path, env=environment(path))
        seen[name] = done.code, done.out, done.err
    return seen
