// Answers in the page: sentences of the passages, a language model behind a real connection, and everything that can go wrong with it.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { promisify } from 'node:util';
import { answered, waitFor } from './support/actions.mjs';
import { launch, openPage } from './support/browser.mjs';
import { languageModel } from './support/llm.mjs';
import { LONG, tokens } from './support/long.mjs';
import { demoSite, kb, root, serve } from './support/site.mjs';

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

test('a language model prepares the search where the reader lets it: other words are looked up, and it chooses the passages', async () => {
  const rules = (body) => body.messages[0].content;
  const reply = (body) => {
    if (/"rewrite"/.test(rules(body))) return { pieces: ['{"intent": "how-to", "rewrite": "take back a pushed commit", ', '"sub_questions": []}'] };
    // The last passages first.
    if (/JSON array/.test(rules(body))) return { pieces: [JSON.stringify(JSON.parse(body.messages[1].content).passages.map(({ n }) => n).reverse())] };
    return { pieces: ['So it is [1].'] };
  };
  model = await languageModel({ reply });
  await open();
  await page.locator('[data-llm]').click();
  await page.locator('.llm-dialog [name=provider]').selectOption('ollama');
  await page.fill('.llm-dialog [name=baseUrl]', model.url);
  await page.fill('.llm-dialog [name=model]', 'tiny:1b');
  await page.locator('.llm-dialog details summary').click();
  assert.equal(await page.isChecked('.llm-dialog [name=helps]'), false, 'nobody is helped unasked');
  await page.check('.llm-dialog [name=helps]');
  await page.locator('.llm-dialog .button-main').click();
  await ask('generated');
  const calls = model.asked.filter(({ path }) => path === '/api/chat').map(({ body }) => body);
  assert.equal(calls.length, 3);
  assert.equal(calls[0].messages[1].content, QUESTION);
  const { passages } = JSON.parse(calls[1].messages[1].content);
  assert.ok(passages.length > 5 && passages.length <= 25, `${passages.length}`);
  // What was last in the search is first in the prompt.
  const first = calls[2].messages[1].content.split('<passage n="1"')[1].split('<passage n="2"')[0];
  assert.ok(first.includes(passages.at(-1).text.slice(0, 40)), first);
  await page.locator('.answer-debug summary').click();
  assert.match(await page.locator('.answer-debug').innerText(), /also looked up: take back a pushed commit/);
  assert.deepEqual(page.problems, []);
});

test('a language model that prepares nothing of use changes nothing', async () => {
  model = await languageModel({ reply: () => ({ pieces: ['I would say yes.'] }) });
  await open();
  const titles = await page.locator('.hit-title').allTextContents();
  await page.locator('[data-llm]').click();
  await page.locator('.llm-dialog [name=provider]').selectOption('ollama');
  await page.fill('.llm-dialog [name=baseUrl]', model.url);
  await page.fill('.llm-dialog [name=model]', 'tiny:1b');
  await page.locator('.llm-dialog details summary').click();
  await page.check('.llm-dialog [name=helps]');
  await page.locator('.llm-dialog .button-main').click();
  await ask('generated');
  const calls = model.asked.filter(({ path }) => path === '/api/chat').map(({ body }) => body.messages[1].content);
  assert.equal(calls.length, 3);
  const { passages } = JSON.parse(calls[1]);
  assert.ok(calls[2].split('<passage n="1"')[1].includes(passages[0].text.slice(0, 40)));
  assert.ok(titles.length > 0);
  assert.deepEqual(page.problems, []);
});

test('an answer rests on no more than the author of the site allows', async () => {
  model = await languageModel();
  const folder = await mkdtemp(join(tmpdir(), 'kb-limits-'));
  const site = join(folder, 'site');
  await writeFile(join(folder, 'kb.toml'), `[[source]]\npath = ${JSON.stringify(join(root, 'docs/course-en'))}\n[llm]\npassages = 2\ncontext = 300\n`);
  await kb('build', '--config', join(folder, 'kb.toml'), '--out', site, '--no-model', '-q');
  const own = await serve(site);
  try {
    page = await openPage(browser);
    await page.goto(`${own.url}?q=undo+a+commit`);
    await page.locator('[data-answer]').waitFor();
    await setUp();
    await ask('generated');
    const sent = model.asked.find(({ path }) => path === '/api/chat')?.body.messages[1].content ?? '';
    const texts = [...sent.matchAll(/<passage n="\d+"[^>]*>\n([\s\S]*?)\n<\/passage>/g)].map(([, text]) => text);
    assert.ok(texts.length >= 1 && texts.length <= 2, sent);
    assert.ok(texts.join('').length <= 300, `${texts.join('').length} characters`);
    assert.deepEqual(page.problems, []);
  } finally {
    await own.close();
    await rm(folder, { recursive: true });
  }
});

test('an OpenAI-compatible service: the key goes into one header and nowhere else', async () => {
  const key = 'sk-secret-7c1e';
  model = await languageModel({ reply: () => ({ pieces: ['Fetch and merge first [1].'] }) });
  await open();
  /** @type {string[]} */
  const said = [];
  page.on('console', (message) => said.push(message.text()));
  /** @type {string[]} */
  const sent = [];
  page.on('request', async (request) => {
    const line = JSON.stringify([request.url(), await request.allHeaders(), request.postData()]);
    if (line.includes(key)) sent.push(`${request.method()} ${request.url()}`);
  });
  await setUp({ provider: 'openai-compatible', baseUrl: `${model.url}/v1`, name: 'tiny', key });
  await ask('generated');
  const last = model.asked.at(-1);
  assert.equal(last?.path, '/v1/chat/completions');
  assert.equal(last?.headers.authorization, `Bearer ${key}`);
  assert.ok(!JSON.stringify(last?.body).includes(key));
  /** Everywhere that something can be kept: address, document with its attributes and fields, storage, caches with their bodies, databases. */
  const places = () => page.evaluate(async () => {
    const cached = [];
    for (const name of await caches.keys()) {
      const cache = await caches.open(name);
      for (const request of await cache.keys()) {
        const response = await cache.match(request);
        cached.push(request.url, JSON.stringify([...request.headers]), await response?.text());
      }
    }
    const fields = [...document.querySelectorAll('input, textarea, select')].map((field) => /** @type {HTMLInputElement} */ (field).value);
    const databases = JSON.stringify(await indexedDB.databases());
    const workers = (await navigator.serviceWorker?.getRegistrations?.() ?? []).map(({ scope }) => scope);
    return {
      address: location.href, history: JSON.stringify(history.state), title: document.title, document: document.documentElement.outerHTML, fields: fields.join('\n'),
      local: JSON.stringify(localStorage), tab: JSON.stringify(sessionStorage), cookies: document.cookie, caches: cached.join('\n'), databases, workers: workers.join(' '),
    };
  });
  for (const [place, content] of Object.entries(await places())) assert.ok(!content?.includes(key), place);
  assert.deepEqual(sent, [`POST ${model.url}/v1/chat/completions`]);
  assert.ok(!said.join('\n').includes(key), 'the console');
  const bundle = await promisify(execFile)('grep', ['-rl', key, demo.site]).then(({ stdout }) => stdout, ({ stdout }) => stdout);
  assert.equal(bundle, '', 'the files of the site');
  // Remembered for this tab only when the reader says so.
  await page.goto(`${server.url}?q=branch`);
  await page.locator('[data-llm]').waitFor();
  assert.ok(!(await places()).tab.includes(key));
  await setUp({ provider: 'openai-compatible', baseUrl: `${model.url}/v1`, name: 'tiny', key, remember: true });
  const { tab, ...others } = await places();
  assert.ok(tab.includes(key));
  for (const [place, content] of Object.entries(others)) assert.ok(!content?.includes(key), place);
  assert.deepEqual(page.problems, []);
});

test('DeepSeek without a key: said before anything is sent', async () => {
  model = await languageModel();
  await open();
  await setUp({ provider: 'deepseek', name: 'deepseek-flash' });
  await page.locator('[data-answer]').click();
  await page.locator('.answer .notice-problem').getByText('needs a key').waitFor();
  assert.equal(model.asked.length, 0);
  assert.deepEqual(page.problems, []);
});

test('a server that has cut the prompt is told of, and a follow-up is completed before it is searched', async () => {
  let turn = 0;
  model = await languageModel({ reply: () => ({ pieces: [['Fetch first [1].', 'why was my push declined because of a teammate', 'They were faster [1].'][turn++] ?? ''], read: 30 }) });
  await open();
  await setUp();
  await ask('generated');
  await page.locator('.answer-foot').getByText('has cut the beginning of the prompt').waitFor();
  await page.fill('.answer-next input', 'and why was that?');
  await page.locator('.answer-next button').click();
  await page.locator('.answer[data-kind="generated"]').nth(1).waitFor();
  const [, rewriting, answering] = model.asked.filter(({ path }) => path === '/api/chat');
  assert.match(rewriting.body.messages[1].content, /Q: my upload was declined[^]*A: Fetch first[^]*Last question: and why was that\?/);
  assert.match(answering.body.messages[1].content, /Question: why was my push declined because of a teammate$/);
  assert.equal(await page.locator('.answer h2').nth(1).innerText(), 'and why was that?');
  assert.equal(await page.locator('.answer-understood').innerText(), 'Understood as: why was my push declined because of a teammate');
  // The whole conversation as Markdown, each turn with its sources.
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.locator('.answer').nth(1).getByRole('button', { name: 'Copy the conversation' }).click();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(copied, /## my upload was declined[^]*Fetch first \[1\][^]*1\. \[[^]*\]\(http[^]*## and why was that\?[^]*They were faster/);
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

for (const provider of ['ollama', 'openai-compatible']) {
  test(`a reply of thoughts alone is no answer, and the thoughts are not shown as one: ${provider}`, async () => {
    model = await languageModel({ reply: () => ({ reasoning: ['Let me ', 'think of secret-plan.'], pieces: [] }) });
    await open();
    await setUp({ provider, baseUrl: provider === 'ollama' ? model.url : `${model.url}/v1` });
    await page.locator('[data-answer]').click();
    const notice = page.locator('.answer .notice-problem');
    await notice.waitFor();
    assert.ok((await notice.innerText()).trim().length > 20);
    assert.equal(await page.locator('.answer-text').evaluateAll((all) => all.some((one) => one.textContent.includes('secret-plan'))), false);
    assert.ok(await page.locator('.hit').count(), 'the results are still there');
    assert.deepEqual(page.problems, []);
  });
}

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

for (const [name, reply] of Object.entries(LONG)) {
  test(`an answer of 50,000 tokens is drawn whole and safely: ${name}`, async () => {
    model = await languageModel({ reply: () => ({ pieces: tokens(reply, 40), burst: 50 }) });
    await open();
    await setUp();
    await page.evaluate(() => {
      window.longest = 0;
      new PerformanceObserver((list) => list.getEntries().forEach(({ duration }) => (window.longest = Math.max(window.longest, duration)))).observe({ type: 'longtask' });
    });
    await page.locator('[data-answer]').click();
    await page.locator('.answer:not([aria-busy])').waitFor({ timeout: 120_000 });
    // How long is for `measure-answers.mjs`, on a machine that does nothing else.
    console.log(`# ${name}: longest task ${await page.evaluate(() => window.longest)} ms`);
    // A long paragraph is drawn as several, cut between words: the space there is a new line on the page.
    const text = await page.locator('.answer-text').evaluate((root) => [...root.children].map((part) => part.textContent).join(' '));
    // What is there once for each number in the source is there once for each on the page: nothing is lost, and nothing comes twice.
    const [written, drawn] = {
      prose: [/Sentence \d+ is/g, /Sentence \d+ is/g], paragraph: [/word\d+ goes/g, /word\d+ goes/g], table: [/\| name \d+ \|/g, /name \d+/g],
      code: [/fn f\d+\(/g, /fn f\d+\(/g], list: [/item \*\d+\*/g, /item \d+/g], formulas: [/\\frac\{\d+\}/g, /\\frac\{\d+\}/g],
    }[name] ?? [];
    const count = (of, from) => from.match(of)?.length ?? 0;
    assert.ok(count(written, reply) > 1000, 'long enough');
    assert.equal(count(drawn, text), count(written, reply));
    assert.equal(await page.locator('.answer-text img, .answer-text script, .answer-text a[href^="javascript"]').count(), 0);
    assert.equal(await page.evaluate(() => window.hacked), undefined);
    const kinds = { table: 'td', code: 'pre code', list: 'ol > li', formulas: '.tex', prose: 'strong', paragraph: 'p' };
    assert.ok(await page.locator(`.answer-text ${kinds[name]}`).count() >= 10, kinds[name]);
    if (name === 'code') assert.equal(await page.locator('.answer-text .cite, .answer-text p').count(), 0, 'all of it is code');
    if (name === 'table') assert.equal(await page.locator('.answer-text p').count(), 0, 'all of it is a table');
    assert.deepEqual(page.problems, []);
  });
}

test('10,000 mutated pieces of hostile replies: nothing but text and harmless elements', async () => {
  await open();
  const found = await page.evaluate(async () => {
    const { answerText } = await import(new URL('assets/components/answer-text.js', location.href).href);
    const { en } = await import(new URL('assets/i18n/en.js', location.href).href);
    const seeds = ['<img src=x onerror="window.hacked=1">', '[x](javascript:window.hacked=2)', '[x]( java\nscript:alert(1))', '![p](data:text/html,<script>1</script>)', '<svg/onload=alert(1)>', '<a href="javascript:1">y</a>',
      '`code` **bold** *it*', '| a | b |\n|---|---|\n| <b>1</b> | [2](http://x/) |\n', '```html\n<script>window.hacked=3</script>\n```\n', '$$\\href{javascript:1}{x}$$', '[r]: javascript:window.hacked=4\n[r]', '<http://a/"onmouseover="1>', '- [ ] t\n  1. u\n', '> q\n\n', '# h {#"><script>}\n', '[^1]: <iframe src=//x>\n', '\uE000\uE0011\uE002\uE003', '\u202E\u0000&lt;script&gt;'];
    let seed = 7;
    const random = (below) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor(seed / 2_147_483_648 * below);
    };
    const mutated = (text) => {
      const chars = [...text];
      for (let n = random(4); n > 0; n -= 1) {
        const at = random(chars.length + 1);
        const kind = random(3);
        if (kind === 0) chars.splice(at, 1);
        else if (kind === 1) chars.splice(at, 0, '<>()[]`"\'|\\:#\n $&*_\uE002'[random(20)] ?? '');
        else chars.splice(at, 0, ...[...seeds[random(seeds.length)]].slice(0, random(9)));
      }
      return chars.join('');
    };
    const root = document.createElement('div');
    document.body.append(root);
    const bad = [];
    let marked = 0;
    for (let round = 0; round < 100; round += 1) {
      const drawn = answerText(root, { strings: () => en, cite: (n) => document.createElement('button') });
      drawn.clear();
      const segments = [];
      for (let i = 0; i < 100; i += 1) {
        segments.push({ kind: 'text', text: mutated(seeds[random(seeds.length)]) + ['', '\n', '\n\n', ' '][random(4)] });
        if (!random(9)) segments.push({ kind: 'citation', n: 1 + random(5), passage: 0 });
      }
      segments.forEach((segment) => drawn.add(segment));
      const length = segments.reduce((sum, segment) => sum + (segment.text?.length ?? 0), 0);
      const cuts = Array.from({ length: 8 }, () => random(length)).sort((a, b) => a - b);
      await drawn.finish(segments, [0, 2, 4, 6].map((i) => ({ start: cuts[i], end: cuts[i + 1], verdict: 'weak' })));
      marked += root.querySelectorAll('.answer-weak').length;
      for (const element of root.querySelectorAll('*')) {
        const named = !/^(div|p|h[2-6]|ul|ol|li|input|blockquote|pre|code|button|span|table|thead|tbody|tr|th|td|strong|em|del|s|a|hr|br|sup|sub|kbd|mark|section|details|summary|b|i|u)$/i.test(element.localName);
        const active = [...element.attributes].find(({ name, value }) => /^on|^src|^style|^action|^formaction/.test(name) || (name === 'href' && !/^(https?:|mailto:)/.test(value)));
        if (named || active || element.namespaceURI !== 'http://www.w3.org/1999/xhtml') bad.push(`${element.localName} ${active?.name ?? ''}=${active?.value ?? ''}`);
      }
      if (/[\uE000-\uE003]/.test(root.textContent)) bad.push('a stand-in is left');
    }
    return { bad: [...new Set(bad)], marked, hacked: window.hacked };
  });
  assert.deepEqual(found.bad, []);
  assert.ok(found.marked > 100, `${found.marked} places marked`);
  assert.equal(found.hacked, undefined);
  assert.deepEqual(page.problems, []);
});

test('in Chinese, on a phone, in the dark', async () => {
  await open('人工智能会瞎编吗', { locale: 'zh-CN', colorScheme: 'dark', viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true });
  await ask('extractive');
  assert.match(await page.locator('.answer-state').innerText(), /没有调用语言模型/);
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360);
  assert.deepEqual(page.problems, []);
});
