# The commands of the project. Meson does the building, in build/; each target first installs
# the system packages that it needs (scripts/setup.sh).

PREFIX ?= /usr/local
DESTDIR ?=
export CC DESTDIR
built := built build/src/cli/memledger; next: sudo make install, or try it: build/src/cli/memledger --help

.PHONY: build demo test test-nightly check test-gpu test-programs test-python test-versions bench install dist lint format clean help

build:
	@scripts/setup.sh build
	@scripts/build.sh
	@$(if $(filter-out build,$(MAKECMDGOALS)),,echo '$(built)')

demo:
	@scripts/setup.sh demo
	@scripts/build.sh demo
	@scripts/demo.sh

test:
	@scripts/setup.sh test
	@scripts/test.sh $(TEST_ARGS)

test-nightly:
	@scripts/setup.sh test
	@scripts/test.sh --long=all

check:
	$(if $(TEST_ARGS),$(error make check chooses the tests itself; for others: make test TEST_ARGS=NAME))
	@scripts/setup.sh test
	@scripts/test.sh --changed

test-gpu:
	@scripts/setup.sh build
	@scripts/build.sh
	@scripts/test-gpu.sh $(CHECKS)

test-programs:
	@scripts/setup.sh test-programs
	@scripts/build.sh
	@scripts/test-programs.sh $(PROGRAMS)

test-python:
	@scripts/setup.sh build
	@scripts/build.sh
	@scripts/python-suite.sh $(MODULES)

test-versions:
	@scripts/setup.sh test
	@scripts/build.sh
	@scripts/test-versions.sh $(VERSIONS)

bench:
	@scripts/setup.sh bench
	@scripts/build.sh
	@scripts/bench.sh $(BENCH_ARGS)

install: build
	@scripts/install.sh "$(PREFIX)"

dist:
	@scripts/setup.sh dist
	@scripts/dist.sh

lint:
	@scripts/setup.sh lint
	@scripts/build.sh
	@scripts/lint.sh

format:
	@scripts/setup.sh lint
	@git ls-files -co --exclude-standard '*.c' '*.h' | xargs clang-format -i

clean:
	rm -rf build dist

help:
	@echo 'make                  build memledger into build/'
	@echo 'make demo             record VGG-19 with each algorithm and compare them, on a GPU if there is one (BATCH=, SIZE=)'
	@echo 'make test             run the tests; skip long ones whose files are unchanged'
	@echo 'make test-nightly     run every test'
	@echo 'make check            build, and run the tests nearest to your change for about 45 seconds'
	@echo 'make test-gpu         check the books on a real GPU (CHECKS=: some of them)'
	@echo 'make test-programs    compare real programs with and without memledger (PROGRAMS=: some)'
	@echo 'make test-python      run Python'"'"'s own tests under memledger (MODULES=: some of them)'
	@echo 'make test-versions    test other versions of Python and PyTorch (VERSIONS=: some)'
	@echo 'make bench            measure memledger beside memray and heaptrack'
	@echo 'make install PREFIX=  install (default /usr/local; DESTDIR is honoured)'
	@echo 'make dist             one tarball in dist/ for any glibc >= 2.28'
	@echo 'make lint             check names, formatting, shell scripts and C code'
	@echo 'make format           apply the formatting'
	@echo 'make clean            remove build/ and dist/'
