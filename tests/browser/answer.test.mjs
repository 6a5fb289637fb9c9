// Answers in the page: sentences of the passages, a language model behind a real connection, and everything that can go wrong with it.

import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { answered, waitFor } from './support/actions.mjs';
import { launch, openPage } from './support/browser.mjs';
import { languageModel } from './support/llm.mjs';
import { demoSite, serve } from './support/site.mjs';

let browser;
let demo;
let server;
/** @type {Awaited<ReturnType<typeof openPage>>} */
let page;
/** @type {Awaited<ReturnType<typeof languageModel>> | undefined} */
let model;

before(async () => {
  browser = await launch();
  demo = await demoSite();
  server = await serve(demo.site);
});
afterEach(async () => {
  await page?.context().close();
  await model?.close();
  model = undefined;
});
after(async () => {
  await browser?.close();
  await server?.close();
  await demo?.remove();
});

const QUESTION = 'my upload was declined because a teammate was faster';

/** Opens a question with the model for meaning at hand. */
async function open(question = QUESTION, options = {}) {
  page = await openPage(browser, options);
  await page.goto(`${server.url}?q=${encodeURIComponent(question)}`);
  await waitFor(page, 'meaning', 'ready');
  await answered(page, question, 'meaning');
  await page.locator('[data-answer]').waitFor();
}

/** Sets up a language model in the dialog. */
async function setUp({ provider = 'ollama', baseUrl = model?.url ?? '', name = 'tiny:1b', key = '', remember = false } = {}) {
  await page.locator('[data-llm]').click();
  await page.locator('.llm-dialog [name=provider]').selectOption(provider);
  await page.fill('.llm-dialog [name=baseUrl]', baseUrl);
  await page.fill('.llm-dialog [name=model]', name);
  if (key) await page.fill('.llm-dialog [name=key]', key);
  if (remember) await page.check('.llm-dialog [name=remember]');
  await page.locator('.llm-dialog .button-main').click();
  await page.locator('.llm-dialog').waitFor({ state: 'detached' });
}

/** Asks and waits for the answer of a kind. @param {string} kind */
async function ask(kind) {
  await page.locator('[data-answer]').click();
  await page.locator(`.answer[data-kind="${kind}"]`).waitFor({ timeout: 30_000 });
}

const answerText = () => page.locator('.answer-text').innerText();

test('without a language model: sentences of the passages, word for word, each opening its passage', async () => {
  await open();
  await ask('extractive');
  const cites = page.locator('.answer-text .cite');
  assert.ok(await cites.count() >= 1);
  const [first] = (await answerText()).split('\n');
  assert.ok(first.length > 20, first);
  await cites.first().click();
  const passage = page.locator('.answer-sources details[open] .answer-passage');
  const said = (await passage.innerText()).replace(/[`*_\s]/g, '');
  // The sentence stands in the passage that it cites.
  const sentence = first.replace(/\s*\d+\s*$/, '').replace(/[`*_\s]/g, '').slice(0, 30);
  assert.ok(said.includes(sentence), `${sentence} in ${said}`);
  await page.locator('.answer-sources details[open] .answer-links a').first().click();
  await page.locator('.prose .passage').waitFor();
  await page.goBack();
  assert.equal(await page.locator('.answer').count(), 1, 'the answer is still there');
  assert.deepEqual(page.problems, []);
});

test('a question that the base has nothing about is refused without a call, in its language', async () => {
  model = await languageModel();
  await open('哪家餐厅的红烧肉最好吃');
  await setUp();
  await ask('nothing');
  assert.match(await answerText(), /知识库中没有找到相关信息/);
  assert.ok(await page.locator('.answer-sources li').count() >= 1, 'the nearest passages are shown');
  assert.deepEqual(model.asked.filter(({ path }) => path === '/api/chat'), []);
  assert.deepEqual(page.problems, []);
});

test('Ollama: tested, asked, streamed; citations checked, hostile text stays text', async () => {
  model = await languageModel({
    reply: () => ({
      reasoning: ['Let me ', 'think.'],
      pieces: ['Fetch', ' first, then', ' push again [', '2][1', ']. <img src=x onerror="window.hacked=1"> [x](javascript:window.hacked=2) Sure [9].\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n', '```\ncode [1]\n```\n', '结束【1】。'],
    }),
  });
  await open();
  await page.locator('[data-llm]').click();
  await page.locator('.llm-dialog [name=provider]').selectOption('ollama');
  await page.fill('.llm-dialog [name=baseUrl]', model.url);
  await page.locator('.llm-test .button').click();
  await page.locator('.llm-result[data-tone="good"]').waitFor();
  assert.equal(await page.inputValue('.llm-dialog [name=model]'), 'tiny:1b', 'the first of the server’s list');
  await page.locator('.llm-dialog .button-main').click();
  await ask('generated');

  const request = model.asked.find(({ path }) => path === '/api/chat');
  assert.equal(request?.body.model, 'tiny:1b');
  assert.equal(request?.body.options.temperature, 0.2);
  assert.match(request?.body.messages[1].content ?? '', /<passage n="1"/);
  assert.equal(request?.headers.authorization, undefined);
  const text = await answerText();
  assert.match(text, /<img src=x onerror="window\.hacked=1">/);
  assert.equal(await page.locator('.answer img, .answer a[href^="javascript"]').count(), 0);
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  // [2] came first, so it is 1 now; [9] names nothing and is gone; the one in the code is code.
  assert.deepEqual(await page.locator('.answer-text .cite').allTextContents(), ['1', '2', '2']);
  assert.match(await page.locator('.answer-text code').innerText(), /code \[1\]/);
  assert.equal(await page.locator('.answer-text td').count(), 2);
  assert.match(await page.locator('.answer-thoughts p').textContent() ?? '', /Let me think\./);
  await page.locator('.answer-debug summary').click();
  assert.match(await page.locator('.answer-debug').innerText(), /321 \+ 7 tokens.*1 citation of nothing taken out/);
  assert.deepEqual(page.problems, []);
});

test('an OpenAI-compatible service: the key goes into one header and nowhere else', async () => {
  const key = 'sk-secret-7c1e';
  model = await languageModel({ reply: () => ({ pieces: ['Fetch and merge first [1].'] }) });
  await open();
  await setUp({ provider: 'openai-compatible', baseUrl: `${model.url}/v1`, name: 'tiny', key });
  await ask('generated');
  assert.equal(model.asked.at(-1)?.path, '/v1/chat/completions');
  assert.equal(model.asked.at(-1)?.headers.authorization, `Bearer ${key}`);
  const places = () => page.evaluate(async () => {
    const kept = await Promise.all((await caches.keys()).map(async (name) => (await (await caches.open(name)).keys()).map(({ url }) => url)));
    return [location.href, document.documentElement.outerHTML, JSON.stringify(localStorage), JSON.stringify(sessionStorage), kept.flat().join(' ')];
  });
  for (const place of await places()) assert.ok(!place.includes(key), place.slice(0, 200));
  // Remembered for this tab only when the reader says so.
  await page.locator('[data-answer], .brand').first().click();
  await page.goto(`${server.url}?q=branch`);
  await page.locator('[data-llm]').waitFor();
  await setUp({ provider: 'openai-compatible', baseUrl: `${model.url}/v1`, name: 'tiny', key, remember: true });
  const [address, html, local, tab] = await places();
  assert.ok(tab.includes(key));
  for (const place of [address, html, local]) assert.ok(!place.includes(key));
  assert.deepEqual(page.problems, []);
});

test('the first word is there at once, and a stop ends the traffic', async () => {
  model = await languageModel({ reply: () => ({ pieces: ['word '], pause: 20, endless: true }) });
  await open();
  await setUp();
  await page.locator('[data-answer]').click();
  await page.waitForFunction(() => document.querySelector('.answer-text')?.textContent?.includes('word'));
  const stopped = performance.now();
  await page.locator('.answer-head .button').click();
  await page.getByText('Stopped.').waitFor();
  const { state } = model;
  while (!state.closed && performance.now() - stopped < 5000) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.ok(state.closed, 'the connection was closed');
  assert.deepEqual(page.problems, []);
});

const refusals = {
  'a wrong key': [{ status: 401, body: '{"error":{"message":"bad key sk-secret-7c1e"}}' }, /key is missing or wrong/],
  'no balance': [{ status: 402, body: '{"error":{"message":"Insufficient Balance"}}' }, /no balance or quota/],
  'a web page instead of an answer': [{ body: '<html><h1>Sign in</h1>' }, /A web page came instead/],
  'an error in the middle': [{ body: '{"message":{"content":"So "},"done":false}\n{"error":"out of memory"}\n' }, /in the middle of the answer/],
};
for (const [name, [reply, sentence]] of Object.entries(refusals)) {
  test(`what went wrong is said: ${name}`, async () => {
    model = await languageModel({ reply: () => /** @type {any} */ (reply) });
    await open();
    await setUp({ key: 'sk-secret-7c1e' });
    await page.locator('[data-answer]').click();
    const notice = page.locator('.answer .notice-problem');
    await notice.waitFor();
    assert.match(await notice.innerText(), /** @type {RegExp} */ (sentence));
    assert.doesNotMatch(await notice.innerText(), /secret/);
    // The browser itself logs a reply with such a status.
    assert.deepEqual(page.problems.filter((problem) => !/status of 40[12]/.test(problem)), []);
  });
}

test('the test button tells a server that does not admit this page from one that is down', async () => {
  model = await languageModel({ admit: false });
  await open();
  await page.locator('[data-llm]').click();
  await page.locator('.llm-dialog [name=provider]').selectOption('ollama');
  const tried = async (address) => {
    await page.fill('.llm-dialog [name=baseUrl]', address);
    await page.locator('.llm-test .button').click();
    await page.locator('.llm-result[data-tone="problem"]').waitFor();
    return page.locator('.llm-result').innerText();
  };
  assert.match(await tried(model.url), new RegExp(`OLLAMA_ORIGINS=${new URL(server.url).origin} ollama serve`));
  assert.match(await tried('http://127.0.0.1:9'), /Nothing answers at http:\/\/127\.0\.0\.1:9/);
  assert.match(await tried('not an address'), /no address of a service/);
  // Refused requests are what this is about; the browser logs them.
  assert.deepEqual(page.problems.filter((problem) => !/CORS|ERR_FAILED|ERR_UNSAFE_PORT|ERR_CONNECTION_REFUSED/.test(problem)), []);
});

test('a long answer never holds up the page', async () => {
  const paragraph = 'A sentence about branches and commits, as long as such sentences usually are [1].\n\n';
  const piece = paragraph.repeat(40);
  model = await languageModel({ reply: () => ({ pieces: Array.from({ length: 60 }, () => piece) }) });
  await open();
  await setUp();
  await page.evaluate(() => {
    window.longest = 0;
    new PerformanceObserver((list) => list.getEntries().forEach(({ duration }) => (window.longest = Math.max(window.longest, duration)))).observe({ type: 'longtask' });
  });
  await ask('generated');
  console.log(`# 60 pieces of ${piece.length} characters: longest task ${await page.evaluate(() => window.longest)} ms`);
  assert.ok((await answerText()).length > 60 * piece.length * 0.9);
  assert.deepEqual(page.problems, []);
});

test('in Chinese, on a phone, in the dark', async () => {
  await open('人工智能会瞎编吗', { locale: 'zh-CN', colorScheme: 'dark', viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true });
  await ask('extractive');
  assert.match(await page.locator('.answer-state').innerText(), /没有调用语言模型/);
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360);
  assert.deepEqual(page.problems, []);
});
