# What a developer does daily; `just` alone lists it. `just` itself comes with ".[dev]".
# On Windows run it from Git Bash, which has the `sh` that it needs.

set positional-arguments

_list:
    @just --list --unsorted

# Quick tests, under a minute on two cores: no model, no window with its workers, no killing
quick *ARGS:
    python -m pytest -m "not model and not books and not slow" "$@"

# All tests; the first time a small model is fetched (98 MB)
test *ARGS:
    python -m pytest "$@"

# What .ci/run looks at beside the tests
lint:
    ruff check .
    ruff format --check .
    mypy

# Lutrin from the checkout: the window, or a verb, as in: just run ask "Why do prices rise?"
run *ARGS:
    python -m desktop "$@"

# A bench of tests/bench by its name, as in: just bench startup
bench NAME *ARGS:
    name="$1"; shift; python "tests/bench/$name.py" "$@"
