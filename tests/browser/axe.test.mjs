// axe-core on every state of the page: WCAG 2.2 A and AA and its best practices, no exceptions.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { after, before, test } from 'node:test';
import { answered, waitFor } from './support/actions.mjs';
import { launch, openPage } from './support/browser.mjs';
import { demoSite } from './support/site.mjs';
import { serveFolder } from './support/static.mjs';

const source = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const phone = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true };

let browser;
let demo;
let server;

before(async () => {
  browser = await launch();
  demo = await demoSite();
  server = await serveFolder(demo.site, { extra: { 'host.html': '<!doctype html><html lang="en"><head><title>Host</title><meta name="viewport" content="width=device-width"><link rel="icon" href="data:,"><script type="module" src="assets/kb-embed.js"></script></head><body><main><h1>Host</h1><kb-search></kb-search></main><kb-modal></kb-modal></body></html>', 'source.html': '<!doctype html><html lang="en"><head><title>Host</title><meta name="viewport" content="width=device-width"><link rel="icon" href="data:,"><script type="module" src="assets/kb-embed.js"></script></head><body><main><kb-source doc="course-en/03-undo.md"></kb-source></main></body></html>', 'dark.html': '<!doctype html><html lang="en"><head><title>Host</title><meta name="color-scheme" content="light dark"><style>body { background: Canvas; color: CanvasText; }</style><meta name="viewport" content="width=device-width"><link rel="icon" href="data:,"><script type="module" src="assets/kb-embed.js"></script></head><body><main><h1>Host</h1><kb-settings></kb-settings><kb-status></kb-status><kb-ask></kb-ask></main></body></html>', 'elements.html': '<!doctype html><html lang="en"><head><title>Host</title><meta name="viewport" content="width=device-width"><link rel="icon" href="data:,"><script type="module" src="assets/kb-embed.js"></script></head><body><main><h1>Host</h1><kb-settings></kb-settings><kb-status></kb-status><kb-ask></kb-ask></main></body></html>' } });
});
after(async () => {
  await browser?.close();
  await server?.close();
  await demo?.remove();
});

/** @param {string} name @param {string} address @param {(page: any) => Promise<any>} act @param {any} [options] */
const check = (name, address, act, options = {}) => test(name, async () => {
  const page = await openPage(browser, { reducedMotion: 'reduce', ...options });
  await page.goto(server.url + address);
  await act(page);
  await page.waitForTimeout(300);
  // Not through a script element: the page's policy would refuse it.
  await page.evaluate(source);
  const violations = await page.evaluate(async () => {
    const result = await /** @type {any} */ (window).axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] });
    return result.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target, failureSummary }) => `${target.join(' ')} ${failureSummary}`).slice(0, 3).join(' | ')}`);
  });
  assert.deepEqual(violations, []);
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

for (const [suffix, options] of [['light', {}], ['dark', { colorScheme: 'dark' }], ['phone, Chinese', { ...phone, locale: 'zh-CN' }]]) {
  check(`home, ${suffix}`, '', (page) => waitFor(page, 'words', 'ready'), options);
  check(`results, ${suffix}`, '?q=branch', (page) => answered(page, 'branch', 'meaning'), options);
  check(`reader, ${suffix}`, '?q=branch', async (page) => {
    await answered(page, 'branch', 'meaning');
    await page.click('.hit-title a');
    await page.locator('.prose .passage').waitFor();
  }, options);
}
check('nothing found', '?q=xylophone', (page) => page.locator('.hit, .notice').first().waitFor());
check('a document that is not there', '?doc=a/b', (page) => page.locator('.notice').waitFor());
check('elements on another page', 'host.html', async (page) => {
  await page.locator('kb-search #q').fill('branch');
  await page.locator('kb-search .hit').first().waitFor();
});
check('the dialog on another page', 'host.html', async (page) => {
  await page.locator('kb-modal .trigger').click();
  await page.keyboard.type('branch');
  await page.locator('kb-modal .hit').first().waitFor();
});
check('documents without a script', 'documents.html', (page) => page.locator('h1').waitFor());
for (const [suffix, options, address] of /** @type {[string, any, string][]} */ ([['light', {}, 'elements.html'], ['dark', { colorScheme: 'dark' }, 'dark.html'], ['light in the dark', { colorScheme: 'dark' }, 'elements.html']])) {
  check(`settings, state and an answer on another page, ${suffix}`, address, async (page) => {
    await page.locator('kb-ask #q').fill('how do I undo the last commit');
    await page.keyboard.press('Enter');
    await page.locator('kb-ask .answer[data-kind]').waitFor({ timeout: 90_000 });
  }, options);
}
check('a document on another page', 'source.html', (page) => page.locator('kb-source .prose [data-heading]').first().waitFor());
