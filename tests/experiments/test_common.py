"""What all commands share: folders of quick runs."""

from pathlib import Path
from typing import Any

import pytest

from agents import distil, imitate, train, train_fast


@pytest.mark.parametrize("module", [train, train_fast, distil, imitate])
def test_a_quick_run_leaves_the_folder_of_a_whole_one_alone(
    module: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folders = []
    monkeypatch.setattr(module, "run_command", lambda name, folder, work: folders.append(folder))
    for line in ([], ["--quick"], ["--quick", "--out", "elsewhere"]):
        module.main(line)
    usual, quick, given = folders
    assert (quick, given) == (usual.with_name(f"{usual.name}-quick"), Path("elsewhere"))
