"""Colours and markers for all figures. The colours suit colour-blind readers (Okabe, Ito 2008)."""

BLACK, GREY = "#000000", "#666666"
ORANGE, SKY_BLUE, GREEN = "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILION, PURPLE = "#0072B2", "#D55E00", "#CC79A7"

SEAT_COLOURS = {"caster": VERMILION, "dispeller": BLUE}
SERIES = (BLUE, ORANGE, GREEN, PURPLE, SKY_BLUE, GREY, VERMILION)
"""Colours for other series, in this order."""
MARKERS = "osD^vPX"
"""Markers, which also distinguish lines that overlap."""
DPI = 150
