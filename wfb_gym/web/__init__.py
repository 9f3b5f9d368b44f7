"""The web UI: one page, served only on this machine.

`session` is the game without a browser. `page` and `app` show and serve it and need
``pip install "wfb-gym[web]"``. `app` is imported on first use.
"""
