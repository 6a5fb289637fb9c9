// How the page lies on other screens and paper: right to left, at 400 %, printed; and what it says while the model comes.

import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { answered, ask, statusText, waitFor } from './support/actions.mjs';
import { launch, openPage } from './support/browser.mjs';
import { demoSite } from './support/site.mjs';
import { serveFolder } from './support/static.mjs';

let browser;
let demo;
let server;
/** @type {Awaited<ReturnType<typeof openPage>> | undefined} */
let page;

before(async () => {
  browser = await launch();
  demo = await demoSite();
});
afterEach(async () => {
  await page?.context().close();
  await server?.close();
});
after(async () => {
  await browser?.close();
  await demo?.remove();
});

test('on a page that runs from right to left the element is mirrored, and its documents run as they are written', async () => {
  server = await serveFolder(demo.site, { extra: { 'host.html': `<!doctype html><html lang="ar" dir="rtl"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Host</title>
<link rel="icon" href="data:,"><script type="module" src="assets/kb-embed.js"></script></head><body><kb-search lang="en"></kb-search></body></html>` } });
  page = await openPage(browser, { viewport: { width: 420, height: 800 } });
  await page.goto(`${server.url}host.html`);
  await page.locator('kb-search #q').fill('commit');
  await page.locator('kb-search .hit').first().waitFor();
  const seen = await page.evaluate(() => {
    const tree = /** @type {ShadowRoot} */ (document.querySelector('kb-search').shadowRoot);
    const middle = (selector) => {
      const { left, right, width } = tree.querySelector(selector).getBoundingClientRect();
      return { at: (left + right) / 2, left, right, width };
    };
    return {
      box: middle('#q'), icon: middle('.box-icon'), clear: middle('.box-clear'), text: getComputedStyle(tree.querySelector('.hit-text')).direction,
      padding: [getComputedStyle(tree.querySelector('#q')).paddingRight, getComputedStyle(tree.querySelector('#q')).paddingLeft].map(parseFloat),
      wider: document.documentElement.scrollWidth - innerWidth,
    };
  });
  assert.ok(seen.icon.at > seen.box.at && seen.clear.at < seen.box.at, 'the magnifier stands at the right, the cross at the left');
  // What is typed begins beside the magnifier and ends beside the cross.
  assert.ok(seen.box.right - seen.padding[0] <= seen.icon.left + 1, JSON.stringify(seen));
  assert.ok(seen.box.left + seen.padding[1] >= seen.clear.right - 1, JSON.stringify(seen));
  assert.equal(seen.text, 'ltr', 'an English document');
  assert.ok(seen.wider <= 0, 'nothing is cut off');
  assert.deepEqual(page.problems, []);
});

// WCAG 2.2, 1.4.10: 1280 pixels at 400 % are 320.
for (const [what, path] of [['the start', ''], ['results', '?q=commit'], ['a document', '?doc=course-en/03-undo.md']]) {
  test(`at 400 % nothing is cut off and nobody scrolls sideways: ${what}`, async () => {
    server = await serveFolder(demo.site);
    page = await openPage(browser, { viewport: { width: 320, height: 256 }, deviceScaleFactor: 4 });
    await page.goto(`${server.url}${path}`);
    await waitFor(page, 'words', 'ready');
    await page.locator(path.startsWith('?doc') ? '.prose' : path ? '.hit' : '.library').first().waitFor();
    const found = await page.evaluate(() => ({
      wider: document.documentElement.scrollWidth - innerWidth,
      // What scrolls by itself (code, tables, the row of collections) may be wider than the screen.
      outside: [...document.querySelectorAll('body *')].filter((item) => {
        const { left, right, width, height } = item.getBoundingClientRect();
        const scrolls = (/** @type {Element | null} */ each) => each !== null && (['auto', 'scroll', 'hidden', 'clip'].includes(getComputedStyle(each).overflowX) || scrolls(each.parentElement));
        return width > 1 && height > 1 && (right > innerWidth + 1 || left < -1) && getComputedStyle(item).visibility === 'visible' && !scrolls(item.parentElement);
      }).map((item) => item.outerHTML.slice(0, 120)),
    }));
    assert.ok(found.wider <= 0, `${found.wider} pixels wider than the screen`);
    assert.deepEqual(found.outside, []);
    assert.deepEqual(page.problems, []);
  });
}

test('printed, the results are whole and what only a screen can use is left out', async () => {
  server = await serveFolder(demo.site);
  page = await openPage(browser);
  await page.addInitScript(() => localStorage.setItem('kb:/:meaning', 'off'));
  await page.goto(server.url);
  await ask(page, 'undo a commit', 'words');
  await page.emulateMedia({ media: 'print' });
  const shown = await page.evaluate(() => {
    const height = (/** @type {string} */ selector) => /** @type {HTMLElement} */ (document.querySelector(selector))?.offsetHeight ?? 0;
    const cut = [...document.querySelectorAll('.hit-text')].filter((text) => text.scrollHeight > text.clientHeight + 1).length;
    return { box: height('.box'), tools: height('.bar-tools'), status: height('.status'), hit: height('.hit'), title: /** @type {HTMLElement} */ (document.querySelector('.hit-title')).innerText, cut, paper: getComputedStyle(document.body).backgroundColor };
  });
  assert.deepEqual([shown.box, shown.tools, shown.status, shown.cut, shown.paper], [0, 0, 0, 0, 'rgb(255, 255, 255)']);
  assert.ok(shown.hit > 0 && shown.title.length > 0);
  assert.deepEqual(page.problems, []);
});

test('while the model comes, bytes and bytes a second are told', async () => {
  server = await serveFolder(demo.site, { pace: (path) => (path === 'model/model.onnx' ? 4_000_000 : undefined) });
  page = await openPage(browser);
  await page.goto(server.url);
  await page.waitForFunction(() => / MB of \d+ MB, [\d.]+ [kM]B\/s/.test(document.querySelector('[data-status]')?.textContent ?? ''));
  const said = /([\d.]+) MB of (\d+) MB, ([\d.]+) MB\/s/.exec(await statusText(page));
  assert.ok(said, await statusText(page));
  // A server of 4 MB a second, with what came before it.
  assert.ok(Number(said[3]) >= 1 && Number(said[3]) <= 9, `${said[3]} MB/s`);
  // The words do not wait for it.
  await ask(page, 'undo a commit', 'words');
  await answered(page, 'undo a commit', 'meaning');
  assert.deepEqual(page.problems, []);
});
