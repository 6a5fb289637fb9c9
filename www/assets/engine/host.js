// Where files and workers come from: the network, or the page itself, which in a handout carries both.

import { EngineError } from './rpc.js';

/**
 * Set by a handout before any module runs, on the page and in its workers.
 * @typedef {object} Carrier
 * @property {string} base                                            address that stands for the carried site, with a slash at the end
 * @property {(path: string) => Promise<Uint8Array | undefined>} bytes a carried file, by its path in the site
 * @property {(path: string) => Worker} worker                         a worker made from the carried code
 */

/** @returns {Carrier | undefined} */
const carrier = () => /** @type {any} */ (self).kbCarrier;

/** Whether this page carries its knowledge base itself. */
export const isCarried = () => carrier() !== undefined;

/** The site's own folder. */
export const siteUrl = () => new URL('./', carrier()?.base ?? document.baseURI);

/**
 * `fetch` whose failures say whether the network, the file or the server is the trouble.
 * @param {URL} url @param {RequestInit} [init]
 */
export async function request(url, init) {
  const from = carrier();
  if (from && url.href.startsWith(from.base)) {
    const bytes = await from.bytes(decodeURI(url.href.slice(from.base.length)));
    if (!bytes) throw new EngineError('kb::missing', `${url.pathname} is not in this page`);
    return new Response(/** @type {any} */ (bytes));
  }
  let response;
  try {
    response = await fetch(url, init);
  } catch (error) {
    throw new EngineError('net::offline', `${url.pathname}: ${error.message}`);
  }
  if (response.status === 404 || response.status === 410) throw new EngineError('kb::missing', `${url.pathname} is not on the server`);
  if (!response.ok) throw new EngineError('net::http', `${url.pathname}: the server answered ${response.status}`);
  return response;
}

/**
 * What a module of the browser runtime is started with: nothing, so that it streams its file from beside itself, or the
 * bytes that the page carries.
 * @param {URL} url of the .wasm file
 * @returns {Promise<{ module_or_path: any } | undefined>}
 */
export async function wasmSource(url) {
  if (!carrier()) return undefined;
  return { module_or_path: await (await request(url)).arrayBuffer() };
}

/** Starts a module worker. @param {URL} script @returns {Worker} */
export function startWorker(script) {
  const from = carrier();
  if (from) return from.worker(script.href.slice(from.base.length));
  if (script.origin === location.origin) return new Worker(script, { type: 'module' });
  // Browsers start no worker from another origin; one of our own may import from there.
  const blob = new Blob([`import ${JSON.stringify(script.href)};`], { type: 'text/javascript' });
  const url = URL.createObjectURL(blob);
  const worker = new Worker(url, { type: 'module' });
  worker.addEventListener('message', () => URL.revokeObjectURL(url), { once: true });
  return worker;
}
