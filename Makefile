# Two commands do everything: `make up` and `make test`. `make help` lists the rest.

PYTHON ?= python3
WORKERS ?= 3
UV_VERSION := 0.13.7
BIN := .venv/bin
UV := VIRTUAL_ENV=.venv $(BIN)/uv -q
COMPILE := pip compile --universal --generate-hashes --no-emit-index-url --no-annotate --no-header

# Without compiled modules each command reads and compiles six hundred files: two seconds instead of a half.
unexport PYTHONDONTWRITEBYTECODE

# uv takes seconds where pip takes a minute; pip knows mirrors that only its own settings name.
install_locked = $(UV) pip install --system-certs --require-hashes -r $(1) || $(BIN)/pip install -q --disable-pip-version-check --require-hashes -r $(1)
install_kohort = $(UV) pip install --system-certs --no-deps -e . || $(BIN)/pip install -q --disable-pip-version-check --no-deps -e .

.PHONY: up test search install lint check bench bench-real real test-real lock help screenshots sim mutants coverage

up: .venv/installed ## install, start the embedded cluster with a first workload, and stay until Ctrl-C
	@$(BIN)/kohort up --sample $(ARGS)

test: .venv/installed-dev ## install what tests need and run them (ARGS="-k name" chooses some)
	@$(BIN)/pytest -n $(WORKERS) $(ARGS)

search: .venv/installed-dev ## look for what tests missed: new examples of properties, fresh seeds (SEEDS=500), odd requests (REQUESTS=1000000)
	@$(BIN)/pytest -n $(WORKERS) -m 'hypothesis and not real' --hypothesis-profile=search $(ARGS)
	@$(BIN)/kohort sim run --apis lws,ms,rbg,isvc --seeds $(or $(SEEDS),250)
	@$(BIN)/python -m tools.fuzz --requests $(or $(REQUESTS),20000)

install: .venv/installed ## only make .venv, with .venv/bin/kohort
	@echo '$(BIN)/kohort is installed'

lint: .venv/installed-dev ## format, lint, types, contracts
	@$(BIN)/ruff format --check -q . && $(BIN)/ruff check -q .
	@$(BIN)/mypy && $(BIN)/python -m tools.check_types
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/lint-imports

check: lint ## format, lint, types, contracts, then the tests
	@$(MAKE) --no-print-directory test

screenshots: .venv/installed-dev ## make the pictures of the dashboard in docs/images anew (needs Chromium)
	@mkdir -p docs/images
	@KOHORT_SCREENSHOTS=docs/images $(BIN)/pytest tests/dashboard/test_page_screenshots.py $(ARGS)

bench: .venv/installed-dev ## measure, and print a table and JSON (QUICK=1: smaller loads)
	@$(BIN)/python -m bench $(if $(QUICK),--quick) $(ARGS)

bench-real: real ## measure on a real control plane (ARGS="--only a,d --runs 1" for less)
	@$(BIN)/python -m bench.real $(ARGS)

real: .venv/installed-dev ## build a real control plane into the cache, once (ten minutes; needs Go)
	@$(BIN)/python -m tools.controlplane build

test-real: real ## run the tests that need a real control plane, on one of their own
	@$(BIN)/pytest -m real tests/conformance tests/real $(ARGS)

sim: .venv/installed ## simulate the operator under faults (SEEDS=10000, or SEED=4711 for one)
	@$(BIN)/kohort sim run $(if $(SEED),--seed $(SEED),--apis lws,ms,rbg,isvc --seeds $(or $(SEEDS),500)) $(ARGS)

mutants: .venv/installed-dev ## plant faults one by one, and count those that the suites notice
	@$(BIN)/python -m tools.mutants $(ARGS)

COVERED := kohort.apis.inferenceservice

coverage: .venv/installed-dev ## branches of a package that its tests reach (COVERED=kohort.planning ARGS=tests/planning)
	@$(BIN)/coverage run --branch --source=$(COVERED) -m pytest -q -p no:cacheprovider $(or $(ARGS),tests/apis/inferenceservice tests/operator/inferenceservice)
	@$(BIN)/coverage report --skip-covered --sort=cover

lock: .venv/uv ## choose the versions of all dependencies anew
	@$(UV) $(COMPILE) --upgrade pyproject.toml -o requirements.lock
	@$(UV) $(COMPILE) --upgrade -c requirements.lock --group dev pyproject.toml -o requirements-dev.lock

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.venv/uv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Kohort needs Python 3.11 or newer; name one with PYTHON=...")'
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/pip install -q --disable-pip-version-check uv==$(UV_VERSION)
	@touch $@

.venv/installed: requirements.lock pyproject.toml | .venv/uv
	@$(call install_locked,requirements.lock)
	@$(install_kohort)
	@touch $@

.venv/installed-dev: requirements-dev.lock .venv/installed
	@$(call install_locked,requirements-dev.lock)
	@touch $@
