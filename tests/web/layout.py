"""Find the parts of a page that a narrow window cuts off."""

from playwright.sync_api import Page

_FIND = """
() => {
  const width = document.documentElement.clientWidth, found = [];
  const scrolled = document.documentElement.scrollWidth;
  if (scrolled > width) found.push(`the page is ${scrolled} wide`);
  for (const each of document.querySelectorAll('body *')) {
    const box = each.getBoundingClientRect();
    if (!box.width || !box.height || !each.checkVisibility()) continue;
    // The first waits beside the page, the second runs out from a click.
    if (each.closest('.q-loading-bar, .q-ripple')) continue;
    const words = (each.textContent || '').trim().slice(0, 40);
    const name = `${each.tagName.toLowerCase()}.${each.getAttribute('class') || ''} "${words}"`;
    const ends = `from ${Math.round(box.left)} to ${Math.round(box.right)}`;
    const svg = each.ownerSVGElement;
    const isInput = /^(input|textarea|select)$/i.test(each.tagName);
    if (svg) {
      if (each.tagName !== 'text') continue;
      const all = svg.getBoundingClientRect();
      const isOut = box.left < all.left - 1 || box.right > all.right + 1
        || box.top < all.top - 1 || box.bottom > all.bottom + 1;
      if (isOut) found.push(`${name} leaves its picture: ${ends}`);
      const size = parseFloat(getComputedStyle(each).fontSize) * each.getScreenCTM().a;
      if (size < 8) found.push(`${name}: letters of ${size.toFixed(1)} pixels`);
    } else if (box.left < -1 || box.right > width + 1) {
      found.push(`${name} is off the screen: ${ends}`);
    } else if (!isInput && each.scrollWidth > each.clientWidth + 1
        && getComputedStyle(each).overflowX !== 'visible') {
      found.push(`${name} hides ${each.scrollWidth - each.clientWidth} pixels`);
    }
  }
  return found;
}
"""


def cut_off(page: Page) -> list[str]:
    """Return the parts that are off the screen, under a scroll bar, outside a picture or too small.

    Fields that hold text may scroll. Letters in a picture need 8 pixels.
    """
    page.evaluate("document.fonts.ready")
    found: list[str] = page.evaluate(_FIND)
    return found


def assert_fits(page: Page) -> None:
    """Check that the page needs no horizontal scrolling, once styles and fonts are loaded."""
    page.wait_for_function("document.documentElement.scrollWidth <= window.innerWidth")


def assert_phone(page: Page) -> None:
    """Check that phones of 390 and 360 pixels show the whole width of the page."""
    for width in (390, 360):
        page.set_viewport_size({"width": width, "height": 800})
        page.wait_for_timeout(300)  # transitions
        assert cut_off(page) == []
