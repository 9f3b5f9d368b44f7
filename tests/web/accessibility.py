"""Find controls without names, skipped headings, missing landmarks, and small targets."""

from playwright.sync_api import Page

from tests.web.layout import assert_phone

_FIND = """
() => {
  const found = [], shown = (each) => each.checkVisibility({ visibilityProperty: true });
  const all = (selector) => [...document.querySelectorAll(selector)]
    .filter((each) => shown(each) && !each.closest('[aria-hidden=true]'));
  if (document.documentElement.lang !== 'en') found.push('the page has no language');
  if (all('main').length !== 1) found.push(`${all('main').length} main landmarks`);
  const levels = all('h1, h2, h3, h4').map((each) => [Number(each.tagName[1]), each.textContent]);
  if (levels.filter(([level]) => level === 1).length !== 1) found.push('not one first heading');
  levels.reduce((before, [level, words]) => {
    if (level > before + 1) found.push(`heading "${words}" skips a level`);
    return level;
  }, 0);
  const named = (each) => {
    const by = each.getAttribute('aria-labelledby');
    const texts = [each.getAttribute('aria-label'), by && document.getElementById(by)?.textContent,
      each.closest('label')?.textContent, each.innerText, each.title,
      ...[...each.labels ?? []].map((label) => label.textContent)];
    const icons = /^(close|arrow_drop_down)$/;
    return texts.some((text) => text?.trim() && !icons.test(text.trim()));
  };
  for (const each of all('button, a[href], input, textarea, select, [role=button], summary')) {
    if (each.type !== 'file' && !each.closest('.q-uploader') && !named(each)) {
      found.push(`no name: ${each.outerHTML.slice(0, 120)}`);
    }
  }
  for (const each of all('svg[role=img], [role=img]')) {
    if (!each.getAttribute('aria-label') && !each.querySelector('title')) {
      found.push(`no name: ${each.outerHTML.slice(0, 120)}`);
    }
  }
  const ids = all('[id]').map((each) => each.id);
  for (const id of new Set(ids.filter((id, k) => ids.indexOf(id) !== k))) {
    found.push(`the id ${id} is used twice`);
  }
  return found;
}
"""


def barriers(page: Page) -> list[str]:
    """Return the barriers for keyboards and screen readers, such as controls without a name."""
    found: list[str] = page.evaluate(_FIND)
    return found


def assert_accessible(page: Page) -> None:
    """Assert that a page has no barriers, and that phones show its whole width."""
    assert barriers(page) == []
    assert_phone(page)
