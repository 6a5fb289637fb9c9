// The page, its offline copy and the elements in Firefox, where there is one. Handouts are in handout.test.mjs.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { firefoxPath, launchFirefox } from './support/browser.mjs';
import { demoSite } from './support/site.mjs';
import { serveFolder } from './support/static.mjs';

const skip = !firefoxPath() && 'no Firefox: install firefox-esr, or set FIREFOX to its path';
const host = `<!doctype html><html lang="en"><head><meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self' blob:; connect-src 'self'; img-src 'self'">
<title>Host</title><link rel="icon" href="assets/icon.svg"><script type="module" src="assets/kb-embed.js"></script></head><body><h1>Host</h1><kb-search></kb-search></body></html>`;

let browser;
let demo;
let server;
/** @type {string[]} */
const problems = [];

before(async () => {
  if (skip) return;
  browser = await launchFirefox();
  demo = await demoSite();
  server = await serveFolder(demo.site, { prefix: '/course/', extra: { 'host.html': host } });
});
after(async () => {
  await browser?.close();
  await server?.close();
  await demo?.remove();
});

const open = async (path) => {
  problems.length = 0;
  const page = await browser.newPage();
  page.on('console', (message) => ['error', 'warn'].includes(message.type()) && problems.push(message.text()));
  page.on('pageerror', (error) => problems.push(String(error)));
  await page.goto(server.url + path);
  return page;
};

test('the page searches by words and meaning, and works without its server afterwards', { skip }, async () => {
  const page = await open('?q=branch');
  await page.waitForSelector('[data-results][data-by="meaning"] .hit', { timeout: 90_000 });
  await page.waitForSelector('[data-offline="ready"]', { timeout: 60_000 });
  const { url } = server;
  await server.close();
  await page.goto(`${url}?q=rebase`);
  await page.waitForSelector('[data-results][data-by="meaning"] .hit', { timeout: 90_000 });
  assert.deepEqual(problems, []);
  server = await serveFolder(demo.site, { prefix: '/course/', extra: { 'host.html': host } });
});

test('<kb-search> under a strict policy', { skip }, async () => {
  const page = await open('host.html');
  await page.waitForFunction(() => document.querySelector('kb-search')?.shadowRoot?.querySelector('#q'));
  await page.evaluate(() => {
    const input = /** @type {HTMLInputElement} */ (document.querySelector('kb-search')?.shadowRoot?.querySelector('#q'));
    input.focus();
    input.value = 'branch';
    input.dispatchEvent(new InputEvent('input', { bubbles: true }));
  });
  await page.waitForFunction(() => document.querySelector('kb-search')?.shadowRoot?.querySelector('.results[data-by="meaning"] .hit'), { timeout: 90_000 });
  assert.deepEqual(problems, []);
});
