"""Film a duel in the browser for README.md: ``python -m tests.web.film``.

The caster follows the advice against a veteran. The film adds captions and a pointer, and leaves
out parts of the page. The page shows a roll and the answer to it at once; the film shows one after
the other.
"""

import io
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image
from playwright.sync_api import Locator, Page, sync_playwright

from tests.support.pages import ROOT
from tests.web.browser import CHROMIUM, served
from tests.web.playing import choose, start

OUT = Path("docs") / "images" / "archmage-duel.gif"
SIZE = (830, 580)
"""Width and height in pixels; README is shown about 830 pixels wide."""
ZOOM = 1.2
_STYLE = """
body { padding-top: 40px; }
::-webkit-scrollbar { display: none; }
.film { position: fixed; z-index: 9; inset: 0 0 auto; height: 40px; padding: 0 16px;
  background: #26221e; color: #fffdf8; font: 600 16px/40px system-ui, sans-serif; }
.pointer { position: fixed; z-index: 9; width: 22px; height: 28px;
  filter: drop-shadow(0 1px 2px #0008); }
.page { padding: 8px 10px !important; }
.page .top, .page .armies .badge, .page .log .back, .page .legend { display: none; }
.page :is(.recent, .evaluation, .pending-spell, .keys, button.choice small) { display: none; }
.page > .how, .page > div > .how { display: none; }
.page .columns { grid-template-columns: 4fr 6fr !important; gap: 8px !important; }
.page .columns > .stack { display: grid !important; gap: 8px; }
.page .side { position: static; }
.page .armies { grid-template-columns: minmax(0, 1fr) !important; gap: 8px !important; }
.page .pool { gap: 4px; margin: 4px 0 0; } .page .pool .die { width: 22px; }
.page .army .how, .page .spells .status { display: none; }
.page button.choice { min-height: 36px; padding: 4px 12px; }
.page button.choice .text { flex-basis: 90px; }
.page button.choice .worth { min-width: 44px; }
.page .log { max-height: none; overflow: visible; }
.kept .question, .kept .tools, .kept .advice, .kept button.choice:not(.best) { display: none; }
.kept .log .event:nth-of-type(n + 5) { display: none; }
.wfb-review { margin-top: 0 !important; }
.page > div > .tools, .wfb-review .sub { display: none; }
"""
_POINTER = "<path d='M2 1v20l5-4 4 9 4-2-4-8h7z' fill='#fff' stroke='#26221e' stroke-width='1.6'/>"
_MARK = """
([caption, pointer, x, y]) => {
  for (const old of document.querySelectorAll('.film, .pointer')) old.remove();
  document.body.insertAdjacentHTML('beforeend', '<div class="film"></div>');
  document.querySelector('.film').textContent = caption;
  if (x === null) return;
  const arrow = `<svg class="pointer" viewBox="0 0 22 28">${pointer}</svg>`;
  document.body.insertAdjacentHTML('beforeend', arrow);
  Object.assign(document.querySelector('.pointer').style, {left: `${x}px`, top: `${y}px`});
}
"""
_KEEP = """
() => {
  const kept = document.querySelector('.columns').cloneNode(true);
  kept.querySelector('.choices').classList.add('waiting');
  window.kept = kept;
}
"""
_REPLAY = """
words => {
  const now = document.querySelector('.columns:not(.kept)'), kept = window.kept;
  kept.classList.add('kept');
  kept.querySelector('.log').innerHTML = now.querySelector('.log').innerHTML;
  const events = [...kept.querySelectorAll('.log .event')];
  const at = events.findIndex(event => event.innerText.includes(words)
    || event.textContent.includes(words));
  if (at < 0) throw Error(`no event "${words}"`);
  events.slice(0, at).forEach(event => event.remove());
  const parts = at ? [] : ['.score', '.army'];
  for (const part of parts) {
    const news = [...now.querySelectorAll(part)];
    [...kept.querySelectorAll(part)].forEach((old, k) => { old.innerHTML = news[k].innerHTML; });
  }
  now.style.display = 'none';
  now.after(kept);
}
"""
_GO_ON = """
() => {
  document.querySelector('.kept')?.remove();
  document.querySelector('.columns').style.display = '';
}
"""


@dataclass
class Film:
    """The frames of a film, taken from a page."""

    page: Page
    images: list[Image.Image] = field(default_factory=list)
    times: list[int] = field(default_factory=list)

    def take(self, caption: str, at: Locator | None = None, milliseconds: int = 2400) -> None:
        """Add a frame with a caption above the page and a pointer at an element."""
        self.page.mouse.move(0, 0)  # otherwise a button looks selected
        self.page.evaluate("window.scrollTo(0, 0)")
        box = None if at is None else at.bounding_box()
        x = None if box is None else box["x"] + 0.35 * box["width"]
        y = None if box is None else box["y"] + 0.55 * box["height"]
        self.page.evaluate(_MARK, [caption, _POINTER, x, y])
        self.page.wait_for_timeout(300)  # transitions
        image = Image.open(io.BytesIO(self.page.screenshot())).convert("RGB")
        self.images.append(image)
        self.times.append(milliseconds)

    def save(self, path: Path) -> None:
        """Write the film as a GIF with one palette; separate palettes would flicker."""
        width, height = self.images[0].size
        sheet = Image.new("RGB", (width, height * len(self.images)))
        for number, image in enumerate(self.images):
            sheet.paste(image, (0, number * height))
        palette = sheet.quantize(96)  # few colours make a small file
        keys: Any = {"palette": palette, "dither": Image.Dither.NONE}
        first, *more = (image.quantize(**keys) for image in self.images)
        times = [*self.times[:-1], 4000]
        first.save(path, save_all=True, append_images=more, duration=times, loop=0, optimize=True)


def best(page: Page) -> tuple[int, Locator]:
    """Return the number and the button of the choice that the advice marks."""
    page.locator("button.choice.best").wait_for()
    buttons = page.locator("button.choice")
    classes = buttons.evaluate_all("all => all.map(each => each.className)")
    number = next(k for k, each in enumerate(classes) if "best" in each.split())
    return number, buttons.nth(number)


class Step(NamedTuple):
    """A decision: part of the best choice's text, a caption, and events with their captions."""

    choice: str
    caption: str
    events: tuple[tuple[str, str], ...] = ()


DUEL = (
    Step("Burning Head", "Advice: the exact points to expect from each spell."),
    Step(
        "3 dice",
        "Choose the dice. Each one can be spent only once.",
        (
            ("Burning Head is cast", "You roll 9: Burning Head is cast."),
            ("Burning Head is dispelled", "The opponent rolls 10 on three dispel dice: dispelled."),
        ),
    ),
    Step("Fire Ball", "Three power dice are left, against one dispel die."),
    Step(
        "1 die",
        "One die is best now. Two would cast more often, and lose points.",
        (
            ("Fire Ball is cast", "You roll 5: Fire Ball is cast."),
            ("lets it through", "The opponent does not dispel it: 20 points for you."),
        ),
    ),
    Step("Conflagration of Doom", "The last spell, with the last two dice."),
    Step("2 dice", "It is a long shot."),
)
"""The battle with seed 3."""


def play(film: Film, steps: Iterable[Step]) -> None:
    """Follow the advice to the end of the battle; it must be as in the captions."""
    page = film.page
    for step in steps:
        number, button = best(page)
        if step.choice not in (found := button.inner_text()):
            raise ValueError(f"choice: expected {step.choice!r}, found {found!r}")
        film.take(step.caption, button)
        page.evaluate(_KEEP)
        choose(page, number)
        for words, caption in step.events:
            page.evaluate(_REPLAY, words)
            film.take(caption)
        page.evaluate(_GO_ON)


def main() -> None:
    with served() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        width, height = (round(each / ZOOM) for each in SIZE)
        viewport: Any = {"width": width, "height": height}
        page = browser.new_page(viewport=viewport, device_scale_factor=ZOOM)
        page.set_default_timeout(180_000)
        page.goto(address)
        shoot(page)
        browser.close()


def shoot(page: Page) -> None:
    """Film the duel on the page of a new game."""
    film = Film(page)
    page.get_by_role("button", name="Play").wait_for()
    page.add_style_tag(content=_STYLE)
    seat = page.locator(".q-field", has_text="Your seat")
    film.take("Play one side of a wizards' duel in the browser.", seat)
    start(page)
    page.get_by_role("button", name="Advice").click()
    play(film, DUEL)
    page.locator(".wfb-review[data-ready]").wait_for()
    film.take("You win by 20. The review: every decision against the best one.")
    film.save(ROOT / OUT)


if __name__ == "__main__":
    main()
