// The documents of a site as plain HTML pages, and Pagefind's index of them.

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as pagefind from 'pagefind';

const escape = (text) => text.replace(/[&<>]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[c] ?? c);
const id = (text) => text.trim().toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '-');

/** Headings, paragraphs and code of a Markdown text; what matters here is the text and where its sections begin. */
function toHtml(markdown) {
  const out = [];
  let code;
  for (const line of markdown.replace(/^---\n[\s\S]*?\n---\n/, '').split('\n')) {
    if (/^\s*(```|~~~)/.test(line)) {
      if (code) out.push(`<pre><code>${escape(code.join('\n'))}</code></pre>`);
      code = code ? undefined : [];
      continue;
    }
    if (code) {
      code.push(line);
      continue;
    }
    const heading = /^(#{1,6})\s+(.*)$/.exec(line);
    if (heading) out.push(`<h${heading[1].length} id="${id(heading[2])}">${escape(heading[2])}</h${heading[1].length}>`);
    else if (line.trim()) out.push(`<p>${escape(line)}</p>`);
  }
  return out.join('\n');
}

/**
 * Writes the pages of `site` and Pagefind's files into `out`, with an index.html that has Pagefind's own search box.
 * @param {string} site folder that kb-builder wrote @param {string} out
 * @returns {Promise<number>} how many pages
 */
export async function pagefindSite(site, out) {
  const { documents } = JSON.parse(await readFile(join(site, 'catalog.json'), 'utf8'));
  const { index } = await pagefind.createIndex({});
  let count = 0;
  for (const { file, title, lang } of documents) {
    if (!file || !/\.md$/.test(file)) continue;
    const text = await readFile(join(site, decodeURIComponent(file)), 'utf8');
    const url = `${file.replace(/^files\//, '')}.html`;
    const html = `<!doctype html><html lang="${lang === 'zh' ? 'zh-Hans' : lang}"><head><meta charset="utf-8"><title>${escape(title)}</title></head><body>${toHtml(text)}</body></html>`;
    const path = join(out, decodeURIComponent(url));
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, html);
    await index.addHTMLFile({ url: `/${url}`, content: html });
    count += 1;
  }
  await index.writeFiles({ outputPath: join(out, 'pagefind') });
  await pagefind.close();
  await writeFile(join(out, 'index.html'), `<!doctype html><html lang="LANG"><head><meta charset="utf-8"><title>Pagefind</title><link rel="icon" href="data:,">
<link rel="stylesheet" href="pagefind/pagefind-ui.css"><script src="pagefind/pagefind-ui.js"></script></head>
<body><div id="search"></div><script>new PagefindUI({ element: '#search', showSubResults: true });</script></body></html>`);
  return count;
}
