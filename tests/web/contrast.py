"""Find text on a page whose contrast is too low, as WCAG 2.1 defines it."""

from playwright.sync_api import Page

_FIND = """
(least) => {
  const parse = (text) => {
    const numbers = text.match(/[\\d.]+/g).map(Number);
    const scale = text.startsWith('color(') ? 255 : 1;
    return [...numbers.slice(0, 3).map((each) => each * scale), numbers[3] ?? 1];
  };
  const over = (top, below) =>
    [...[0, 1, 2].map((k) => top[k] * top[3] + below[k] * (1 - top[3])), 1];
  const light = ([r, g, b]) => {
    const parts = [r, g, b].map((each) => each / 255)
      .map((each) => each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4);
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  const opacity = (each) =>
    each ? Number(getComputedStyle(each).opacity) * opacity(each.parentElement) : 1;
  const canvas = matchMedia('(prefers-color-scheme: dark)').matches ? [18, 18, 18, 1]
    : [255, 255, 255, 1];
  const background = (each) => {
    if (!each) return canvas;
    return over(parse(getComputedStyle(each).backgroundColor), background(each.parentElement));
  };
  // The filled shapes of a picture that cover the middle of a label, from back to front.
  const ground = (text) => {
    const box = text.getBoundingClientRect();
    const x = box.left + box.width / 2, y = box.top + box.height / 2;
    let found = background(text.ownerSVGElement.parentElement);
    for (const shape of text.ownerSVGElement.querySelectorAll('path, rect')) {
      if (text.compareDocumentPosition(shape) & Node.DOCUMENT_POSITION_FOLLOWING) continue;
      const style = getComputedStyle(shape);
      if (style.fill === 'none' || !shape.isPointInFill) continue;
      const at = new DOMPoint(x, y).matrixTransform(shape.getScreenCTM().inverse());
      if (!shape.isPointInFill(at)) continue;
      const [r, g, b, a] = parse(style.fill);
      found = over([r, g, b, a * Number(style.fillOpacity) * opacity(shape)], found);
    }
    return found;
  };
  const found = [];
  let count = 0;
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    const each = node.parentElement, words = node.textContent.trim();
    if (!words || !each.checkVisibility({ visibilityProperty: true })) continue;
    if (!each.getClientRects().length) continue;
    if (each.closest('script, style, title, [disabled], .q-loading-bar')) continue;
    const svg = each.closest('text');
    const style = getComputedStyle(each);
    if (parseFloat(style.fontSize) < 2) continue;
    const below = svg ? ground(svg) : background(each);
    const [r, g, b, a] = parse(svg ? style.fill : style.color);
    const text = over([r, g, b, a * opacity(each)], below);
    const [low, high] = [light(text), light(below)].sort((one, other) => one - other);
    const ratio = (high + 0.05) / (low + 0.05);
    count += 1;
    if (ratio < least) {
      const name = `${each.tagName.toLowerCase()}.${each.getAttribute('class') ?? ''}`;
      found.push(`${name} "${words.slice(0, 40)}": ${ratio.toFixed(2)}, `
        + `${text.map(Math.round)} on ${below.map(Math.round)}`);
    }
  }
  if (!count) found.push('no text was found');
  return found;
}
"""


def low_contrast(page: Page, least: float = 4.5) -> list[str]:
    """Return the visible texts with less contrast than this; text of disabled controls is exempt.

    Colours with opacity are composited. Letters in a picture are compared with the shapes behind
    their middle.
    """
    found: list[str] = page.evaluate(_FIND, least)
    return sorted(set(found))
