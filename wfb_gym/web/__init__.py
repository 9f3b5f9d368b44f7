"""The game in a browser: one page, served on this machine alone.

`session` has what a game on the page needs, without a browser; `page` and `app` show and serve it,
and need ``pip install "wfb-gym[web]"``. `app` is imported on use.
"""
