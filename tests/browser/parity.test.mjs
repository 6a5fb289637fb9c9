// The browser answers as the program does: the same passages in the same order, scores within 1e-4.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { waitFor } from './support/actions.mjs';
import { launch, openPage } from './support/browser.mjs';
import { demoSite, kb, serve } from './support/site.mjs';

const K = 10;
/** Scores differ at most by this much. */
const TOLERANCE = 1e-4;

const questions = [
  'branch', 'undo a commit', 'git revert', 'what is a snapshot', 'How do I throw away my edits?', 'merge conflict', 'rebase or merge',
  'find the commit that broke the build', 'who wrote this line', 'large files', 'I committed a password', 'remote repository', 'pull request',
  'HEAD@{2}', '`git reset --hard`', 'reflog', '.gitignore', 'BM25', 'HNSW', 'tf-idf', 'k1 b', 'cosine similarity', 'recall and precision',
  '倒排索引', '分词', '怎样切分材料', '词项权重', '向量', '近似最近邻', '召回率', '混合检索', '重排', '引用', '评测', '量化', '小世界图',
  '两句话意思差不多怎么判断', '搜索结果好不好怎么衡量', '为什么允许出错', '怎样把两种方法合在一起', '停用词', '大语言模型怎样回答', '找不到答案时怎么办',
  'Ｗｅｂ 全角', '中文 English mixed 混合', 'naïve café', '😀 emoji', 'a', '的', '???', 'how   many    spaces', 'x'.repeat(300), '检索'.repeat(80),
  'offline', 'privacy: does my question leave the computer', 'publish on GitHub Pages', '怎样发布到网上', 'quick start',
];

let browser;
let demo;
let server;
/** @type {Awaited<ReturnType<typeof openPage>>} */
let page;

before(async () => {
  assert.ok(questions.length >= 50);
  browser = await launch();
  demo = await demoSite();
  server = await serve(demo.site);
  page = await openPage(browser);
  await page.goto(server.url);
  await waitFor(page, 'meaning', 'ready');
});
after(async () => {
  await browser?.close();
  await server?.close();
  await demo?.remove();
});

/** Asks the page's own engine, past the page. */
const inBrowser = (mode) => page.evaluate(async ([all, k, how]) => {
  const { Engine } = await import('./assets/engine/client.js');
  const engine = new Engine(new URL('kb/', location.href), { wantsMeaning: true });
  await engine.start();
  const answers = [];
  for (const text of all) {
    const query = { text, k, mode: how, collections: [], filters: [] };
    const { hits } = await (how === 'lexical' ? engine.searchWords(query) : engine.searchMeaning(query)).catch((error) => ({ hits: error.code }));
    answers.push(hits);
  }
  return answers;
}, [questions, K, mode]);

/** Asks the program. */
async function native(question, mode) {
  try {
    return JSON.parse(await kb('search', demo.site, question, '--json', '-k', String(K), '--mode', mode)).hits;
  } catch (error) {
    return /kb::\w+/.exec(error.stderr)?.[0] ?? error.stderr;
  }
}

for (const mode of ['lexical', 'vector', 'hybrid']) {
  test(`${questions.length} questions, ${mode}`, async () => {
    const answers = await inBrowser(mode);
    let widest = 0;
    let compared = 0;
    for (const [i, question] of questions.entries()) {
      const expected = await native(question, mode);
      const found = answers[i];
      if (typeof expected === 'string' || typeof found === 'string') {
        assert.equal(found, expected, question);
        continue;
      }
      assert.deepEqual(found.map((hit) => hit.chunkId), expected.map((hit) => hit.chunk_id), question);
      for (const [n, hit] of found.entries()) {
        const { score, path, anchor, excerpt } = expected[n];
        widest = Math.max(widest, Math.abs(hit.score - score));
        assert.ok(Math.abs(hit.score - score) <= TOLERANCE, `${question}: ${hit.score} in the browser, ${score} natively`);
        assert.deepEqual([hit.path, hit.anchor, hit.excerpt.text], [path, anchor, excerpt.text ?? excerpt]);
        compared += 1;
      }
    }
    console.log(`# ${mode}: ${compared} hits, scores differ by ${widest} at most`);
    assert.ok(compared > 200, `only ${compared} hits were compared`);
    assert.deepEqual(page.problems, []);
  });
}
