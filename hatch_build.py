"""Build hook of hatchling: it adds compiled code to a wheel if there is any."""

import json
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

COMPILED = "wfb_gym/_compiled"


class CompiledCode(BuildHookInterface):
    """Put the code of `make wheel` into the wheel, and name platform and Python in its tag.

    Without it the wheel is for every platform, and compiles its code where it runs.
    """

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the code to the wheel that is about to be built."""
        folder = Path(self.root, COMPILED)
        if version == "editable" or not (folder / "manifest.json").is_file():
            return
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        python = manifest["python"].replace("cpython-", "cp")
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["artifacts"].append(f"{COMPILED}/*")
        build_data["pure_python"] = False
        build_data["tag"] = f"{python}-{python}-{platform}"
