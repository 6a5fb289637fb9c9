// What a reader does and sees, in words that the tests share.

/** @typedef {import('playwright-core').Page} Page */

/** Waits until the engine says so: `words` and `meaning` as in the status line's data. @param {Page} page @param {'words' | 'meaning'} part @param {string} state */
export const waitFor = (page, part, state, timeout = 90_000) => page.locator(`[data-status][data-${part}="${state}"]`).waitFor({ state: 'attached', timeout });

/** Types a question and waits until it is answered `by` words or meaning. @param {Page} page @param {string} question @param {'words' | 'meaning'} by */
export async function ask(page, question, by = 'meaning') {
  await page.fill('#q', question);
  await answered(page, question, by);
}

/** @param {Page} page @param {string} question @param {'words' | 'meaning'} by */
export async function answered(page, question, by) {
  await page.waitForFunction(([q, how]) => {
    const root = document.querySelector('[data-results]');
    return !root.hidden && root.dataset.question === q && root.dataset.by === how;
  }, [question, by], { timeout: 30_000 });
}

/** What the list shows. @param {Page} page */
export const hits = (page) => page.locator('.hit').evaluateAll((items) => items.map((item) => ({
  title: item.querySelector('.hit-title').textContent,
  headings: [...item.querySelectorAll('.hit-path span')].map((part) => part.textContent),
  path: item.querySelector('.hit-file').textContent,
  text: item.querySelector('.hit-text').textContent,
  marks: [...item.querySelectorAll('mark')].map((mark) => mark.textContent),
  href: item.querySelector('.hit-title a').getAttribute('href'),
  source: item.querySelector('.hit-source')?.href,
  by: item.querySelector('.hit-by').dataset.by,
  under: item.classList.contains('hit-under'),
})));

/** The status line's sentence. @param {Page} page */
export const statusText = (page) => page.locator('[data-status-text]').textContent();
