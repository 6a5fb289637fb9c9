// An embedding service for tests: vectors whose numbers are subjects, so that two words for one thing are near each other.

import { createServer } from 'node:http';

const SUBJECTS = [['ship', 'vessel', '船'], ['bread', 'loaf', '面包'], ['mountain', 'summit', '山']];

/** @param {string} text */
const vector = (text) => [...SUBJECTS.map((words) => words.reduce((sum, word) => sum + text.toLowerCase().split(word).length - 1, 0)), 0.1];

/**
 * Speaks as Ollama does at `/api/embed` and as OpenAI does at `/v1/embeddings`.
 * @param {{ key?: string }} [options] `key` that OpenAI's way asks for
 */
export async function embeddingService({ key = '' } = {}) {
  const state = { admit: true, away: false };
  /** @type {{ path: string, texts: string[], authorization: string | undefined }[]} */
  const asked = [];
  const server = createServer(async (request, response) => {
    if (state.away) return void request.socket.destroy();
    const origin = state.admit ? { 'access-control-allow-origin': '*', 'access-control-allow-headers': 'authorization, content-type' } : {};
    if (request.method === 'OPTIONS') return void response.writeHead(state.admit ? 204 : 403, origin).end();
    let text = '';
    for await (const chunk of request) text += chunk;
    const reply = (status, body) => response.writeHead(status, { ...origin, 'content-type': 'application/json' }).end(JSON.stringify(body));
    const path = request.url ?? '';
    if (!text) return void reply(200, {});
    const { input } = JSON.parse(text);
    asked.push({ path, texts: input, authorization: request.headers.authorization });
    if (path === '/api/embed') return void reply(200, { embeddings: input.map(vector) });
    if (path !== '/v1/embeddings') return void reply(404, {});
    if (key && request.headers.authorization !== `Bearer ${key}`) return void reply(401, { error: { message: 'Incorrect API key provided' } });
    return void reply(200, { data: input.map((each, index) => ({ index, embedding: vector(each) })) });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  server.unref();
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return { url: `http://127.0.0.1:${port}`, asked, state, close: () => new Promise((resolve) => server.close(resolve)) };
}
