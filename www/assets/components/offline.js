// Use without a network: the service worker keeps the page, this keeps the rest, all at once if the reader wants.

import { download, isKept, keep, meter, openCache } from '../engine/download.js';
import { isCarried, request } from '../engine/host.js';
import { el } from './dom.js';
import { explain } from './status.js';

/** What searching by meaning runs on, beside the model. The rest of the page is small and kept in any case. */
const ENCODER = ['assets/engine/encoder-worker.js', 'assets/runtime/kb_encoder.js', 'assets/runtime/kb_encoder_bg.wasm'];

/** Whether the page came from `kb-builder serve`, where a service worker would only get in the author's way. */
function isPreview() {
  const [visit] = /** @type {any[]} */ (performance.getEntriesByType('navigation'));
  return (visit?.serverTiming ?? []).some(({ name }) => name === 'kb-preview');
}

/**
 * @typedef {'off' | 'idle' | 'working' | 'ready' | 'failed'} OfflineState
 */

/**
 * @param {HTMLElement} root where the offer stands
 * @param {{ site: URL, announce: (text: string) => void }} services
 */
export function offline(root, { site, announce }) {
  /** @type {OfflineState} */
  let state = 'off';
  let bytes = 0;
  let meaningCame = false;
  let progress = { got: 0, total: 0 };
  /** @type {any} */
  let failure;
  /** @type {import('../i18n/index.js').Strings} */
  let strings;
  /** @type {Promise<ServiceWorkerRegistration> | undefined} */
  let registered;
  const possible = 'serviceWorker' in navigator && !isCarried() && !isPreview();

  /** Asks the service worker, and waits for its answer. @param {any} message @param {(part: number) => void} [onPart] */
  async function ask(message, onPart) {
    await registered;
    const { active } = await navigator.serviceWorker.ready;
    const { port1, port2 } = new MessageChannel();
    return new Promise((resolve, reject) => {
      port1.onmessage = ({ data }) => {
        if (data.part !== undefined) onPart?.(data.part);
        else if (data.error) reject(Object.assign(new Error(data.error), { code: 'net::offline' }));
        else resolve(data.value);
      };
      active?.postMessage(message, [port2]);
    });
  }

  /** Everything that is not here yet. */
  async function missing() {
    const cache = await openCache(site);
    const kb = new URL('kb/', site);
    const model = new URL('model/', site);
    const manifest = await (await request(new URL('manifest.json', kb), { cache: 'no-cache' })).text();
    const { sections, model: wanted } = JSON.parse(manifest);
    const description = wanted && !wanted.service ? await (await request(new URL('model.json', model), { cache: 'no-cache' })).text() : undefined;
    const files = [
      ...sections.filter(({ kind }) => kind !== 'graph').map((remote) => ({ folder: kb, remote })),
      ...(description ? JSON.parse(description).files ?? [] : []).map((remote) => ({ folder: model, remote })),
    ];
    const kept = await Promise.all(files.map(({ folder, remote }) => isKept(cache, folder, remote)));
    const absent = files.filter((_, i) => !kept[i]);
    /** @type {{ path: string, bytes: number }[]} */
    const page = await ask({ kind: 'missing', meaning: Boolean(wanted) });
    const total = [...absent.map(({ remote }) => remote), ...page].reduce((sum, file) => sum + file.bytes, 0);
    return { cache, kb, model, manifest, description, absent, page, total };
  }

  async function look() {
    try {
      if (meaningCame) await ask({ kind: 'keep', paths: ENCODER });
      bytes = (await missing()).total;
      set(bytes ? 'idle' : 'ready');
    } catch {
      set('off');
    }
  }

  async function fetchAll() {
    set('working');
    try {
      const { cache, kb, model, manifest, description, absent, page, total } = await missing();
      if (!cache) throw Object.assign(new Error('no cache'), { code: 'offline::space' });
      navigator.storage?.persist?.().catch(() => {});
      const onProgress = meter(total, (now) => {
        progress = now;
        draw();
      });
      await ask({ kind: 'keep', paths: page.map(({ path }) => path) }, onProgress);
      for (const { folder, remote } of absent) {
        await download(folder, remote, { cache, onProgress });
        if (!(await isKept(cache, folder, remote))) throw Object.assign(new Error('quota'), { code: 'offline::space' });
      }
      await keep(cache, new URL('manifest.json', kb), manifest);
      if (description) await keep(cache, new URL('model.json', model), description);
      set('ready');
    } catch (error) {
      failure = error;
      set('failed');
    }
  }

  /** @param {OfflineState} next */
  function set(next) {
    state = next;
    draw();
    if (strings && (next === 'ready' || next === 'failed') && root.contains(document.activeElement)) announce(root.textContent ?? '');
  }

  function draw() {
    if (!strings) return;
    const s = strings.offline;
    const had = root.contains(document.activeElement);
    root.hidden = state === 'off';
    root.dataset.offline = state;
    const button = (label) => el('button', { type: 'button', class: 'button button-quiet', title: s.note, onclick: fetchAll }, label);
    if (state === 'idle') root.replaceChildren(button(s.offer(bytes)));
    else if (state === 'working') root.replaceChildren(el('span', { tabindex: -1 }, s.working(progress.got, progress.total)));
    else if (state === 'ready') root.replaceChildren(el('span', { tabindex: -1 }, s.ready));
    else if (state === 'failed') root.replaceChildren(s.failed(failure?.code === 'offline::space' ? s.noSpace : explain(failure, strings)), button(s.retry));
    if (had) /** @type {HTMLElement | null} */ (root.querySelector('button, span'))?.focus();
  }

  return {
    /** Begins to keep the page. To be called when the first search is possible, so that it takes nothing from it. */
    begin() {
      if (!possible || registered) return;
      registered = navigator.serviceWorker.register(new URL('sw.js', site), { scope: site.pathname, updateViaCache: 'none' });
      registered.then(look, () => set('off'));
    },
    /** The model has come, so what it runs on is kept too. */
    meaningLoaded() {
      meaningCame = true;
      if (registered && state !== 'working') look();
    },
    /** @param {import('../i18n/index.js').Strings} now */
    translate(now) {
      strings = now;
      draw();
    },
  };
}
