# Needs Python 3.11 or newer and make; everything else comes from the lock files.

# The system's Python if it is new enough, for distributions build theirs with every optimization (a quarter faster than
# one that pyenv builds); else the newest found. Say PYTHON=... for another one.
PYTHON ?= $(shell for python in /usr/bin/python3 python3.14 python3.13 python3.12 python3.11 python3; do \
	$$python -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)
BIN := .venv/bin
# Errors are printed, warnings about the package index are not. A registry that is slow once is asked again.
# The lock names every package; pip's own search for dependencies takes a newer one than the lock where extras are asked for.
INSTALL := $(BIN)/python -m pip install -qq --disable-pip-version-check --timeout 60 --retries 5 \
	--no-deps --require-hashes --requirement

LOCK := $(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --quiet pyproject.toml

# What a production start is told, for the deploy checks alone; none of it is a secret of anybody.
PRODUCTION := DATABASE_URL=postgres://id@127.0.0.1/id REDIS_URL=redis://127.0.0.1/0 \
	BASE_URL=https://id.example.org EDGE_CLIENT_ADDRESS_HEADER=X-Client-Address \
	SECRET_KEY=jW8vN2qLx5Rz0TfB7mYc4HsKd9GpAe3UoXi6ZtQn1VwEyMbJkChSrDlFgPuOaI_checks-only \
	SIGNING_KEY_ENCRYPTION_KEYS=Vb3Xn8Qe1Zr6Kt0Ld5Wy9Hm2Jc7Gs4Pf_checks-only
EMBEDDED := VAR_DIR=.venv/var SECRET_KEY=checks-only SIGNING_KEY_ENCRYPTION_KEYS=checks-only

.DEFAULT_GOAL := help
.PHONY: help run run-production test test-live test-production screenshots mutants bench bench-quick check lock format hook openapi clients clean

help:  ## list what there is
	@sed -n 's/^\([a-z-]*\):[^#]*## /  make \1\t/p' $(MAKEFILE_LIST)

run: .venv/.runtime  ## start the whole service on http://127.0.0.1:8000
	@exec $(BIN)/python manage.py run_embedded

test: .venv/.development  ## run the tests of the code; one app: make test ARGS=lookup; what a change touches: make test ARGS=changed
	@exec $(BIN)/python -m tests.support $(ARGS)

test-live: .venv/.development  ## run the tests that start servers, browsers and other programs
	@$(BIN)/python -m tests.support.node
	@$(BIN)/python -m tests.support.clients
	@exec $(BIN)/python -m tests.support --live $(ARGS)

test-production: .venv/.development  ## run journeys, rolling restarts and outages on a whole large installation
	@$(BIN)/python -m tests.support.node
	@exec $(BIN)/python -m tests.production --test $(ARGS)

run-production: .venv/.development  ## start a whole large installation on loopback: two hosts behind nginx, PgBouncer, standby, Sentinels, S3
	@exec $(BIN)/python -m tests.production

screenshots: .venv/.development  ## take the pictures of docs/screenshots and of the landing page again
	@exec $(BIN)/python -m tests.browser.screenshots $(ARGS)

mutants: .venv/.development  ## put listed faults into the code and see that tests notice: make mutants ARGS=lookup
	@exec $(BIN)/python -m tests.mutants $(ARGS)

bench: .venv/.development  ## measure the service beside other implementations: make bench ARGS="--case lookup"
	@exec $(BIN)/python -m benchmarks $(ARGS)

bench-quick: .venv/.development  ## the same in five minutes, with few members
	@exec $(BIN)/python -m benchmarks --quick $(ARGS)

check: .venv/.development  ## format, lint, types, architecture, templates, migrations, deploy checks
	@$(MAKE) --keep-going --no-print-directory $(addprefix check-,$(CHECKS))

CHECKS := format lint size-limits architecture types templates migrations upgrade settings openapi deployment mutants
.PHONY: $(addprefix check-,$(CHECKS))
check-format: ; $(BIN)/ruff format --check --output-format concise .
check-lint: ; $(BIN)/ruff check --quiet .
check-size-limits: ; $(BIN)/python -m tests.support.size_limits
check-architecture: ; $(BIN)/lint-imports --no-logo
check-types: ; $(EMBEDDED) $(BIN)/mypy
check-templates: ; $(BIN)/djlint --lint --quiet templates
check-migrations: ; $(EMBEDDED) $(BIN)/python manage.py makemigrations --check --dry-run
check-upgrade: ; $(EMBEDDED) DJANGO_SETTINGS_MODULE=config.settings $(BIN)/python -m tests.support.migration_safety
check-settings: ; $(EMBEDDED) $(BIN)/python manage.py check --fail-level WARNING
check-openapi: ; @$(EMBEDDED) $(BIN)/python manage.py spectacular --validate --fail-on-warn --file .venv/openapi.yaml
	@cmp docs/openapi.yaml .venv/openapi.yaml || { echo "docs/openapi.yaml is out of date: make openapi" >&2; exit 1; }
check-mutants: ; @$(BIN)/python -m tests.mutants --check
check-deployment: ; @$(PRODUCTION) $(BIN)/python manage.py check --deploy --fail-level WARNING

lock: .venv/.development  ## pin the dependencies of pyproject.toml, with their hashes
	$(LOCK) -o requirements.lock
	$(LOCK) --all-extras -c requirements.lock -o requirements-observability.lock
	$(LOCK) --all-extras --group dev -c requirements-observability.lock -o requirements-dev.lock

format: .venv/.development  ## format the code and mend what lint can mend
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

hook: .venv/.development  ## check the format, lint, templates and sizes of what is staged before each commit
	@$(BIN)/python -m tests.support.staged --install

openapi: .venv/.development  ## write docs/openapi.yaml from the serializers
	$(EMBEDDED) $(BIN)/python manage.py spectacular --validate --fail-on-warn --file docs/openapi.yaml

clients: .venv/.development  ## build the client libraries for Python and TypeScript: clients/dist
	@$(BIN)/python -m tests.support.clients

clean:  ## remove the environment and every cache; the data in var/ stays
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .grimp_cache .coverage htmlcov
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed, with venv (Debian: python3-venv); none was found." >&2; exit 1; }
	@$(PYTHON) -m venv .venv

# The stamps make an installation run again only when its lock file changed.
.venv/.runtime: requirements.lock | $(BIN)/python
	@echo "Installing the packages of requirements.lock into .venv; this takes a minute."
	@$(INSTALL) requirements.lock
	@touch $@

.venv/.development: requirements-dev.lock | $(BIN)/python
	@echo "Installing the packages of requirements-dev.lock into .venv; this takes a minute or two."
	@$(INSTALL) requirements-dev.lock
	@mkdir -p .venv/var
	@touch $@ .venv/.runtime
