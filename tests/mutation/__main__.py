"""Run `tests.mutation.score`: python -m tests.mutation."""

from wfb_gym._commands import run_main

if __name__ == "__main__":
    run_main("tests.mutation.score")
