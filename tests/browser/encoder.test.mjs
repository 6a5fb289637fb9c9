// The encoder in the browser gives onnxruntime's vectors: every reference text, cosine at least 0.999.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { launch, openPage } from './support/browser.mjs';
import { root, serve, siteOf } from './support/site.mjs';

const reference = join(root, 'tests/reference');
/** Peak of the module's memory that the default model may need, in bytes. */
const MEMORY = 210e6;

let browser;
before(async () => {
  browser = await launch();
});
after(async () => {
  await browser?.close();
});

/**
 * The program's fingerprint of a model (kb-core/src/embed/encoder.rs), for a model whose prefix of questions was changed.
 * @param {Uint8Array[]} files model.onnx and tokenizer.json
 */
function fingerprint(files, info) {
  const hash = createHash('sha256');
  for (const file of files) {
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(BigInt(file.length));
    hash.update(length).update(file);
  }
  const pooling = info.pooling[0].toUpperCase() + info.pooling.slice(1);
  return hash.update([info.dim, info.max_tokens, pooling, info.query_prefix, info.passage_prefix].join('\n')).digest('hex');
}

/** Compares the model of `site` with the reference `name`; gives the lowest cosine and the peak of memory. */
async function compare(site, name) {
  const read = (path) => readFile(join(site, path));
  const [manifest, onnx, tokenizer, info] = await Promise.all(['kb/manifest.json', 'model/model.onnx', 'model/tokenizer.json', 'model/model.json'].map(read));
  const model = { query_prefix: '', passage_prefix: '', ...JSON.parse(info), fingerprint: '' };
  assert.equal(fingerprint([onnx, tokenizer], model), JSON.parse(manifest).model.fingerprint, 'the fingerprint as the program computes it');

  const texts = JSON.parse(await readFile(join(reference, 'texts.json'), 'utf8'));
  const vectors = await readFile(join(reference, `${name}.f32`));
  assert.ok(texts.length >= 60);
  const server = await serve(site);
  let lowest = 1;
  let memory = 0;
  try {
    // Questions are what the module embeds; passages become questions of a model whose prefix is the passages'.
    for (const kind of ['query', 'passage']) {
      const changed = { ...model, query_prefix: model[`${kind}_prefix`] };
      changed.fingerprint = fingerprint([onnx, tokenizer], changed);
      const chosen = texts.map((text, row) => ({ ...text, row })).filter((text) => text.prefix === kind);
      const page = await openPage(browser);
      // A browser asks for this by itself where a picture is the whole page.
      await page.route('**/favicon.ico', (route) => route.fulfill({ status: 204 }));
      await page.goto(`${server.url}assets/icon.svg`);
      const ours = await page.evaluate(async ([base, manifestText, infoText, list]) => {
        const { default: init, Encoder } = await import(`${base}assets/runtime/kb_encoder.js`);
        const wasm = await init();
        const bytes = async (path) => new Uint8Array(await (await fetch(base + path)).arrayBuffer());
        const encoder = new Encoder(new TextEncoder().encode(manifestText));
        encoder.load(await bytes('model/model.onnx'), await bytes('model/tokenizer.json'), infoText);
        return { vectors: list.map((text) => Array.from(encoder.embed(text))), memory: wasm.memory.buffer.byteLength };
      }, [server.url, JSON.stringify({ ...JSON.parse(manifest), model: changed }), JSON.stringify(changed), chosen.map((text) => text.text)]);
      assert.deepEqual(page.problems, []);
      await page.context().close();
      memory = Math.max(memory, ours.memory);
      chosen.forEach(({ id, row }, index) => {
        const dot = ours.vectors[index].reduce((sum, value, at) => sum + value * vectors.readFloatLE(4 * (row * model.dim + at)), 0);
        assert.ok(dot >= 0.999, `${name} ${id}: cosine ${dot}`);
        lowest = Math.min(lowest, dot);
      });
    }
  } finally {
    await server.close();
  }
  return { lowest, memory };
}

test('the default model', async (t) => {
  const base = await siteOf({ 'one.md': '# One\n\nA passage.\n' });
  try {
    const { lowest, memory } = await compare(base.site, 'e5-zh-en');
    t.diagnostic(`lowest cosine ${lowest.toFixed(7)}, memory of the module ${(memory / 1e6).toFixed(0)} MB`);
    assert.ok(memory <= MEMORY, `the module took ${memory} bytes`);
  } finally {
    await base.remove();
  }
});

const minilm = process.env.KB_MINILM;
test('all-MiniLM-L6-v2, loaded unchanged', { skip: minilm && existsSync(minilm) ? false : 'KB_MINILM does not name its folder' }, async (t) => {
  const base = await siteOf({ 'one.md': '# One\n\nA passage.\n' }, ['--model', minilm]);
  try {
    const { lowest } = await compare(base.site, 'minilm');
    t.diagnostic(`lowest cosine ${lowest.toFixed(7)}`);
  } finally {
    await base.remove();
  }
});
