// A language model's server for tests: says what a test gives it, in Ollama's or OpenAI's form, and remembers what it was asked.

import { createServer } from 'node:http';
import { acceptedByOfficialClient, endOf } from './ollama.mjs';

/**
 * @typedef {object} Reply
 * @property {number} [status]
 * @property {string} [body]        sent whole, for errors
 * @property {string[]} [pieces]    of the answer
 * @property {string[]} [reasoning] before it
 * @property {number} [pause]       between pieces, milliseconds
 * @property {number} [read]      tokens of the prompt that it says it has read
 * @property {number} [burst]     pieces that are sent without a pause
 * @property {boolean} [endless]    repeats the pieces until the reader goes away
 */

/**
 * @param {object} [options]
 * @param {boolean} [options.admit] whether pages of other origins are admitted
 * @param {(body: any) => Reply} [options.reply] gets what was asked
 */
export async function languageModel({ admit = true, reply = () => ({ pieces: ['Yes [1].'] }) } = {}) {
  /** @type {{ path: string, body: any, headers: import('node:http').IncomingHttpHeaders }[]} */
  const asked = [];
  const state = { sent: 0, closed: 0, first: 0 };
  /** Replies in Ollama's form, as they were sent. @type {string[]} */
  const replies = [];
  const server = createServer(async (request, response) => {
    const origin = admit ? { 'access-control-allow-origin': '*', 'access-control-allow-headers': 'authorization, content-type' } : {};
    if (request.method === 'OPTIONS') return response.writeHead(admit ? 204 : 403, origin).end();
    let text = '';
    for await (const chunk of request) text += chunk;
    const path = request.url ?? '';
    asked.push({ path, body: text ? JSON.parse(text) : undefined, headers: request.headers });
    if (path === '/api/tags') return response.writeHead(200, { ...origin, 'content-type': 'application/json' }).end(JSON.stringify({ models: [{ name: 'tiny:1b' }, { name: 'other:7b' }] }));
    if (path === '/v1/models') return response.writeHead(200, { ...origin, 'content-type': 'application/json' }).end(JSON.stringify({ data: [{ id: 'tiny' }] }));
    const { status = 200, body, pieces = [], reasoning = [], pause = 0, burst = 1, endless = false, read = 321 } = reply(asked.at(-1)?.body);
    if (status !== 200 || body !== undefined) return response.writeHead(status, { ...origin, 'content-type': 'application/json' }).end(body);
    const ollama = path === '/api/chat';
    response.writeHead(200, { ...origin, 'content-type': ollama ? 'application/x-ndjson' : 'text/event-stream' });
    let [gone, raw] = [false, ''];
    response.on('close', () => {
      gone = true;
      state.closed = performance.now();
    });
    const write = async (message) => {
      const line = ollama ? `${JSON.stringify({ model: 'tiny:1b', created_at: new Date().toISOString(), message, done: false })}\n` : `data: ${JSON.stringify({ choices: [{ delta: message }] })}\n\n`;
      // In the middle of characters and lines, as networks do.
      raw += line;
      const bytes = Buffer.from(line);
      const cut = Math.floor(bytes.length / 2);
      response.write(bytes.subarray(0, cut));
      if (state.sent % burst === 0) await new Promise((resolve) => setTimeout(resolve, pause));
      response.write(bytes.subarray(cut));
      state.first ||= performance.now();
      state.sent += 1;
    };
    for (const piece of reasoning) await write(ollama ? { role: 'assistant', content: '', thinking: piece } : { reasoning_content: piece });
    do {
      for (const piece of pieces) if (!gone) await write({ role: 'assistant', content: piece });
    } while (endless && !gone);
    if (gone) return;
    if (ollama) {
      const end = `${JSON.stringify(endOf('tiny:1b', 'stop', read, 7))}\n`;
      replies.push(raw + end);
      response.end(end);
    } else response.end(`: keep-alive\n\ndata: ${JSON.stringify({ choices: [{ delta: {}, finish_reason: 'stop' }] })}\n\ndata: ${JSON.stringify({ choices: [], usage: { prompt_tokens: 321, completion_tokens: 7 } })}\n\ndata: [DONE]\n\n`);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  server.unref();
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    state,
    /** Closes it; what it has said in Ollama's form must be what the official client takes. */
    close: async () => {
      await new Promise((resolve) => {
        server.close(() => resolve(undefined));
        server.closeAllConnections();
      });
      for (const raw of replies) await acceptedByOfficialClient(raw);
    },
  };
}
