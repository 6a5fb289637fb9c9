// Box, status, results and reader inside a shadow tree.

import { el, icon } from '../components/dom.js';
import { ALL, facets } from '../components/library.js';
import { readerView } from '../components/reader.js';
import { resultList } from '../components/results.js';
import { href as pageHref, parseRoute } from '../components/routes.js';
import { searchBox } from '../components/search-box.js';
import { searchSession } from '../components/session.js';
import { setSetting } from '../components/settings.js';
import { statusLine, statusParts } from '../components/status.js';
import { bareName } from '../engine/group.js';
import { isCarried } from '../engine/host.js';
import { narrowed } from './scope.js';

/**
 * @param {import('./element.js').KbElement} host
 * @param {{ top?: () => void, landmark?: boolean, answers?: boolean }} [options] `answers` puts an answer above the results, which Enter asks for; `top` brings the beginning of a document into view; inside a
 *   dialog, which has a name of its own, the search is no landmark
 */
export function panel(host, { top = () => host.scrollIntoView({ block: 'nearest' }), landmark = true, answers = false } = {}) {
  const { engine, site, sites, strings, collections, filters } = host;
  const language = strings.name === '中文' ? 'zh-Hans' : 'en';
  let text = '';
  let chosen = ALL;
  let opened = '';
  let last = { words: '', meaning: '' };
  /** Whether Enter has asked for an answer that is still to come. */
  let wanted = false;
  /** @type {Promise<ReturnType<typeof import('../components/answer.js').answerCard>> | undefined} */
  let card;
  /** @type {Promise<ReturnType<typeof import('../components/nearest.js').nearestSentences>> | undefined} */
  let nearest;

  const magnifier = icon('M4.5 10.8a6.3 6.3 0 1 0 12.6 0 6.3 6.3 0 1 0-12.6 0m11.1 4.8 4.9 4.9');
  magnifier.classList.add('box-icon');
  const input = el('input', {
    id: 'q', name: 'q', type: 'search', autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false', enterkeyhint: 'search',
    'aria-describedby': 'status-text', 'aria-controls': 'results', part: 'input',
  });
  const form = el('form', { class: 'box', part: 'box' },
    el('label', { class: 'visually-hidden', for: 'q' }, strings.search.label), magnifier, input,
    el('button', { class: 'box-clear', type: 'button', 'data-clear': true, hidden: true }, icon('m6.5 6.5 11 11m0-11-11 11')));
  const statusRoot = statusParts();
  const pills = el('div', { class: 'scopes', hidden: true });
  const list = el('section', { class: 'results', id: 'results', part: 'results', hidden: true });
  const above = el('div', { class: 'answers', part: 'answer', hidden: true });
  const sheet = el('div', { class: 'reader', part: 'reader', hidden: true });
  const live = el('div', { class: 'visually-hidden', role: 'status', 'aria-live': 'polite', 'aria-atomic': 'true' });
  const search = el('div', { class: 'search', role: landmark && 'search', 'aria-label': landmark && strings.search.label }, form, statusRoot, pills);
  const root = el('div', { class: 'kb', lang: language, 'data-view': 'home' }, search, above, list, sheet, live);

  /** @type {import('../components/routes.js').Href} */
  const href = (route) => (isCarried() ? pageHref(route) : new URL(pageHref(route), route.site ?? site).href);
  const announce = (/** @type {string} */ said) => (live.textContent = said);
  const box = searchBox(form, {
    onQuery: (now, how) => {
      text = now;
      nearest?.then((pointer) => pointer.stop(), () => {});
      if (how === 'entered') session.forget();
      wanted = answers && how === 'entered';
      show();
    },
    onDown: () => results.focusFirst(), onOpen: () => results.openFirst(),
  });
  const results = resultList(list, { base: site, href, onUp: box.focus, onSearchAll: () => choose(ALL), announce });
  const session = searchSession({ engine, results, strings: () => strings, onRetry: () => engine.start(), onPainted: painted, hits: 8 });
  const status = statusLine(statusRoot, {
    announce,
    onConnect: () => import('../components/service-settings.js')
      .then(({ openServiceSettings }) => openServiceSettings({ engine, strings, language: strings.name === '中文' ? 'zh' : 'en', place: statusRoot }), () => {}),
    onUseMeaning: () => {
      setSetting('meaning', null);
      engine.useMeaning();
    },
    onWordsOnly: () => {
      setSetting('meaning', 'off');
      engine.useWordsOnly();
      session.forget();
      show();
    },
  });
  const reader = readerView(sheet, { engine, base: site, href, top, wide: () => false, admits: (document) => host.admits(document), mayOpen: (document) => host.mayOpen(document) });
  box.translate(strings);

  const question = () => ({
    text,
    collections: chosen.collection ? [chosen.collection] : collections,
    filters: [...narrowed(filters, chosen.lang), ...(chosen.tag ? [{ key: 'tag', value: chosen.tag }] : [])],
  });

  /** @param {any} response @param {any} query @param {boolean} meaning */
  function painted(response, query, meaning) {
    host.tell('kb-results', { text: query.text, hits: response.hits, meaning });
    nearest ??= import('../components/nearest.js').then(({ nearestSentences }) => nearestSentences(list, engine));
    nearest.catch(() => (nearest = undefined));
    if (meaning) pointAt(query.text);
    if (answers) offer();
  }

  /** Marks the sentences that are nearest to the question. @param {string} asked */
  async function pointAt(asked) {
    const pointer = await nearest?.catch(() => undefined);
    if (text === asked) pointer?.point(asked);
  }

  /** The answer's code comes with the first results of an element that has one. */
  async function offer() {
    card ??= import('../components/answer.js').then(({ answerCard }) => answerCard(above, {
      engine, base: site, href, strings: () => strings, language: () => language.slice(0, 2), announce, place: root,
    }));
    const shown = await card.catch(() => (card = undefined));
    shown?.about(question());
    if (!wanted || !shown) return;
    wanted = false;
    shown.ask();
  }

  function choose(next) {
    const at = [...pills.querySelectorAll('.scope')].findIndex((pill) => pill.matches(':focus'));
    chosen = next;
    facets(pills, shown(engine.info), chosen, strings, choose);
    /** @type {HTMLElement} */ (pills.querySelectorAll('.scope')[Math.max(at, 0)])?.focus();
    session.forget();
    show();
  }

  /** What the page's author lets readers see of the knowledge base. */
  const shown = (info) => (collections.length + filters.length === 0 ? info : {
    ...info,
    collections: info.collections.filter(({ name }) => collections.length === 0 || collections.includes(bareName(name))),
    documents: info.documents.filter((document) => host.admits(document)),
    // They are counted over the whole base, and beside a fixed tag another one would be an alternative to it.
    tags: [],
  });

  function view(name) {
    root.dataset.view = name;
    list.hidden = name !== 'results';
    above.hidden = !answers || name !== 'results';
    sheet.hidden = name !== 'document';
  }

  function show() {
    if (sheet.hidden === false) reader.close();
    view(text ? 'results' : 'home');
    if (!text) {
      session.stop();
      session.forget();
      return results.clear();
    }
    if (!session.shows(question())) session.search(question());
    else if (opened) results.focusOn(opened);
    opened = '';
  }

  /** @param {import('../components/routes.js').Route} route */
  async function read(route) {
    try {
      view('document');
      await reader.open(route, strings);
    } catch (error) {
      if (error.name === 'AbortError') return;
      view('results');
      session.problem(error);
    }
  }

  root.addEventListener('click', (event) => {
    const link = /** @type {HTMLElement} */ (event.target).closest('a');
    if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    const at = link.href.split(/[?#]/)[0];
    const inside = isCarried() ? link.hash.startsWith('#?') : sites.includes(at);
    if (!inside) return;
    event.preventDefault();
    const route = { ...parseRoute(new URL(link.href)), site: sites.length > 1 ? at : undefined };
    if (route.doc && !host.tell('kb-open', { doc: route.doc, passage: route.passage, anchor: route.anchor, text, url: link.href })) return;
    if (link.dataset.chunk) opened = link.dataset.chunk;
    if (route.doc) return read(route);
    show();
    if (!opened) box.focus();
  });
  search.addEventListener('focusin', () => host.wake());
  search.addEventListener('pointerenter', () => host.wake());

  function engineChanged() {
    const { state } = engine;
    if (state.words !== 'starting') status.show(state, strings);
    if (state.words !== last.words || state.meaning !== last.meaning) host.tell('kb-state', { words: state.words, meaning: state.meaning, reason: state.reason });
    if (state.words === 'ready' && last.words !== 'ready') {
      facets(pills, shown(engine.info), chosen, strings, choose);
      show();
    } else if (state.words === 'failed' && last.words !== 'failed') {
      view('results');
      session.problem();
    } else if (state.meaning !== last.meaning && text && sheet.hidden) {
      session.improve(question());
    }
    last = { ...state };
  }
  engine.addEventListener('state', engineChanged);
  engineChanged();

  return {
    root,
    focus: box.focus,
    /** Lets go of the engine. */
    close: () => engine.removeEventListener('state', engineChanged),
  };
}
