// Ollama's form of replies in tests: a front that turns a real OpenAI-compatible server's tokens into it, and the official
// client as the judge of every reply in that form.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { Ollama } from 'ollama';

/**
 * Has the official client read a reply of `/api/chat` as it was sent, and checks the fields that it declares.
 * @param {string} raw
 */
export async function acceptedByOfficialClient(raw) {
  const headers = { 'content-type': 'application/x-ndjson' };
  const client = new Ollama({ host: 'http://127.0.0.1:1', fetch: async () => new Response(raw, { headers }) });
  let [text, last] = ['', /** @type {any} */ (undefined)];
  for await (const part of await client.chat({ model: 'any', messages: [], stream: true })) {
    assert.equal(typeof part.model, 'string');
    assert.ok(!Number.isNaN(Date.parse(String(part.created_at))), `created_at: ${part.created_at}`);
    assert.equal(part.message.role, 'assistant');
    assert.equal(typeof part.message.content, 'string');
    assert.equal(typeof part.done, 'boolean');
    assert.ok(!last?.done, 'nothing follows the end');
    text += part.message.content;
    last = part;
  }
  assert.equal(last?.done, true);
  assert.ok(['stop', 'length'].includes(last.done_reason), last.done_reason);
  for (const field of ['total_duration', 'load_duration', 'prompt_eval_count', 'prompt_eval_duration', 'eval_count', 'eval_duration']) {
    assert.ok(Number.isInteger(last[field]), `${field}: ${last[field]}`);
  }
  return { text, last };
}

/** The last line of a reply. @param {string} model @param {string} reason @param {number} asked @param {number} answered */
export const endOf = (model, reason, asked, answered) => ({
  model, created_at: new Date().toISOString(), message: { role: 'assistant', content: '' }, done: true, done_reason: reason,
  total_duration: 1_000_000, load_duration: 1000, prompt_eval_count: asked, prompt_eval_duration: 1000, eval_count: answered, eval_duration: 1000,
});

/**
 * An Ollama server in front of a real one.
 * @param {string} upstream address of an OpenAI-compatible server, with `/v1` at its end
 */
export async function ollamaFront(upstream) {
  /** @type {any[]} */
  const asked = [];
  /** @type {string[]} */
  const replies = [];
  const names = async () => (await (await fetch(`${upstream}/models`)).json()).data.map(({ id }) => id);
  const server = createServer(async (request, response) => {
    const origin = request.headers.origin;
    const admit = origin && /^https?:\/\/(localhost|127\.0\.0\.1)(:\d+)?$/.test(origin) ? { 'access-control-allow-origin': origin } : {};
    if (request.method === 'OPTIONS') {
      return response.writeHead(204, { ...admit, 'access-control-allow-methods': 'GET,POST', 'access-control-allow-headers': 'Authorization,Content-Type,User-Agent,Accept,X-Requested-With' }).end();
    }
    const json = (status, value) => response.writeHead(status, { ...admit, 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(value));
    let text = '';
    for await (const chunk of request) text += chunk;
    if (request.url === '/api/version') return json(200, { version: '0.12.0' });
    if (request.url === '/api/tags') {
      const at = new Date().toISOString();
      return json(200, { models: (await names()).map((name) => ({ name, model: name, modified_at: at, size: 1, digest: '0'.repeat(64), details: { format: 'gguf', family: 'llama', families: ['llama'], parameter_size: '135M', quantization_level: 'Q4_1' } })) });
    }
    if (request.url !== '/api/chat') return response.writeHead(404, admit).end('404 page not found');
    const body = JSON.parse(text);
    asked.push(body);
    if (!(await names()).includes(body.model)) return json(404, { error: `model '${body.model}' not found` });
    const gone = new AbortController();
    response.on('close', () => gone.abort());
    const { num_predict: most = 128, temperature = 0.8, seed } = body.options ?? {};
    const from = await fetch(`${upstream}/chat/completions`, {
      method: 'POST', signal: gone.signal, headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: body.model, messages: body.messages, max_tokens: most, temperature, seed, stream: true, stream_options: { include_usage: true } }),
    }).catch(() => undefined);
    if (!from?.ok || !from.body) return json(500, { error: (await from?.text()) ?? 'the runner has stopped' });
    let raw = '';
    const write = (value) => {
      raw += `${JSON.stringify(value)}\n`;
      if (body.stream !== false) response.write(`${JSON.stringify(value)}\n`);
    };
    if (body.stream !== false) response.writeHead(200, { ...admit, 'content-type': 'application/x-ndjson' });
    let [said, reason, usage, rest] = ['', 'stop', { prompt_tokens: 0, completion_tokens: 0 }, ''];
    const decoder = new TextDecoder();
    try {
      for await (const chunk of from.body) {
        const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines.filter((one) => one.startsWith('data: {'))) {
          const event = JSON.parse(line.slice(6));
          const choice = event.choices?.[0];
          if (choice?.delta?.content) {
            said += choice.delta.content;
            write({ model: body.model, created_at: new Date().toISOString(), message: { role: 'assistant', content: choice.delta.content }, done: false });
          }
          reason = choice?.finish_reason ?? reason;
          usage = event.usage ?? usage;
        }
      }
    } catch {
      return response.end(); // whoever asked has gone
    }
    const end = endOf(body.model, reason, usage.prompt_tokens, usage.completion_tokens);
    write(end);
    replies.push(raw);
    if (body.stream === false) json(200, { ...end, message: { role: 'assistant', content: said } });
    else response.end();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  server.unref();
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    url: `http://127.0.0.1:${port}`,
    /** The bodies that were sent to `/api/chat`. */
    asked,
    /** The replies of `/api/chat`, as they were sent. */
    replies,
    close: () => new Promise((resolve) => {
      server.close(() => resolve(undefined));
      server.closeAllConnections();
    }),
  };
}
