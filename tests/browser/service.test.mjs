// A knowledge base whose model a service has: the page asks the reader before it asks the service.

import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { answered, hits, statusText, waitFor } from './support/actions.mjs';
import { launch, openPage } from './support/browser.mjs';
import { embeddingService } from './support/embedding-service.mjs';
import { serve, siteOf } from './support/site.mjs';

const KEY = 'sk-test-0123456789-embedding';
const files = {
  'sea.md': '# At sea\n\nA ship leaves the harbour with the tide and comes back when the hold is full.\n',
  'kitchen.md': '# In the kitchen\n\nBread needs flour, water, salt, yeast and a good deal of patience.\n',
  'alps.md': '# In the Alps\n\nThe mountain is climbed from the north, early in the morning before the snow is soft.\n',
};

let browser;
/** @type {Awaited<ReturnType<typeof embeddingService>>} */
let service;
let built;
let server;
/** @type {Awaited<ReturnType<typeof openPage>>} */
let page;

before(async () => {
  browser = await launch();
  service = await embeddingService({ key: KEY });
  built = await siteOf(files, ['--no-cache', '--embedder', 'ollama', '--embedder-url', service.url]);
  server = await serve(built.site);
});
afterEach(async () => {
  await page?.context().close();
  Object.assign(service.state, { admit: true, away: false });
});
after(async () => {
  await browser?.close();
  await server?.close();
  await built?.remove();
  await service?.close();
});

/** Opens the page, where nothing was allowed yet. */
async function open(options = {}, url = server.url) {
  service.asked.length = 0;
  page = await openPage(browser, options);
  await page.goto(url);
  await waitFor(page, 'words', 'ready');
  await waitFor(page, 'meaning', 'off');
}

async function connect() {
  await page.locator('[data-status-actions] button').click();
  await page.locator('.llm-dialog .button-main').click();
}

test('questions go to the service when the reader lets them, when they pause, and to nobody else', async () => {
  await open();
  assert.match(await statusText(page) ?? '', /nomic-embed-text of Ollama/);
  await page.fill('#q', 'vessel');
  await page.waitForFunction(() => document.querySelector('.results-count')?.textContent === '0 results');
  assert.deepEqual(service.asked, [], 'nothing is asked before the reader agrees');

  await page.locator('[data-status-actions] button').click();
  assert.equal(await page.inputValue('.llm-dialog [name=baseUrl]'), service.url);
  assert.equal(await page.locator('.llm-dialog [name=key]').count(), 0, 'Ollama takes no key');
  assert.match(await page.locator('.llm-dialog').innerText(), /sent to the address below/);
  await page.locator('.llm-dialog .button-main').click();
  await page.locator('.llm-dialog').waitFor({ state: 'detached' });
  await waitFor(page, 'meaning', 'ready');
  await answered(page, 'vessel', 'meaning');
  assert.equal((await hits(page))[0].path.split('/').pop(), 'sea.md');
  assert.match(await statusText(page) ?? '', /by meaning, with nomic-embed-text/);

  // Letter by letter: one question is sent, the whole one.
  service.asked.length = 0;
  await page.fill('#q', '');
  await page.locator('#q').pressSequentially('the loaf', { delay: 40 });
  await answered(page, 'the loaf', 'meaning');
  assert.equal((await hits(page))[0].path.split('/').pop(), 'kitchen.md');
  assert.deepEqual(service.asked.map(({ texts }) => texts), [['search_query: the loaf']]);

  // The answer without a language model is chosen by the service too, and is asked for in batches.
  await page.fill('#q', 'what does bread need');
  await answered(page, 'what does bread need', 'meaning');
  await page.locator('[data-answer]').click();
  await page.locator('.answer[data-kind="extractive"]').waitFor();
  assert.match(await page.locator('.answer-text').innerText(), /flour/);

  // Another visit remembers; words only is a choice as ever.
  await page.goto(`${server.url}?q=summit`);
  await answered(page, 'summit', 'meaning');
  assert.equal((await hits(page))[0].path.split('/').pop(), 'alps.md');
  await page.locator('[data-status-actions] button').click();
  await waitFor(page, 'meaning', 'off');
  assert.deepEqual(page.problems, []);
});

test('a service that goes away leaves the words, and is there again when the reader tries again', async () => {
  await open();
  await connect();
  await waitFor(page, 'meaning', 'ready');
  service.state.away = true;
  await page.fill('#q', 'bread');
  await waitFor(page, 'meaning', 'failed');
  await answered(page, 'bread', 'words');
  assert.equal((await hits(page))[0].path.split('/').pop(), 'kitchen.md');
  assert.match(await statusText(page) ?? '', /does not answer/);
  service.state.away = false;
  await page.locator('[data-status-actions] button').first().click();
  await waitFor(page, 'meaning', 'ready');
  await answered(page, 'bread', 'meaning');
  // The browser itself reports the requests that failed.
  assert.deepEqual(page.problems.filter((problem) => !problem.includes('net::ERR')), []);
});

test('an origin that is refused is told apart from a server that is down, with the line that admits it', async () => {
  await open({ locale: 'zh-CN' });
  assert.match(await statusText(page) ?? '', /Ollama 的模型 nomic-embed-text/);
  service.state.admit = false;
  await connect();
  await page.locator('.llm-line').waitFor();
  assert.match(await page.locator('.llm-line').innerText(), /^OLLAMA_ORIGINS=http:\/\/localhost:\d+ ollama serve$|^OLLAMA_ORIGINS=http:\/\/127/);
  await page.fill('.llm-dialog [name=baseUrl]', 'http://127.0.0.1:9');
  await page.locator('.llm-dialog .button-main').click();
  await page.waitForFunction(() => document.querySelector('.llm-result')?.textContent?.includes('127.0.0.1:9'));
  service.state.admit = true;
  await page.fill('.llm-dialog [name=baseUrl]', service.url);
  await page.locator('.llm-dialog .button-main').click();
  await waitFor(page, 'meaning', 'ready');
});

test('a key is sent to its service and found nowhere else', async () => {
  process.env.OPENAI_API_KEY = KEY;
  const own = await siteOf(files, ['--no-cache', '--embedder', 'openai', '--embedder-url', `${service.url}/v1`]);
  delete process.env.OPENAI_API_KEY;
  const at = await serve(own.site);
  try {
    await open({}, at.url);
    await page.locator('[data-status-actions] button').click();
    await page.fill('.llm-dialog [name=key]', 'sk-wrong');
    await page.locator('.llm-dialog .button-main').click();
    await page.waitForFunction(() => /key is missing or wrong/.test(document.querySelector('.llm-result')?.textContent ?? ''));
    await page.fill('.llm-dialog [name=key]', KEY);
    await page.locator('.llm-dialog .button-main').click();
    await waitFor(page, 'meaning', 'ready');
    await page.fill('#q', 'vessel');
    await answered(page, 'vessel', 'meaning');
    assert.equal(service.asked.at(-1)?.authorization, `Bearer ${KEY}`);
    const places = () => page.evaluate(() => ({
      url: location.href, html: document.documentElement.outerHTML, local: JSON.stringify(localStorage), tab: JSON.stringify(sessionStorage), cookies: document.cookie,
    }));
    for (const [place, content] of Object.entries(await places())) assert.ok(!content.includes(KEY), place);
    // For this tab, if the reader says so.
    await page.reload();
    await waitFor(page, 'meaning', 'off');
    assert.match(await statusText(page) ?? '', /meaning needs the model/);
    await page.locator('[data-status-actions] button').last().click();
    await page.fill('.llm-dialog [name=key]', KEY);
    await page.check('.llm-dialog [name=remember]');
    await page.locator('.llm-dialog .button-main').click();
    await waitFor(page, 'meaning', 'ready');
    const { tab, ...others } = await places();
    assert.ok(tab.includes(KEY));
    for (const [place, content] of Object.entries(others)) assert.ok(!content.includes(KEY), place);
    await page.reload();
    await waitFor(page, 'meaning', 'ready');
    assert.deepEqual(page.problems.filter((problem) => !problem.includes('401')), []);
  } finally {
    await at.close();
    await own.remove();
  }
});
