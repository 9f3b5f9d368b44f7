"""What the figures share: colours that the colour-blind tell apart (Okabe and Ito 2008)."""

BLACK, GREY = "#000000", "#666666"
ORANGE, SKY_BLUE, GREEN = "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILION, PURPLE = "#0072B2", "#D55E00", "#CC79A7"

SEAT_COLOURS = {"caster": VERMILION, "dispeller": BLUE}
SERIES = (BLUE, ORANGE, GREEN, PURPLE, SKY_BLUE, GREY, VERMILION)
"""Of what has no colour of its own, in this order."""
MARKERS = "osD^vPX"
"""Beside the colours, for lines that lie upon each other."""
DPI = 150
