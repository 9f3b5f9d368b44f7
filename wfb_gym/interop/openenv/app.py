"""The application with default settings: ``uvicorn wfb_gym.interop.openenv.app:app``."""

from wfb_gym.interop.openenv import make_app

app = make_app()
