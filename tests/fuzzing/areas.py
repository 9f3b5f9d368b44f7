"""All areas by name."""

from tests.fuzzing import documents, environments
from tests.fuzzing.running import Area

AREAS: dict[str, Area] = {
    "play": environments.play,
    "states": environments.states,
    "misuse": environments.misuse,
    "scenarios": documents.scenarios,
    "files": documents.files,
}
