// Where files and workers come from: the network, or the page itself, which in a handout carries both.

import { EngineError } from './rpc.js';

/**
 * Set by a handout before any module runs, on the page and in its workers.
 * @typedef {object} Carrier
 * @property {string} base                                            address that stands for the carried site, with a slash at the end
 * @property {(path: string) => Promise<Uint8Array | undefined>} bytes a carried file, by its path in the site
 * @property {(path: string) => Worker} worker                         a worker made from the carried code
 */

/** What came early: a file's bytes, or a module that was compiled on the way. @typedef {ArrayBuffer | WebAssembly.Module} Early */

/** Files that the page asks for before its workers run, by address: see theme.js. @type {Map<string, { bytes: Promise<Early | undefined>, give: (bytes?: Early) => void, taken: boolean }>} */
const early = new Map();

/** @param {string} href */
function place(href) {
  let found = early.get(href);
  if (!found) {
    /** @type {(bytes?: Early) => void} */
    let give = () => {};
    const bytes = new Promise((resolve) => (give = resolve));
    early.set(href, (found = { bytes: /** @type {any} */ (bytes), give, taken: false }));
  }
  return found;
}

/** In a worker: these are on their way, so that they need not be asked for again. @param {string[]} hrefs */
export const expectEarly = (hrefs) => hrefs.forEach(place);
/** In a worker: one of them has come, or will not. @param {string} href @param {Early} [bytes] */
export const giveEarly = (href, bytes) => place(href).give(bytes);
/** On the page: what it asked for below a folder, once. @param {URL} site @returns {[string, Promise<Early | undefined>][]} */
export function askedEarly(site) {
  /** @type {Map<string, Promise<Early | undefined>>} */
  const all = /** @type {any} */ (self).kbEarly ?? new Map();
  const own = [...all].filter(([href]) => href.startsWith(site.href));
  for (const [href] of own) all.delete(href);
  return own;
}

/** @param {URL} url */
async function takeEarly(url) {
  const found = early.get(url.href);
  if (!found || found.taken) return undefined;
  found.taken = true;
  const bytes = await found.bytes;
  found.bytes = Promise.resolve(undefined);
  return bytes;
}

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
  // Who asks for a reload does not want what came before.
  const before = init?.cache === 'reload' ? undefined : await takeEarly(url);
  if (before instanceof ArrayBuffer) return new Response(before);
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
  const before = await takeEarly(url);
  if (before) return { module_or_path: before };
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
