// <kb-search> and <kb-modal> on somebody else's page, under a strict policy.

import assert from 'node:assert/strict';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { launch, openPage } from './support/browser.mjs';
import { demoSite } from './support/site.mjs';
import { serveFolder } from './support/static.mjs';

/** The strictest policy under which the elements work; docs/guide/en/embedding.md states it. */
const POLICY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self' blob:; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'";

const host = (body) => `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Host</title><meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width"><link rel="icon" href="kb/assets/icon.svg"><script type="module" src="kb/assets/kb-embed.js"></script></head><body><h1>Host page</h1><input id="own" aria-label="own">${body}</body></html>`;

let browser;
let demo;
let folder;
let server;
/** @type {Awaited<ReturnType<typeof openPage>> | undefined} */
let page;

before(async () => {
  browser = await launch();
  demo = await demoSite();
  folder = await mkdtemp(join(tmpdir(), 'kb-host-'));
  await symlink(demo.site, join(folder, 'kb'));
  await writeFile(join(folder, 'index.html'), 'x');
});
afterEach(async () => {
  await page?.context().close();
  await server?.close();
});
after(async () => {
  await browser?.close();
  await demo?.remove();
  if (folder) await rm(folder, { recursive: true });
});

const open = async (body, options = {}) => {
  server = await serveFolder(folder, { extra: { 'host.html': host(body) } });
  page = await openPage(browser, options);
  /** @type {string[]} */
  const violations = [];
  await page.exposeFunction('violated', (text) => violations.push(text));
  await page.addInitScript(() => addEventListener('securitypolicyviolation', (event) => /** @type {any} */ (window).violated(`${event.violatedDirective} ${event.blockedURI}`)));
  await page.goto(`${server.url}host.html`);
  return violations;
};
const meaning = (element) => page.locator(`${element} [data-status][data-meaning="ready"]`).waitFor({ state: 'attached', timeout: 90_000 });
const titles = (element) => page.locator(`${element} .hit-title`).allTextContents();

test('<kb-search>: one script, one element, a strict policy', async () => {
  const violations = await open('<kb-search></kb-search>');
  await page.locator('kb-search #q').waitFor();
  assert.equal([...server.sent.keys()].some((path) => path.endsWith('.wasm')), false, 'nothing is loaded before somebody wants to search');
  await page.locator('kb-search #q').click();
  await page.keyboard.type('who is responsible for this statement');
  await meaning('kb-search');
  await page.locator('kb-search .results[data-by="meaning"]').waitFor();
  assert.ok((await titles('kb-search')).slice(0, 4).includes('Who wrote this line'));
  await page.keyboard.press('ArrowDown');
  const focused = () => page.evaluate(() => document.querySelector('kb-search').shadowRoot.activeElement?.textContent);
  assert.equal(await focused(), (await titles('kb-search'))[0]);
  await page.locator('kb-search .hit-title a', { hasText: 'Who wrote this line' }).click();
  await page.locator('kb-search .prose .passage').waitFor();
  assert.match(page.url(), /host\.html$/, 'the host page stays where it is');
  await page.locator('kb-search .reader-back').click();
  await page.locator('kb-search .hit').first().waitFor();
  // A result is a link to the knowledge base's own page, for a tab of its own.
  assert.match(await page.locator('kb-search .hit-title a').first().getAttribute('href') ?? '', /^http:\/\/127\.0\.0\.1:\d+\/kb\/\?doc=/);
  assert.deepEqual(violations, []);
  assert.deepEqual(page.problems, []);
});

test('a fixed filter, a language and a theme are the page author’s to choose', async () => {
  await open('<kb-search collections="course-zh" lang="zh" theme="dark"></kb-search>');
  assert.equal(await page.locator('kb-search #q').getAttribute('placeholder'), '提一个问题，或输入几个词');
  assert.equal(await page.evaluate(() => getComputedStyle(document.querySelector('kb-search')).getPropertyValue('--paper').trim()), '#171614');
  await page.locator('kb-search #q').fill('git');
  await page.locator('kb-search .hit, kb-search .notice').first().waitFor();
  await page.locator('kb-search #q').fill('向量');
  await page.locator('kb-search .hit').first().waitFor();
  const documents = await page.locator('kb-search .hit').evaluateAll((items) => items.map((item) => item.dataset.document));
  assert.ok(documents.length > 0 && documents.every((path) => path.startsWith('course-zh/')), `${documents}`);
  assert.equal(await page.locator('kb-search .scope[data-scope]').count(), 0);
  assert.deepEqual(page.problems, []);
});

test('what the page author fixes cannot be lifted, neither by a choice nor by a link', async () => {
  await open('<kb-search lang="en" filters="lang=en; path!=en/"></kb-search><kb-source lang="en" collections="course-zh" doc="course-en/01-snapshots.md"></kb-source>');
  const input = page.locator('kb-search #q');
  for (const word of ['commit', 'documents']) {
    await input.fill(word);
    await page.waitForFunction((asked) => document.querySelector('kb-search').shadowRoot.querySelector('.results').dataset.question === asked, word);
    const found = await page.locator('kb-search .hit').evaluateAll((items) => items.map((item) => item.dataset.document));
    assert.ok(found.length > 0 && found.every((path) => path.startsWith('course-en/')), `${word}: ${found}`);
  }
  // One language is left, so that there is none to choose.
  assert.equal(await page.locator('kb-search .scope[data-lang]').count(), 0);
  // The document exists, but in another collection: the same sentence as for one that does not.
  const gone = page.locator('kb-source .reader');
  await gone.waitFor();
  const said = await gone.textContent();
  assert.ok(said && !said.includes('snapshot'), `${said}`);
  await page.evaluate(() => {
    const source = /** @type {any} */ (document.querySelector('kb-source'));
    source.shadowRoot.querySelector('.reader').className = 'old';
    source.setAttribute('doc', 'course-zh/no-such.md');
  });
  await gone.waitFor();
  assert.equal(await gone.textContent(), said);
  assert.deepEqual(page.problems, []);
});

test('a condition that cannot be read opens nothing', async () => {
  await open('<kb-search lang="en" filters="path=0; draft!"></kb-search><kb-source lang="en" filters="!=en" doc="course-en/03-undo.md"></kb-source>');
  await page.locator('kb-search #q').fill('commit');
  await page.locator('kb-search .results .notice, kb-search .results .none, kb-search .hit').first().waitFor();
  assert.equal(await page.locator('kb-search .hit').count(), 0);
  await page.locator('kb-source .reader .notice').waitFor();
});

test('an element is dark where the page around it can be, by its styles or its meta element', async () => {
  const meta = '<meta name="color-scheme" content="light dark">';
  for (const [head, theme] of [['', 'light'], [meta, null], ['<style>:root { color-scheme: light dark; }</style>', null], [`${meta}<style>:root { color-scheme: light; }</style>`, 'light']]) {
    const html = host('<kb-search></kb-search>').replace(/<meta http-equiv[^>]*>/, head);
    server = await serveFolder(folder, { extra: { 'host.html': html } });
    page = await openPage(browser, { colorScheme: 'dark' });
    await page.goto(`${server.url}host.html`);
    await page.locator('kb-search #q').waitFor();
    assert.equal(await page.locator('kb-search').getAttribute('theme'), theme, head);
    const light = await page.locator('kb-search #q').evaluate((box) => Number(/\d+/.exec(getComputedStyle(box).backgroundColor)?.[0]) > 128);
    assert.equal(light, theme === 'light', head);
    await page.context().close();
    await server.close();
  }
});

test('where the page may start no worker the words are searched on the page itself', async () => {
  server = await serveFolder(folder, { extra: { 'host.html': host('<kb-search lang="en"></kb-search><kb-source lang="en" doc="course-en/03-undo.md"></kb-source>').replace("worker-src 'self' blob:", "worker-src 'none'") } });
  page = await openPage(browser);
  await page.goto(`${server.url}host.html`);
  await page.locator('kb-source .prose').waitFor();
  await page.locator('kb-search #q').click();
  await page.keyboard.type('detached head');
  await page.locator('kb-search .hit').first().waitFor();
  assert.ok((await titles('kb-search')).length > 0);
  await page.keyboard.press('Enter');
  // The model would hold the page up: it is left out, and that is said.
  const status = page.locator('kb-search [data-status]');
  await page.waitForFunction(() => document.querySelector('kb-search').shadowRoot.querySelector('[data-status]').dataset.meaning === 'failed');
  assert.match(await status.textContent() ?? '', /not allowed to start a worker/);
  await page.locator('kb-search #q').fill('rebase');
  await page.locator('kb-search .hit').first().waitFor();
  assert.ok(page.problems.length > 0 && page.problems.every((problem) => /worker-src|Content Security Policy/i.test(problem)), `${page.problems}`);
});

test('parts and variables reach inside, the page’s own rules do not', async () => {
  server = await serveFolder(folder, { extra: { 'host.html': `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Host</title><link rel="icon" href="data:,">
<style>input { background: rgb(1, 2, 3) !important; } kb-search { --accent-ink: rgb(0, 0, 200); } kb-search::part(input) { border-radius: 3px; }</style>
<script type="module" src="kb/assets/kb-embed.js"></script></head><body><kb-search theme="light"></kb-search></body></html>` } });
  page = await openPage(browser);
  await page.goto(`${server.url}host.html`);
  const input = page.locator('kb-search #q');
  await input.waitFor();
  const style = await input.evaluate((element) => {
    const { backgroundColor, borderRadius } = getComputedStyle(element);
    return { backgroundColor, borderRadius, accent: getComputedStyle(element).getPropertyValue('--accent-ink').trim() };
  });
  assert.deepEqual(style, { backgroundColor: 'rgb(255, 255, 255)', borderRadius: '3px', accent: 'rgb(0, 0, 200)' });
  assert.deepEqual(page.problems, []);
});

test('<kb-modal>: Ctrl+K and / open it, but not while somebody types; Escape closes it', async () => {
  const violations = await open('<kb-modal></kb-modal>');
  const dialog = page.locator('kb-modal dialog');
  await page.getByRole('button', { name: 'Search this knowledge base' }).waitFor();
  await page.focus('#own');
  await page.keyboard.type('a/b');
  await page.keyboard.press('Control+k');
  assert.equal(await page.inputValue('#own'), 'a/b');
  assert.equal(await dialog.isVisible(), false);
  await page.evaluate(() => /** @type {any} */ (document.activeElement)?.blur());
  await page.keyboard.press('Control+k');
  await dialog.waitFor();
  await page.keyboard.type('branch');
  await page.locator('kb-modal .hit').first().waitFor();
  await page.keyboard.press('Escape');
  assert.equal(await page.locator('kb-modal #q').inputValue(), '', 'first the question goes');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });
  await page.keyboard.press('/');
  await dialog.waitFor();
  await page.keyboard.press('Control+k');
  await dialog.waitFor({ state: 'hidden' });
  await page.getByRole('button', { name: 'Search this knowledge base' }).click();
  await dialog.waitFor();
  await page.mouse.click(5, 5);
  await dialog.waitFor({ state: 'hidden' });
  assert.deepEqual(violations, []);
  assert.deepEqual(page.problems, []);
});

test('two elements share one model', async () => {
  await open('<kb-search></kb-search><kb-modal></kb-modal>');
  await page.locator('kb-search #q').fill('branch');
  await meaning('kb-search');
  await page.keyboard.press('Escape');
  await page.evaluate(() => /** @type {any} */ (document.activeElement)?.blur());
  await page.keyboard.press('Control+k');
  await page.keyboard.type('rebase');
  await page.locator('kb-modal .results[data-by="meaning"]').waitFor();
  assert.equal(page.workers().length, 2, 'one for words, one for meaning');
  assert.deepEqual(page.problems, []);
});

test('from another origin, where that origin allows it', async () => {
  const other = await serveFolder(folder, { headers: { 'access-control-allow-origin': '*' } });
  server = await serveFolder(folder, { extra: { 'host.html': `<!doctype html><html lang="en"><title>Host</title><link rel="icon" href="data:,"><kb-search></kb-search><script type="module" src="${other.url}kb/assets/kb-embed.js"></script></html>` } });
  page = await openPage(browser);
  await page.goto(`${server.url}host.html`);
  await page.locator('kb-search #q').fill('branch');
  await meaning('kb-search');
  await page.locator('kb-search .results[data-by="meaning"] .hit').first().waitFor();
  assert.ok((await page.locator('kb-search .hit-title a').first().getAttribute('href'))?.startsWith(`${other.url}kb/?doc=`));
  assert.deepEqual(page.problems, []);
  await other.close();
});

test('no knowledge base at the address is said in the element', async () => {
  await open('<kb-search src="nowhere"></kb-search>');
  await page.locator('kb-search #q').fill('branch');
  await page.locator('kb-search .notice-problem').waitFor();
  assert.match(await page.locator('kb-search .notice-problem').innerText(), /A file of the knowledge base is missing\./);
  assert.deepEqual(page.problems.filter((text) => !/status of 404/.test(text)), []);
});

test('360 pixels wide', async () => {
  await open('<kb-search></kb-search><kb-modal></kb-modal>', { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true });
  await page.locator('kb-search #q').fill('branch');
  await page.locator('kb-search .hit').first().waitFor();
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360);
  await page.getByRole('button', { name: 'Search this knowledge base' }).click();
  await page.locator('kb-modal dialog').waitFor();
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360);
  assert.deepEqual(page.problems, []);
});
