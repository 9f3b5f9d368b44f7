"""The web UI: a single page, served only on this machine.

`session` is the game without a browser. `page` and `app` display and serve it, and require ``pip
install "wfb-gym[web]"``. `app` is imported on first use.
"""
