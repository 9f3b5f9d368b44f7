"""Start the HTTP server: ``python -m wfb_gym.interop.openenv``."""

import argparse

from wfb_gym._commands import install_handlers
from wfb_gym.interop.openenv import make_app
from wfb_gym.interop.text_episodes import DEFAULT_SCENARIO
from wfb_gym.seats import SEATS


def main() -> None:
    """Parse the options and serve until interrupted."""
    install_handlers()
    parser = argparse.ArgumentParser(
        prog="python -m wfb_gym.interop.openenv",
        description="Serve battles over OpenEnv's HTTP and WebSocket API.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    parser.add_argument("--port", type=int, default=8000, help="port to listen on")
    parser.add_argument(
        "--scenario", default=DEFAULT_SCENARIO, help="name, file, or kind such as generated-duel"
    )
    parser.add_argument("--seat", default=SEATS[0], choices=SEATS, help="seat of the model")
    parser.add_argument("--opponent", default="veteran", help="player of the other seat")
    parser.add_argument("--retries", type=int, default=1, help="retries in each decision")
    parser.add_argument("--odds", action="store_true", help="show the chances of casting")
    parser.add_argument(
        "--max-bytes", type=int, default=0, help="memory for solving a scenario, for regrets"
    )
    parser.add_argument("--max-sessions", type=int, default=64, help="sessions at the same time")
    options = vars(parser.parse_args())
    host, port = options.pop("host"), options.pop("port")
    try:
        app = make_app(**options)
    except ValueError as error:
        parser.error(str(error))
    import uvicorn  # a dependency of openenv

    uvicorn.run(app, host=host, port=port)


if __name__ == "__main__":
    main()
