"""``python -m wfb_gym``: see `wfb_gym.cli`."""

from wfb_gym.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
