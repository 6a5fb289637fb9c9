// Downloads with progress, checked against their SHA-256 and kept in Cache Storage.

import { isCarried, request } from './host.js';
import { EngineError } from './rpc.js';

/**
 * @typedef {object} Remote a file that the manifest names
 * @property {string} file   its name in its folder
 * @property {number} bytes  its length
 * @property {string} sha256 in hex
 */

/** Files whose names say nothing of their content: asked for at every visit, kept for visits without a network. */
const UNHASHED = ['manifest.json', 'model.json'];

/**
 * Opens the cache of one site. Sites of one owner share an origin, so the name holds the path.
 * @param {URL} site the site's own folder
 * @returns {Promise<Cache | undefined>} nothing where the browser has no Cache Storage or forbids it
 */
export async function openCache(site) {
  if (isCarried()) return undefined;
  try {
    // The service worker knows this name too.
    return await self.caches?.open(`kb-builder:${site.pathname}`);
  } catch {
    return undefined;
  }
}

/**
 * Removes from the cache what was kept of a folder and is not needed any more: files of older builds.
 * @param {Cache | undefined} cache @param {URL} folder @param {Remote[]} current
 */
export async function prune(cache, folder, current) {
  const wanted = new Set(current.map((remote) => cacheKey(folder, remote)));
  for (const name of UNHASHED) wanted.add(new URL(name, folder).href);
  try {
    for (const { url } of (await cache?.keys()) ?? []) {
      if (url.startsWith(folder.href) && !wanted.has(url)) await cache?.delete(url);
    }
  } catch { /* what cannot be removed now is removed at the next visit */ }
}

/**
 * Keeps a file that is asked for anew at every visit, for visits without a network: the service worker hands it out then.
 * To be called when everything that the file names is at hand.
 * @param {Cache | undefined} cache @param {URL} url @param {Uint8Array | string} content
 * @param {{ replace: boolean }} [options] without `replace` only if nothing is kept yet
 */
export async function keep(cache, url, content, { replace } = { replace: true }) {
  if (!replace && (await cache?.match(url).catch(() => undefined))) return;
  await cache?.put(url, new Response(/** @type {any} */ (content), { headers: { 'content-type': 'application/json' } })).catch(() => {});
}

/** Whether a file is in the cache already. @param {Cache | undefined} cache @param {URL} folder @param {Remote} remote */
export const isKept = async (cache, folder, remote) => Boolean(await cache?.match(cacheKey(folder, remote)).catch(() => undefined));

/** The key of a file in the cache: its address and its content. @param {URL} folder @param {Remote} remote */
function cacheKey(folder, { file, sha256 }) {
  const url = new URL(file, folder);
  url.search = `sha256=${sha256}`;
  return url.href;
}

/**
 * The bytes of a file, from the cache or the network, with the right SHA-256.
 * @param {URL} folder @param {Remote} remote
 * @param {{ cache?: Cache, priority?: RequestPriority, onProgress?: (bytes: number) => void, onUnkept?: () => void }} [options] `onProgress` is
 *   told how many more bytes came, `onUnkept` that the browser did not take the file into its cache
 * @returns {Promise<Uint8Array>}
 */
export async function download(folder, remote, { cache, priority, onProgress = () => {}, onUnkept = () => {} } = {}) {
  const key = cacheKey(folder, remote);
  const kept = await cache?.match(key).catch(() => undefined);
  if (kept) {
    const bytes = new Uint8Array(await kept.arrayBuffer());
    if (await matches(bytes, remote)) {
      onProgress(bytes.length);
      return bytes;
    }
    await cache?.delete(key);
  }
  const bytes = await read(await request(new URL(remote.file, folder), { priority }), remote, onProgress);
  if (!(await matches(bytes, remote))) {
    throw new EngineError('kb::corrupt', `${remote.file} is not what the manifest says: its length or SHA-256 differs`);
  }
  // Keeping is a convenience: a full disk must not stop the search.
  await cache?.put(key, new Response(/** @type {any} */ (bytes), { headers: { 'content-type': 'application/octet-stream' } })).catch(onUnkept);
  return bytes;
}

/** @param {Response} response @param {Remote} remote @param {(bytes: number) => void} onProgress */
async function read(response, remote, onProgress) {
  // The length comes from the manifest: Content-Length counts compressed bytes.
  const bytes = new Uint8Array(remote.bytes);
  let filled = 0;
  try {
    const reader = response.body?.getReader();
    for (;;) {
      const { done, value } = (await reader?.read()) ?? { done: true };
      if (done) break;
      if (filled + value.length > bytes.length) {
        await reader?.cancel();
        throw new EngineError('kb::corrupt', `${remote.file} is longer than the manifest says`);
      }
      bytes.set(value, filled);
      filled += value.length;
      onProgress(value.length);
    }
  } catch (error) {
    if (error instanceof EngineError) throw error;
    throw new EngineError('net::offline', `${remote.file}: the download broke off (${error.message})`);
  }
  if (filled !== bytes.length) throw new EngineError('kb::corrupt', `${remote.file} is shorter than the manifest says`);
  return bytes;
}

/** @param {Uint8Array} bytes @param {Remote} remote */
async function matches(bytes, remote) {
  if (bytes.length !== remote.bytes) return false;
  // Outside https and localhost there is no crypto.subtle; the checksums inside the sections still hold there.
  if (!self.crypto?.subtle) return true;
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', /** @type {any} */ (bytes)));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('') === remote.sha256;
}

/**
 * Adds up the progress of several files and reports at most ten times a second.
 * @param {number} total bytes in all
 * @param {(state: { got: number, total: number, rate: number }) => void} report `rate` in bytes a second, 0 until it is known
 */
export function meter(total, report) {
  let got = 0;
  let last = 0;
  const begun = performance.now();
  return (/** @type {number} */ more) => {
    got += more;
    const now = performance.now();
    if (now - last < 100 && got < total) return;
    last = now;
    const seconds = (now - begun) / 1000;
    report({ got, total, rate: seconds > 0.4 ? got / seconds : 0 });
  };
}
