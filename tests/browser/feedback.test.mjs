// What readers mark as useful or not becomes a file of questions, and `kb-builder eval` replays it.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, afterEach, before, test } from 'node:test';
import { answered, waitFor } from './support/actions.mjs';
import { launch, openPage } from './support/browser.mjs';
import { kb, serve, siteOf } from './support/site.mjs';

let browser;
let site;
let server;
/** @type {Awaited<ReturnType<typeof openPage>>} */
let page;

before(async () => {
  browser = await launch();
  site = await siteOf({
    'boiler.md': '# Boiler\n\n## Care\n\nThe boiler is serviced twice a year, in April and in October.\n\n## Noise\n\nA boiler that hums needs water.\n',
    'bicycle.md': '# Bicycle\n\n## Chain\n\nThe chain of a bicycle is oiled after every rain, and twice a year it is cleaned.\n',
  }, ['--no-model']);
  server = await serve(site.site);
});
afterEach(() => page?.context().close());
after(async () => {
  await browser?.close();
  await server?.close();
  await site?.remove();
});

async function open(question, options = {}) {
  page ??= await openPage(browser, options);
  await page.goto(`${server.url}?q=${encodeURIComponent(question)}`);
  await waitFor(page, 'words', 'ready');
  await answered(page, question, 'words');
  await page.locator('[data-answer]').waitFor();
}

/** Marks the answer to a question. @param {boolean} useful */
async function markAnswer(useful) {
  await page.locator('[data-answer]').click();
  await page.locator('.answer:not([aria-busy])').waitFor();
  await page.locator('.answer [data-feedback]').nth(useful ? 0 : 1).click();
}

const result = (path) => page.locator(`.hit[data-document="source/${path}"]`).first();

test('marks on answers and results are downloaded as questions, and eval replays them', async () => {
  page = await openPage(browser);
  await open('how often is the boiler serviced');
  assert.equal(await page.locator('[data-feedback-kept]').isHidden(), true);
  await markAnswer(true);
  await open('twice a year');
  await result('bicycle.md').locator('[data-useful="true"]').click();
  await result('bicycle.md').getByText('Noted').waitFor();
  await result('boiler.md').locator('[data-useful="false"]').click();
  await open('purple elephants juggling');
  await markAnswer(true);
  await page.locator('[data-feedback-kept]').getByText('4 marks').waitFor();
  const download = page.waitForEvent('download');
  await page.locator('[data-feedback-export]').click();
  const file = await download;
  assert.equal(file.suggestedFilename(), 'feedback.jsonl');
  const path = await file.path();
  const lines = (await readFile(path, 'utf8')).trim().split('\n').map((line) => JSON.parse(line));
  assert.deepEqual(lines.map(({ question, expected, unwanted }) => ({ question, expected, unwanted })), [
    { question: 'how often is the boiler serviced', expected: ['source/boiler.md#care'], unwanted: undefined },
    { question: 'twice a year', expected: ['source/bicycle.md#chain'], unwanted: ['source/boiler.md#care'] },
    { question: 'purple elephants juggling', expected: 'unanswerable', unwanted: undefined },
  ]);

  const answers = JSON.parse(await kb('eval', '--answers', site.site, path, '-q'));
  assert.equal(answers.questions, 3);
  assert.deepEqual(answers.retrieval_hit, { count: 2, of: 2, share: 1 });
  assert.deepEqual(answers.refusals_right, { count: 1, of: 1, share: 1 });
  assert.equal(answers.unwanted_cited.of, 1);
  const rankings = JSON.parse(await kb('eval', path, '--site', site.site, '--mode', 'lexical', '-q', '--no-cache'));
  assert.deepEqual([rankings.queries, rankings.hit5, rankings.unwanted], [2, 1, { in_first_ten: 1, of: 1 }]);

  // It stays over a visit, and goes when the reader says so.
  await page.reload();
  await page.locator('[data-feedback-forget]').click();
  assert.equal(await page.locator('[data-feedback-kept]').isHidden(), true);
  assert.equal(await page.evaluate(() => JSON.stringify(localStorage).includes('boiler serviced')), false);
  assert.deepEqual(page.problems, []);
});

test('what was said last about a place counts, and a question keeps what it was narrowed down to', async () => {
  page = await openPage(browser, { locale: 'zh-CN' });
  await page.goto(server.url);
  await waitFor(page, 'words', 'ready');
  const text = await page.evaluate(async () => {
    const { asQuestions } = await import(new URL('assets/components/feedback.js', location.href).href);
    const given = { question: 'a', on: 'result', collections: ['c'], filters: [{ key: 'lang', value: 'en' }] };
    return asQuestions([
      { ...given, useful: true, places: ['c/x.md#h'] }, { ...given, useful: false, places: ['c/x.md#h'] },
      { question: 'b', on: 'answer', kind: 'refused', useful: false, places: [], collections: [], filters: [] },
      { question: 'a', on: 'result', useful: true, places: ['c/y.md'], collections: [], filters: [] },
    ]);
  });
  assert.deepEqual(text.trim().split('\n').map((line) => JSON.parse(line)), [
    { question: 'a', unwanted: ['c/x.md#h'], collection: 'c', filters: ['lang=en'], given: [{ on: 'result', useful: true }, { on: 'result', useful: false }] },
    { question: 'a', expected: ['c/y.md'], given: [{ on: 'result', useful: true }] },
  ]);
  assert.deepEqual(page.problems, []);
});
