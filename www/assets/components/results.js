// The list of results. A better list replaces the one that is shown in place, unless the reader is already in it.

import { el, icon, icons, marked, safeUrl } from './dom.js';
import { href as pageHref } from './routes.js';

/** A reader who pointed at the list within this time is reading it. Milliseconds. */
const ATTENTION = 1500;
/** A slow machine draws the list over several frames, each of which is to take about so long. Milliseconds. */
const FRAME = 25;

/**
 * @param {HTMLElement} root
 * @param {{ base: URL, href?: import('./routes.js').Href, onUp: () => void, onSearchAll: () => void, announce: (text: string) => void, mark?: (hit: any, query: any) => HTMLElement }} handlers
 *   `onUp` when the keyboard leaves the list at its top; `mark` makes what asks about a result
 */
export function resultList(root, { base, href = pageHref, onUp, onSearchAll, announce, mark }) {
  const list = el('ol', { class: 'hits' });
  const heading = el('h2', { class: 'results-count' });
  const time = el('span');
  const head = el('div', { class: 'results-head' }, heading, time);
  const below = el('div');
  root.append(head, list, below);
  /** @type {Map<string, { item: HTMLElement, key: string }>} */
  const items = new Map();
  /** @type {{ response: any, context: any } | undefined} */
  let pending;
  let shownQuery = '';
  let pointed = -Infinity;
  const active = () => activeIn(root);
  /** Counts what was put into the list, so that a slice of an older list is not drawn over a newer one. */
  let turn = 0;
  /** How many entries are drawn in one frame: it follows from how long they took before. */
  let slice = 3;

  list.addEventListener('pointermove', () => (pointed = performance.now()), { passive: true });
  list.addEventListener('pointerdown', () => (pointed = performance.now() + 2 * ATTENTION), { passive: true });
  list.addEventListener('keydown', (event) => {
    const links = [...list.querySelectorAll('.hit-title a')];
    const at = links.findIndex((link) => link.closest('.hit')?.contains(active()));
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && links[at]) {
      event.preventDefault();
      return openTab(links[at]);
    }
    const go = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: links.length - 1 }[event.key];
    if (event.key === 'Escape' || go === -1) onUp();
    else if (go !== undefined) links[Math.min(go, links.length - 1)]?.focus();
    else return;
    event.preventDefault();
  });

  const isReading = () => {
    const selection = getSelection();
    return list.contains(active())
      || performance.now() - pointed < ATTENTION
      || (selection && !selection.isCollapsed && list.contains(selection.anchorNode))
      || list.getBoundingClientRect().top < -40;
  };

  const draw = async ({ response, context }) => {
    const { strings, query } = context;
    const own = ++turn;
    const sameQuestion = query.text === shownQuery;
    pending = undefined;
    below.replaceChildren();
    head.querySelector('.newer')?.remove();
    root.querySelector('.newer')?.remove();
    // Asking where they are makes the browser lay everything out now, so only who is going to glide is asked.
    const glides = sameQuestion && !matchMedia('(prefers-reduced-motion: reduce)').matches;
    const before = new Map(glides ? [...items].map(([id, { item }]) => [id, item.getBoundingClientRect().top]) : []);
    const wanted = byDocument(response.hits).map(({ hit, below: under }) => {
      const key = JSON.stringify([hit, under, strings.name, query.text]);
      const id = idOf(hit);
      const old = items.get(id);
      const item = old?.item ?? el('li', { class: 'hit' });
      item.classList.toggle('is-new', !old && sameQuestion);
      const finish = old?.key === key ? undefined : () => fill(item, hit, under, context, base, href, mark);
      return { id, item, key, old: old?.key ?? '', finish };
    });
    items.clear();
    for (const { id, item, old } of wanted) items.set(id, { item, key: old });
    shownQuery = query.text;
    const all = wanted.map(({ item }) => item);
    root.hidden = false;
    for (let at = 0; at < wanted.length;) {
      const now = wanted.slice(at, at + slice);
      const begun = performance.now();
      for (const { id, item, key, finish } of now) {
        finish?.();
        items.set(id, { item, key });
      }
      at += now.length;
      if (at >= wanted.length) break;
      put(list, all.slice(0, at), active());
      const filled = performance.now() - begun;
      const cost = filled + (await frame());
      if (own !== turn) return;
      slice = Math.max(1, Math.floor((FRAME * now.length) / Math.max(cost, 1)));
    }
    place(list, all, active());
    if (glides) slide(before, items);
    root.dataset.by = response.meaning ? 'meaning' : 'words';
    root.dataset.question = query.text;
    heading.textContent = strings.results.heading(response.hits.length);
    time.textContent = context.ms === undefined ? '' : strings.results.took(context.ms);
    head.hidden = response.hits.length === 0;
    if (response.hits.length === 0) below.append(nothing(context, response.meaning, onSearchAll));
    announce(response.hits.length ? strings.results.announce(response.hits.length, response.meaning) : strings.results.none);
    root.removeAttribute('aria-busy');
  };

  return {
    /**
     * @param {{ hits: any[], meaning: boolean }} response
     * @param {{ strings: any, query: any, ms?: number, meaningState: string }} context
     * @returns {Promise<void> | undefined} when the list stands there, or another one is drawn over it
     */
    show(response, context) {
      const upgrade = context.query.text === shownQuery && root.dataset.by === 'words' && response.meaning;
      const same = items.size === response.hits.length && byDocument(response.hits).every(({ hit }, i) => list.children[i] === items.get(idOf(hit))?.item);
      if (!upgrade || same || !isReading()) return draw({ response, context });
      pending = { response, context };
      if (root.querySelector('.newer')) return;
      const { results } = context.strings;
      head.after(el('div', { class: 'newer' }, results.newer, el('button', { type: 'button', class: 'button', onclick: () => {
        const had = list.contains(active());
        if (pending) draw(pending);
        root.scrollIntoView({ block: 'nearest' });
        if (had) list.querySelector('a')?.focus();
      } }, results.show)));
      announce(results.newer);
    },
    /** Grey lines while the first words are still loading. */
    waiting() {
      turn += 1;
      items.clear();
      shownQuery = '';
      delete root.dataset.by;
      head.hidden = true;
      list.replaceChildren();
      below.replaceChildren(...[1, 2, 3].map(() => el('div', { class: 'ghost', 'aria-hidden': true }, el('i'), el('i'), el('i'))));
      root.setAttribute('aria-busy', 'true');
      root.hidden = false;
    },
    /** Something that stops the search: what happened, what to do, and the code to quote. */
    problem({ title, text, code, retry, onRetry }) {
      this.clear();
      below.replaceChildren(el('div', { class: 'notice notice-problem', role: 'alert' },
        el('h2', {}, title), el('p', {}, text), el('p', { class: 'notice-code' }, code),
        el('button', { type: 'button', class: 'button', onclick: onRetry }, retry)));
      root.hidden = false;
    },
    clear() {
      turn += 1;
      items.clear();
      pending = undefined;
      shownQuery = '';
      delete root.dataset.by;
      list.replaceChildren();
      below.replaceChildren();
      root.querySelector('.newer')?.remove();
      root.hidden = true;
      root.removeAttribute('aria-busy');
    },
    /** Opens the first result in a tab of its own. */
    openFirst: () => {
      const first = list.querySelector('a');
      if (first) openTab(first);
    },
    /** Moves the focus to the first result, if there is one. */
    focusFirst: () => list.querySelector('a')?.focus(),
    /** Moves the focus back to a result that was opened. @param {string} id */
    focusOn: (id) => items.get(id)?.item.querySelector('a')?.focus(),
  };
}

/** Puts `wanted` into `list` in order and touches nothing that is already in its place, so that focus stays. */
function place(list, wanted, focused) {
  for (const child of [...list.children]) if (!wanted.includes(child)) child.remove();
  put(list, wanted, focused);
}

/** Puts `wanted` at the beginning of `list`; what else stands there comes behind. */
function put(list, wanted, focused) {
  wanted.forEach((item, i) => {
    if (list.children[i] !== item) list.insertBefore(item, list.children[i] ?? null);
  });
  if (focused instanceof HTMLElement && focused !== activeIn(list) && list.contains(focused)) focused.focus({ preventScroll: true });
}

/** Lets entries that moved glide from where they were. */
function slide(before, items) {
  for (const [id, { item }] of items) {
    const from = before.get(id);
    const by = from === undefined ? 0 : from - item.getBoundingClientRect().top;
    if (by) item.animate([{ transform: `translateY(${by}px)` }, { transform: 'none' }], { duration: 260, easing: 'cubic-bezier(.2,.7,.2,1)' });
  }
}

/**
 * Puts further hits of a document right behind its best one, so that a document stands in one place.
 * @param {any[]} hits in order of rank
 */
function byDocument(hits) {
  /** @type {Map<string, any[]>} */
  const documents = new Map();
  for (const hit of hits) {
    const key = `${hit.site ?? ''} ${hit.collection}/${hit.path}`;
    documents.set(key, [...(documents.get(key) ?? []), hit]);
  }
  return [...documents.values()].flatMap((group) => group.map((hit, i) => ({ hit, below: i > 0 })));
}

/** What tells a hit from the others. A passage has its own id once the text has come that it follows from. */
const idOf = (hit) => hit.chunkId || `${hit.site ?? ''} ${hit.collection}/${hit.path} ${hit.rank}`;

/** Waits for the next frame and returns how long it took; at once where the page is not seen. Milliseconds. @returns {Promise<number>} */
const frame = () => new Promise((resolve) => (document.hidden ? resolve(0) : requestAnimationFrame((begun) => setTimeout(() => resolve(performance.now() - begun), 0))));

const openTab = (link) => window.open(link.href, '_blank', 'noopener');

/** The element that has the focus, also inside a shadow tree. @param {Node} node @returns {Element | null} */
const activeIn = (node) => /** @type {Document | ShadowRoot} */ (node.getRootNode()).activeElement ?? null;

/** @param {boolean} under whether this is a further hit of the document above it */
function fill(item, hit, under, { strings, query }, base, href, mark) {
  const r = strings.results;
  const inner = hit.headingPath.at(-1) ?? hit.title;
  const outer = [hit.title, ...hit.headingPath.slice(0, -1)].filter((part, i, all) => part && part !== all[i - 1] && part !== inner).slice(under ? 1 : 0);
  const by = hit.lexicalScore === undefined ? 'meaning' : hit.vectorScore === undefined ? 'words' : 'both';
  const source = safeUrl(hit.url, hit.site ?? base);
  const lang = hit.lang === 'other' ? undefined : hit.lang;
  item.classList.toggle('hit-under', under);
  item.dataset.document = `${hit.collection}/${hit.path}`;
  item.replaceChildren(
    outer.length ? el('p', { class: 'hit-path', lang }, ...outer.map((part) => el('span', {}, part))) : '',
    el('h3', { class: 'hit-title', dir: 'auto', lang }, el('a', {
      href: href({ site: hit.site, doc: `${hit.collection}/${hit.path}`, passage: hit.chunkId, anchor: hit.anchor, query: query.text }),
      'data-chunk': idOf(hit),
    }, inner)),
    el('p', { class: 'hit-text', dir: 'auto', lang }, marked(hit.excerpt.text, hit.excerpt.marks)),
    el('p', { class: 'hit-foot' },
      el('span', { class: 'hit-file' }, hit.path),
      strings.langs[hit.lang] ? el('span', { class: 'hit-lang' }, strings.langs[hit.lang]) : '',
      el('span', { class: 'hit-by', 'data-by': by, title: r.byTitle[by] }, r.by[by]),
      source && !under ? el('a', { href: source, rel: 'noopener noreferrer', class: 'hit-source', 'aria-label': `${r.source}: ${hit.path}` }, r.source, icon(icons.out)) : '',
      mark ? mark(hit, query) : ''),
  );
}

function nothing({ strings, query, meaningState }, byMeaning, onSearchAll) {
  const r = strings.results;
  const scoped = query.collections.length + (query.filters?.length ?? 0) > 0;
  const advice = byMeaning ? r.noneAny : meaningState === 'off' || meaningState === 'failed' ? r.noneWordsOnly : r.noneWords;
  return el('div', { class: 'notice' }, el('h2', {}, r.none), el('p', {}, scoped ? r.noneScope : advice),
    scoped ? el('button', { type: 'button', class: 'button', onclick: onSearchAll }, r.searchAll) : '');
}
