"""Colours used in pictures, by meaning; RGB values from 0 to 255."""

Colour = tuple[int, int, int]

PAPER: Colour = (244, 240, 230)
PANEL: Colour = (255, 253, 248)
LINE: Colour = (205, 196, 178)
INK: Colour = (38, 34, 30)
FADED: Colour = (128, 120, 108)
WHITE: Colour = (255, 255, 255)

ARMIES: tuple[Colour, Colour] = ((44, 88, 150), (160, 48, 44))
"""The first army's colour and the second army's."""
PALE: tuple[Colour, Colour] = ((206, 219, 238), (240, 210, 206))
"""Light versions of these, used behind text."""

TURN: Colour = (226, 150, 20)  # marks the army that decides or rolls
SIX: Colour = (240, 190, 60)  # dice that show a double 6
ONE: Colour = (226, 120, 110)  # dice that show a double 1
BONE: Colour = (250, 246, 234)  # all other dice
WOUND: Colour = (190, 40, 40)
GONE: Colour = (222, 216, 204)  # background of lost models and past phases

CASTABLE: Colour = (214, 234, 205)
PENDING: Colour = (252, 216, 130)
IN_PLAY: Colour = (218, 204, 240)
TRIED: Colour = (232, 227, 216)
FORGOTTEN: Colour = (236, 196, 190)
FLIGHT: Colour = (248, 232, 182)  # background of the remaining models in a fleeing unit

FIELD: Colour = (250, 247, 238)  # the ground of a battlefield
UNITS: tuple[Colour, Colour] = ((66, 112, 178), (232, 148, 116))
"""Models in the first and second army; they also differ in brightness, for colour-blind viewers."""
MAGIC: Colour = (248, 208, 40)  # wizards on a battlefield
LEGAL: Colour = (0, 122, 88)  # outline of legal targets
TERRAIN: dict[str, Colour] = {
    "wood": (190, 214, 176),
    "hill": (229, 214, 184),
    "water": (190, 220, 236),
    "rocks": (202, 202, 202),
    "ruins": (216, 208, 202),
    "building": (214, 184, 164),
    "wall": (150, 146, 140),
}
