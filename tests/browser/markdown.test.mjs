// The reader view's Markdown, in the browser that shows it.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { launch, openPage } from './support/browser.mjs';
import { serveFolder } from './support/static.mjs';

const www = fileURLToPath(new URL('../../www', import.meta.url));
let browser;
let server;
let page;

before(async () => {
  browser = await launch();
  server = await serveFolder(www, { extra: { 'blank.html': '<!doctype html><link rel="icon" href="data:,">' } });
  page = await openPage(browser);
  await page.goto(`${server.url}blank.html`);
});
after(async () => {
  await browser?.close();
  await server?.close();
});

/** Renders Markdown and returns the HTML that the elements would be written as. */
const html = (markdown, options = {}) => page.evaluate(async ([source, given, root]) => {
  const { renderMarkdown } = await import(`${root}assets/markdown/render.js`);
  const host = document.createElement('div');
  const link = (target) => (/^(https?:|#)/.test(target) ? { href: target, inside: target.startsWith('#') } : undefined);
  host.append(renderMarkdown(source, { sections: [], span: undefined, idPrefix: 'at-', title: '', strings: { image: 'Image', copy: 'Copy', copied: 'Copied', passage: 'Passage' }, link, ...given }));
  for (const button of host.querySelectorAll('button')) button.remove();
  return host.innerHTML.replace(/ tabindex="-?\d"/g, '');
}, [markdown, options, server.url]);

const cases = [
  ['emphasis', '*a* **b** ***c*** ~~d~~ snake_case_word', '<p><em>a</em> <strong>b</strong> <em><strong>c</strong></em> <del>d</del> snake_case_word</p>'],
  ['emphasis beside Chinese punctuation', '这是**“重点”**，不是*别的*。', '<p>这是<strong>“重点”</strong>，不是<em>别的</em>。</p>'],
  ['code span with a backtick', 'use ``a`b`` here', '<p>use <code>a`b</code> here</p>'],
  ['unclosed marks stay text', '**a `b [c', '<p>**a `b [c</p>'],
  ['escapes', String.raw`\*not\* 1\. \<b>`, '<p>*not* 1. &lt;b&gt;</p>'],
  ['entities', '&lt;b&gt; &amp; &#20013; &#x1F600; &nope;', '<p>&lt;b&gt; &amp; 中 😀 &amp;nope;</p>'],
  ['headings', 'Title\n=====\n\n## Two ##\n\n####### seven', '<h2 data-heading="">Title</h2><h3 data-heading="">Two</h3><p>####### seven</p>'],
  ['hard break and soft break', 'a  \nb\nc\\\nd', '<p>a<br>b c<br>d</p>'],
  ['no gap between lines of Chinese', '第一行\n第二行', '<p>第一行第二行</p>'],
  ['quote with a lazy line', '> a\nb\n\nc', '<blockquote><p>a b</p></blockquote><p>c</p>'],
  ['tight list, nested', '- a\n  - b\n- c', '<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>'],
  ['ordered list from three', '3. a\n4. b', '<ol start="3"><li>a</li><li>b</li></ol>'],
  ['loose list', '- a\n\n- b', '<ul><li><p>a</p></li><li><p>b</p></li></ul>'],
  ['tasks', '- [x] a\n- [ ] b', '<ul><li class="task"><input type="checkbox" disabled="" checked="">a</li><li class="task"><input type="checkbox" disabled="">b</li></ul>'],
  ['fenced code', '```rust,ignore\nlet a = "<b>";\n```', '<div class="code"><pre><code data-language="rust">let a = "&lt;b&gt;";</code></pre></div>'],
  ['code in a list', '1. a\n\n   ```\n   b\n     c\n   ```', '<ol><li><p>a</p><div class="code"><pre><code>b\n  c</code></pre></div></li></ol>'],
  ['an open fence ends with the text', '~~~\na', '<div class="code"><pre><code>a</code></pre></div>'],
  ['table', '| a | b |\n|:-:|--:|\n| `x|y` | 1 \\| 2 |', '<div class="table" role="group"><table><thead><tr><th data-align="center" scope="col">a</th><th data-align="right" scope="col">b</th></tr></thead><tbody><tr><td data-align="center"><code>x|y</code></td><td data-align="right">1 | 2</td></tr></tbody></table></div>'],
  ['links', '[a](https://x.example/y "t") [b][r] [r]\n\n[r]: https://z.example', '<p><a href="https://x.example/y" rel="noopener noreferrer">a</a> <a href="https://z.example" rel="noopener noreferrer">b</a> <a href="https://z.example" rel="noopener noreferrer">r</a></p>'],
  ['bare address beside Chinese', '见https://x.example/a。好', '<p>见<a href="https://x.example/a" rel="noopener noreferrer">https://x.example/a</a>。好</p>'],
  ['image', '![a map](m.png)', '<p><span class="image">Image: a map</span></p>'],
  ['formulas', 'cost $O(n^2)$ and $5 or $6', '<p>cost <span class="tex">O(n^2)</span> and $5 or $6</p>'],
  ['display formula', '$$\na < b\n$$', '<div class="tex" data-display="">a &lt; b</div>'],
  ['admonition', '??? note "更多"\n    正文\n\n之后', '<div class="aside"><p class="aside-title">更多</p><p>正文</p></div><p>之后</p>'],
  ['rule', 'a\n\n***', '<p>a</p><hr>'],
  ['small tags', 'press <kbd>Ctrl</kbd><br>x<sub>1</sub>', '<p>press <kbd>Ctrl</kbd><br>x<sub>1</sub></p>'],
];
for (const [name, source, expected] of cases) {
  test(name, async () => assert.equal(await html(source), expected));
}

test('hostile documents stay text', async () => {
  const out = await html([
    '<script>window.hacked = 1</script>',
    '<img src=x onerror="window.hacked = 2"> <iframe src="https://x.example"></iframe> <kbd onclick="window.hacked = 3">k</kbd>',
    '[a](javascript:window.hacked=4) [b](data:text/html,<script>1</script>) <javascript:window.hacked=5> [c]( JaVaScRiPt:1 )',
    '```"><script>window.hacked = 6</script>\nx\n```',
    '# h {#"><img src=x onerror=alert(1)>}',
    '| <svg onload="window.hacked=7"> |\n|---|\n| <style>*{display:none}</style> |',
  ].join('\n\n'));
  const names = await page.evaluate((source) => [...new DOMParser().parseFromString(source, 'text/html').body.querySelectorAll('*')].map((e) => e.localName), out);
  assert.deepEqual([...new Set(names)].sort(), ['a', 'code', 'div', 'h2', 'kbd', 'p', 'pre', 'span', 'table', 'tbody', 'td', 'th', 'thead', 'tr']);
  assert.doesNotMatch(out, /<[^>]*\son\w+=/);
  // The one address that is plainly written out may be followed.
  assert.deepEqual([...out.matchAll(/href="([^"]*)"/g)].map(([, href]) => href), ['https://x.example']);
  assert.equal(await page.evaluate(() => window.hacked), undefined);
});

test('the passage is pointed out by its range', async () => {
  const source = '# 图\n\n前文。\n\n找最短路😀。\n\n- 甲\n- 乙\n\n后文。';
  const start = source.indexOf('找');
  assert.equal(
    await html(source, { span: { start, end: source.indexOf('后') } }),
    '<h2 data-heading="">图</h2><p>前文。</p><section class="passage" aria-label="Passage"><p>找最短路😀。</p><ul><li>甲</li><li>乙</li></ul></section><p>后文。</p>',
  );
  const item = source.indexOf('乙');
  assert.match(await html(source, { span: { start: item, end: item + 1 } }), /<ul><li>甲<\/li><li class="passage">乙<\/li><\/ul>/);
});

test('headings get their anchors, behind a prefix', async () => {
  const source = '# A\n\n## B\n';
  const sections = [{ level: 1, title: 'A', anchor: 'a', start: 0, end: 5 }, { level: 2, title: 'B', anchor: 'b', start: 5, end: 10 }];
  assert.equal(await html(source, { sections }), '<h2 id="at-a" data-heading="">A</h2><h3 id="at-b" data-heading="">B</h3>');
  assert.equal(await html(source, { sections, title: 'A' }), '<h2 id="at-b" data-heading="">B</h2>', 'the title is shown above already');
});

test('odd and long input ends in reasonable time', async () => {
  const begun = Date.now();
  for (const piece of ['[', '*a ', '`', '<', '> ', '- ', '$', '![](', '**', '_a*b', '|', '&#', '\\', '~', '<kbd>', '[a](']) {
    await html(piece.repeat(20_000));
    await html(`${piece.repeat(300)}\n`.repeat(100));
  }
  assert.ok(Date.now() - begun < 20_000, `it took ${Date.now() - begun} ms`);
  assert.deepEqual(page.problems, []);
});
