// A site that was opened by a double click: browsers allow it neither modules nor files, and the page says what to do.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { firefoxPath, launch, launchFirefox, openPage } from './support/browser.mjs';
import { siteOf } from './support/site.mjs';

let browser;
let built;
let address;

before(async () => {
  browser = await launch();
  built = await siteOf({ 'one.md': '# One\n\nA page about one thing, which is long enough to be found by a search.\n' }, ['--no-model']);
  address = pathToFileURL(join(built.site, 'index.html')).href;
});
after(async () => {
  await browser?.close();
  await built?.remove();
});

/** What is seen of the page half a second after it was opened. */
const seen = () => {
  const boot = /** @type {HTMLElement} */ (document.querySelector('[data-boot]'));
  const { width, height } = boot.getBoundingClientRect();
  return {
    text: boot.innerText, role: boot.getAttribute('role'), lang: document.documentElement.lang,
    shown: getComputedStyle(boot).visibility === 'visible' && width > 0 && height > 0,
    box: /** @type {HTMLElement} */ (document.querySelector('.box')).offsetHeight, wider: document.documentElement.scrollWidth - innerWidth,
  };
};

const WAYS = ['kb-builder serve', 'kb-builder export', '--single-file'];

for (const [locale, lang, word] of [['en-GB', 'en', 'Opened from a folder'], ['zh-CN', 'zh-Hans', '直接从文件夹打开']]) {
  test(`one sentence at once, with what to do: ${locale}, also at 360 pixels`, async () => {
    const page = await openPage(browser, { locale, viewport: { width: 360, height: 740 } });
    await page.goto(address);
    await page.waitForTimeout(500);
    const found = await page.evaluate(seen);
    assert.ok(found.shown);
    assert.equal(found.role, 'alert');
    assert.equal(found.lang, lang);
    assert.ok(found.text.startsWith(word), found.text);
    for (const way of WAYS) assert.ok(found.text.includes(way), found.text);
    assert.equal(found.box, 0, 'a box that cannot search is not offered');
    assert.ok(found.wider <= 0, 'nothing is cut off');
    assert.deepEqual(page.problems.filter((problem) => problem.startsWith('page error')), []);
    await page.context().close();
  });
}

test('the same in Firefox', { skip: !firefoxPath() && 'no Firefox: install firefox-esr, or set FIREFOX to its path' }, async () => {
  // As readers have it: Puppeteer's own profile lets a file read its neighbours.
  const firefox = await launchFirefox({ 'security.fileuri.strict_origin_policy': true });
  try {
    const page = await firefox.newPage();
    await page.goto(address);
    await page.waitForFunction(() => document.querySelector('[data-boot]')?.getAttribute('role') === 'alert');
    const found = await page.evaluate(seen);
    assert.ok(found.shown);
    for (const way of WAYS) assert.ok(found.text.includes(way), found.text);
  } finally {
    await firefox.close();
  }
});
