// Pictures of every state of the page, for people to look at: into KB_ARTEFACTS, or a folder of the system's temporary one.

import assert from 'node:assert/strict';
import { mkdir, readFile, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { answered, waitFor } from './support/actions.mjs';
import { launch, openPage } from './support/browser.mjs';
import { demoSite, root } from './support/site.mjs';
import { gate, serveFolder } from './support/static.mjs';

const out = process.env.KB_ARTEFACTS ?? join(tmpdir(), 'kb-screenshots');
const phone = { viewport: { width: 360, height: 740 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true };
const zh = { locale: 'zh-CN' };
const dark = { colorScheme: 'dark' };

let browser;
let demo;

before(async () => {
  await mkdir(out, { recursive: true });
  browser = await launch();
  demo = await demoSite();
});
after(async () => {
  await browser?.close();
  await demo?.remove();
});

const question = '怎么知道进步是不是碰巧';
const shot = (name, { address = '', options = {}, change = undefined, extra = {}, act }) => test(name, async () => {
  const server = await serveFolder(demo.site, { change, extra });
  const page = await openPage(browser, options);
  await page.goto(server.url + address);
  await act(page);
  await page.waitForTimeout(400); // movements come to rest
  const path = join(out, `${name}.png`);
  await page.screenshot({ path });
  assert.ok((await stat(path)).size > 5000);
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, 'nothing sticks out at the side');
  assert.deepEqual(page.problems, []);
  await page.context().close();
  await server.close();
});
const ready = (page) => waitFor(page, 'meaning', 'ready');
const byMeaning = (q) => (page) => answered(page, q, 'meaning');
const asked = (q) => `?q=${encodeURIComponent(q)}`;
const reading = (q) => async (page) => {
  await answered(page, q, 'meaning');
  await page.click('.hit-title a');
  await page.locator('.prose .passage').waitFor();
};

for (const [suffix, options] of [['light', {}], ['dark', dark], ['phone', phone], ['zh', zh], ['phone-zh-dark', { ...phone, ...zh, ...dark }]]) {
  shot(`home-${suffix}`, { options, act: ready });
  shot(`results-${suffix}`, { options, address: asked(question), act: byMeaning(question) });
  shot(`reader-${suffix}`, { options, address: asked(question), act: reading(question) });
}
shot('results-en', { address: asked('throw away my last edits'), act: byMeaning('throw away my last edits') });
shot('reader-zh-text', { options: zh, address: asked('机器怎样判断两句话意思差不多'), act: reading('机器怎样判断两句话意思差不多') });
shot('words-loading', { address: asked('branch'), change: (path) => (path.startsWith('kb/lexical-') ? gate().opened : undefined), act: (page) => page.locator('.ghost').first().waitFor() });
shot('model-loading', {
  address: asked('branch'), act: (page) => answered(page, 'branch', 'words'),
  change: (path) => (path === 'model/model.onnx' ? gate().opened : undefined),
});
shot('nothing-found', {
  address: asked('xylophone'), act: (page) => page.locator('.notice').waitFor(),
  change: (path) => (path === 'model/model.onnx' ? gate().opened : undefined),
});
shot('error', {
  address: asked('branch'), act: (page) => page.locator('.notice-problem').waitFor(),
  change: (path, bytes) => (path.startsWith('kb/lexical-') ? Buffer.from(bytes).fill(0, 40, 60) : undefined),
});

const host = (lang) => `<!doctype html><html lang="${lang}"><head><meta charset="utf-8"><title>Notes</title><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><link rel="icon" href="data:,">
<style>body { max-width: 44rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.6 sans-serif; }</style><script type="module" src="assets/kb-embed.js"></script></head>
<body><h1>${lang === 'zh' ? '课程讲义' : 'Course notes'}</h1><p>${lang === 'zh' ? '老师自己的网页。' : 'A page of the teacher’s own.'}</p><kb-search></kb-search><kb-modal></kb-modal></body></html>`;
const typed = (element, text) => async (page) => {
  if (element === 'kb-modal') await page.locator('kb-modal .trigger').click();
  await page.locator(`${element} #q`).fill(text);
  await page.locator(`${element} .results[data-by="meaning"] .hit`).first().waitFor({ timeout: 60_000 });
};
shot('element-light', { address: 'host.html', extra: { 'host.html': host('en') }, act: typed('kb-search', 'undo a commit') });
shot('dialog-light', { address: 'host.html', extra: { 'host.html': host('en') }, act: typed('kb-modal', 'undo a commit') });
shot('dialog-phone-zh-dark', { address: 'host.html', extra: { 'host.html': host('zh') }, options: { ...phone, ...zh, ...dark }, act: typed('kb-modal', '倒排索引') });
shot('element-reading', { address: 'host.html', extra: { 'host.html': host('zh') }, options: zh, act: async (page) => {
  await typed('kb-search', '倒排索引')(page);
  await page.locator('kb-search .hit-title a').first().click();
  await page.locator('kb-search .prose .passage').waitFor();
} });
for (const [suffix, options] of [['light', {}], ['phone-zh-dark', { ...phone, ...zh, ...dark }]]) {
  shot(`recent-${suffix}`, { options, act: async (page) => {
    await page.evaluate(() => localStorage.setItem('kb:/:recent', JSON.stringify(['人工智能会瞎编吗', 'throw away my last edits', '怎样求最短路'])));
    await page.reload();
    await page.locator('[data-recent] a').first().waitFor();
    await page.locator('[data-offline="ready"]').waitFor({ state: 'attached', timeout: 60_000 });
  } });
}
shot('documents-without-script', { address: 'documents.html', act: (page) => page.locator('.shelf a').first().waitFor() });

const elements = (lang) => `<!doctype html><html lang="${lang}"><head><meta charset="utf-8"><title>Notes</title><meta name="viewport" content="width=device-width"><link rel="icon" href="data:,">
<style>:root { color-scheme: light dark; } body { max-width: 44rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.6 sans-serif; } body > * { margin-bottom: 1rem; }</style><script type="module" src="assets/kb-embed.js"></script></head>
<body><kb-settings></kb-settings><kb-status></kb-status><kb-ask></kb-ask></body></html>`;
for (const [suffix, lang, options] of [['light', 'en', {}], ['phone-zh-dark', 'zh', { ...phone, ...zh, ...dark }]]) {
  shot(`ask-${suffix}`, { address: 'host.html', extra: { 'host.html': elements(lang) }, options, act: async (page) => {
    await page.locator('kb-ask #q').fill(lang === 'zh' ? '倒排索引为什么快' : 'how do I undo the last commit');
    await page.keyboard.press('Enter');
    await page.locator('kb-ask .answer[data-kind="extractive"]').waitFor({ timeout: 90_000 });
  } });
}
shot('lecture', { address: 'lecture.html', extra: { 'lecture.html': (await readFile(join(root, 'docs/examples/lecture-zh.html'), 'utf8')).replace('</body>', '<script type="module" src="assets/kb-embed.js"></script><kb-modal></kb-modal></body>').replace('<head>', '<head><link rel="icon" href="data:,">') }, options: zh, act: (page) => page.locator('kb-modal .trigger').waitFor() });
