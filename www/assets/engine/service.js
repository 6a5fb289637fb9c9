// Vectors from the service that has a knowledge base's model. What is sent and read is the module's business; this sends it.

import { wasmSource } from './host.js';
import { EngineError } from './rpc.js';

/** How long a service may take. A model that is just being loaded is slow once. Milliseconds. */
const PATIENCE = 60_000;

/**
 * What the reader allows.
 * @typedef {object} Access
 * @property {string} kind     of the service
 * @property {string} baseUrl  where the service is
 * @property {string} key      sent to this address only
 * @property {string} lang     of the sentences in errors
 *
 * @typedef {{ service: import('../runtime/kb_answer.js').EmbeddingService, key: string }} Asked
 */

/** @param {Uint8Array} manifest @param {Access} access @returns {Promise<Asked>} */
export async function serviceOf(manifest, { baseUrl, key, lang }) {
  const module = await import('../runtime/kb_answer.js');
  await module.default(await wasmSource(new URL('../runtime/kb_answer_bg.wasm', import.meta.url)));
  const { model } = JSON.parse(new TextDecoder().decode(manifest));
  return { service: new module.EmbeddingService(model, baseUrl, key, lang), key };
}

/**
 * One vector of unit length for each text.
 * @param {Asked} asked @param {boolean} questions whether the texts are questions, or else passages @param {string[]} texts
 * @returns {Promise<Float32Array[]>}
 */
export async function vectors({ service, key }, questions, texts) {
  const found = [];
  while (found.length < texts.length) {
    const some = texts.slice(found.length, found.length + service.batch);
    const { url, body } = service.request(questions, some);
    const { status, bytes } = await post(url, body, key);
    const all = service.read(status, bytes, some.length);
    if (!all) continue; // an older server, which is asked again in its own way
    const dim = all.length / some.length;
    for (let i = 0; i < some.length; i++) found.push(all.slice(i * dim, (i + 1) * dim));
  }
  return found;
}

/** @param {string} url @param {string} body @param {string} key */
async function post(url, body, key) {
  /** @type {Record<string, string>} */
  const headers = { 'content-type': 'application/json' };
  if (key) headers.authorization = `Bearer ${key}`;
  try {
    // Neither cookies nor the page's address are the service's business.
    const response = await fetch(url, { method: 'POST', headers, body, credentials: 'omit', referrerPolicy: 'no-referrer', cache: 'no-store', signal: AbortSignal.timeout(PATIENCE) });
    return { status: response.status, bytes: new Uint8Array(await response.arrayBuffer()) };
  } catch (error) {
    // The browser does not say why: not running, an origin that is refused, or a policy.
    throw new EngineError(error.name === 'TimeoutError' ? 'llm::stalled' : 'llm::not_running', `${new URL(url).origin} did not answer`);
  }
}
