"""Name spells by the titles that players read, which differ for each cast and casting value."""

from tests.support.builders import Game
from wfb_gym.engine import actions
from wfb_gym.view.names import ScenarioNames


def castable(battle: Game) -> list[str]:
    """Return the spells that may be nominated, as players read them."""
    names = ScenarioNames(battle.scenario)
    found = [code - actions.FIRST_CAST for code in battle.legal_actions()]
    spells = battle.scenario.slots[battle.mover].spells
    return [names.spell(battle.mover, k) for k in found if 0 <= k < len(spells)]


def nominate(battle: Game, title: str) -> None:
    names, army = ScenarioNames(battle.scenario), battle.mover
    titles = [names.spell(army, k) for k in range(len(names.spells[army]))]
    battle.act(actions.FIRST_CAST + titles.index(title))


def cast_with(battle: Game, title: str, *faces: int) -> float:
    nominate(battle, title)
    if battle.node.name == "TARGET":
        battle.act(battle.legal_actions()[0])
    battle.act(actions.FIRST_DICE + len(faces))
    return battle.roll(*faces)
