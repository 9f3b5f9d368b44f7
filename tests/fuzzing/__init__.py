"""Fuzzing of everything that reads data from outside: `python -m tests.fuzzing`, or `make fuzz`.

A kind of input has one module that generates cases, reads them and checks laws of accepted input.

- `mutations` changes one leaf of a decoded document, so that the case is signed again and only that
  leaf is wrong.
- `laws` reads a case and checks a rejection: the documented error, a readable message, at most a
  second of CPU time and 200 MB of memory.
- `states`, `files`, `calls` and `web` have the kinds; `kinds` lists them by name.
- `running` runs cases in processes of their own, so that crashes and hangs are findings too.
- `removals` removes one check of the package; `--prove` shows that fuzzing finds that.
"""
