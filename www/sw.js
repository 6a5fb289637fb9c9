// Keeps the page for times without a network. kb-builder puts the version and the list of files here when it writes a site.
//
// The network always comes first, so that a site that was published anew shows at once; what was kept answers when the
// network does not. Index, text and model are kept by the page, which checks them; only their lists are handed out here.

const VERSION = 'development';
/** Path and bytes of every file of the page. @type {[string, number][]} */
const FILES = [];

const worker = /** @type {any} */ (self);
const scope = new URL(worker.registration.scope);
/** Sites of one owner share an origin: names hold the path. */
const PREFIX = `kb-builder-page:${scope.pathname}:`;
/** Without an answer for so long the network counts as gone. Milliseconds. */
const PATIENCE = 4000;

/** What only the search by meaning needs comes with it. */
const isMeaning = (path) => /kb_encoder|encoder-worker/.test(path);
const address = (path) => new URL(path === 'index.html' ? './' : path, scope).href;
const known = new Map(FILES.map(([path, bytes]) => [address(path), { path, bytes }]));

const store = () => caches.open(PREFIX + VERSION);

/** Fetches files into the cache; those that the visit has loaded already come from the browser's own. */
async function keep(paths, mode, onPart = (_bytes) => {}) {
  const cache = await store();
  for (const path of paths) {
    const url = address(path);
    if (!known.has(url) || (await cache.match(url))) continue;
    const response = await fetch(new Request(url, { cache: mode }));
    if (!response.ok) throw new Error(`${path}: the server answered ${response.status}`);
    await cache.put(url, response);
    onPart(known.get(url)?.bytes ?? 0);
  }
}

worker.addEventListener('install', (event) => {
  const first = FILES.map(([path]) => path).filter((path) => !isMeaning(path));
  // All or nothing: a version is kept whole. `no-cache` asks whether a file has changed and sends only those that have.
  event.waitUntil(keep(first, 'no-cache').then(() => worker.skipWaiting()));
});

worker.addEventListener('activate', (event) => {
  event.waitUntil((async () => {
    const old = (await caches.keys()).filter((name) => name.startsWith(PREFIX) && name !== PREFIX + VERSION);
    // What meaning needs of the page had come before; it is wanted in the new version too.
    const had = await Promise.all(old.map(async (name) => (await (await caches.open(name)).keys()).map(({ url }) => url)));
    await keep(had.flat().map((url) => known.get(url)?.path).filter(Boolean), 'no-cache').catch(() => {});
    await Promise.all(old.map((name) => caches.delete(name)));
    await worker.clients.claim();
  })());
});

worker.addEventListener('message', (event) => {
  const [port] = event.ports;
  const { kind, paths = [], meaning = false } = event.data ?? {};
  const answer = async () => {
    if (kind === 'keep') return keep(paths, 'force-cache', (part) => port.postMessage({ part }));
    if (kind !== 'missing') return undefined;
    const cache = await store();
    const wanted = [...known.values()].filter(({ path }) => meaning || !isMeaning(path));
    const kept = await Promise.all(wanted.map(({ path }) => cache.match(address(path))));
    return wanted.filter((_, i) => !kept[i]);
  };
  if (port) event.waitUntil(answer().then((value) => port.postMessage({ value }), (error) => port.postMessage({ error: error.message })));
});

/** Pages, and their workers, that were answered from what was kept: all of a page comes from one version. @type {Set<string>} */
const fromCache = new Set();

worker.addEventListener('fetch', (event) => {
  const { request, clientId, resultingClientId } = event;
  if (request.method !== 'GET') return;
  const url = new URL(request.url);
  if (url.origin !== scope.origin || !url.pathname.startsWith(scope.pathname)) return;
  // A question stands in the address of the page; it is the same page.
  url.search = '';
  url.hash = '';
  const isPage = [address('index.html'), new URL('index.html', scope).href].includes(url.href);
  const isList = ['kb/manifest.json', 'model/model.json'].some((path) => url.href === address(path));
  if (!isPage && !isList && !known.has(url.href)) return;
  const cacheName = isList ? `kb-builder:${scope.pathname}` : PREFIX + VERSION;
  const key = isPage ? address('index.html') : url.href;
  const offline = !isPage && fromCache.has(clientId);
  event.respondWith(answer(request, { cacheName, key, offline, patience: isPage || isList ? PATIENCE : undefined }).then(({ response, kept }) => {
    if (kept && resultingClientId) fromCache.add(resultingClientId);
    return response;
  }));
});

/**
 * The network's answer, or what was kept.
 * @param {Request} request
 * @param {{ cacheName: string, key: string, offline: boolean, patience: number | undefined }} options
 * @returns {Promise<{ response: Response, kept: boolean }>}
 */
async function answer(request, { cacheName, key, offline, patience }) {
  const found = await caches.match(key, { cacheName });
  if (!found) return { response: await fetch(request), kept: false };
  const kept = { response: found, kept: true };
  if (offline || navigator.onLine === false) return kept;
  let timer = 0;
  const waiting = [fetch(request).then((response) => ({ response, kept: false }))];
  if (patience) waiting.push(new Promise((resolve) => (timer = setTimeout(() => resolve(kept), patience))));
  try {
    const first = await Promise.race(waiting);
    // A host in trouble, or the sign-in page of a network, is no answer either.
    return first.response.status >= 500 || (first.response.redirected && request.mode !== 'navigate') ? kept : first;
  } catch {
    return kept;
  } finally {
    clearTimeout(timer);
  }
}
