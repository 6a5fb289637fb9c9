// Starts the page and keeps its parts in step: address, box, results, reader, status.

import { Engine } from './engine/client.js';
import { find } from './components/dom.js';
import { href, parseRoute } from './components/routes.js';
import { getSetting, setSetting, themeButton } from './components/settings.js';
import { searchBox } from './components/search-box.js';
import { resultList } from './components/results.js';
import { explain, statusLine } from './components/status.js';
import { library, scopes } from './components/library.js';
import { fillIn, languages, pickLanguage } from './i18n/index.js';

/** With the model at hand, results by words are held back this long, so that the list need not change twice. Milliseconds. */
const PATIENCE = 180;
/** Hits on a page of results. */
const HITS = 10;

const site = new URL('./', document.baseURI);
const engine = new Engine(new URL('kb/', site), { wantsMeaning: getSetting('meaning') !== 'off' });

let language = pickLanguage(getSetting('language'), navigator.languages ?? []);
let strings = languages[language];
let route = parseRoute(new URL(location.href));
let scope = '';
/** The running search. */
let turn = new AbortController();
/** What the list shows now, to know when it can be made better. */
let shown = { text: '', scope: '', meaning: false, hits: 0 };
/** What the engine's last event said. */
let lastState = { words: '', meaning: '' };
/** Passage to focus when the reader comes back to the list. */
let opened = '';

const live = find('[data-live]');
const announce = (/** @type {string} */ text) => (live.textContent = text);
const theme = themeButton(find('[data-theme]'));
const box = searchBox(find('[data-form]'), { onQuery: asked, onDown: () => results.focusFirst(), reveal: leaveReader });
const results = resultList(find('[data-results]'), { base: site, onUp: box.focus, onSearchAll: () => choose(''), announce });
const status = statusLine(find('[data-status]'), {
  announce,
  onUseMeaning: () => {
    setSetting('meaning', null);
    engine.useMeaning();
  },
  onWordsOnly: () => {
    setSetting('meaning', 'off');
    engine.useWordsOnly();
    shown = { ...shown, meaning: false, text: '\0' };
    search();
  },
});
/** The reader view's code is loaded with the first document. @type {Promise<ReturnType<typeof import('./components/reader.js').readerView>> | undefined} */
let reader;

translate();
find('[data-boot]').remove();
box.value = route.query;
show();
engine.addEventListener('state', engineChanged);
if (!route.doc && !route.query && matchMedia('(hover: hover)').matches) box.focus();
start();

async function start() {
  results.clear();
  shown.text = '\0';
  show();
  await engine.start();
}

// ——— searching ———

/** @param {string} text @param {'typed' | 'entered'} how */
function asked(text, how) {
  if (text !== route.query) {
    // One entry in the history for a question, not one for every letter of it.
    const begins = !route.query || !text;
    go({ query: text }, begins ? 'push' : 'replace');
  }
  if (how === 'entered') search();
}

/** From a document back to its search. */
function leaveReader() {
  if (!route.doc) return;
  const { query } = route;
  go({ query }, 'push');
  box.value = query;
}

/** @param {string} name */
function choose(name) {
  scope = name;
  scopes(find('[data-scopes]'), engine.info, scope, strings, choose);
  find(`[data-scope="${CSS.escape(name)}"]`).focus();
  shown.text = '\0';
  search();
}

async function search() {
  turn.abort();
  turn = new AbortController();
  const { signal } = turn;
  const text = route.query;
  if (!text || route.doc) return;
  if (engine.state.words === 'failed') return showProblem();
  if (engine.state.words !== 'ready') return results.waiting();
  const query = { text, k: HITS, mode: 'hybrid', collections: scope ? [scope] : [], filters: [] };
  const begun = performance.now();
  const byMeaning = engine.state.meaning === 'ready';
  const finish = async (asking, meaning) => {
    const response = await asking();
    paint(response, query, meaning, performance.now() - begun);
    if (!response.missing.length) return;
    // Titles are there at once; excerpts follow with the part of the text that they are in.
    await engine.loadText(response.missing, signal);
    paint(await asking(), query, meaning, undefined);
  };
  try {
    if (!byMeaning) return await finish(() => engine.searchWords(query, signal), false);
    let settled = false;
    const words = wait(PATIENCE, signal).then(() => (settled ? undefined : engine.searchWords(query, signal)))
      .then((response) => response && !settled && paint(response, query, false, performance.now() - begun)).catch(() => {});
    await finish(() => engine.searchMeaning(query, signal).finally(() => (settled = true)), true);
    await words;
  } catch (error) {
    if (error.name === 'AbortError' || signal.aborted) return;
    // The model failed, not the search: the state has said so, and words still answer.
    if (byMeaning && engine.state.words === 'ready') {
      return finish(() => engine.searchWords(query, signal), false).catch((second) => second.name !== 'AbortError' && showProblem(second));
    }
    // A worker that stopped is being started again; the same question is asked of the new one.
    if (/** @type {string} */ (engine.state.words) === 'loading') return results.waiting();
    showProblem(error);
  }
}

function paint(response, query, meaning, ms) {
  shown = { text: query.text, scope, meaning, hits: response.hits.length };
  results.show({ hits: response.hits, meaning }, { strings, query, ms, meaningState: engine.state.meaning });
  if (opened) results.focusOn(opened);
  opened = '';
}

function showProblem(error = engine.state.error) {
  shown.text = '\0';
  results.problem({
    title: strings.status.broken, text: explain(error, strings), code: `${error?.code ?? 'unknown'}: ${error?.message ?? ''}`,
    retry: strings.status.retry, onRetry: start,
  });
}

const wait = (ms, signal) => new Promise((resolve, reject) => {
  const timer = setTimeout(resolve, ms);
  signal.addEventListener('abort', () => {
    clearTimeout(timer);
    reject(new DOMException('', 'AbortError'));
  }, { once: true });
});

// ——— what is on the page ———

function engineChanged() {
  const { state } = engine;
  status.show(state, strings);
  if (state.words === 'failed' && lastState.words !== 'failed') {
    find('[data-library]').hidden = true;
    showProblem();
  }
  if (state.words === 'ready' && lastState.words !== 'ready') {
    describe();
    show();
  } else if (state.meaning !== lastState.meaning && shown.text === route.query && !shown.meaning) {
    // Better results, or at least better advice where there were none.
    if (state.meaning === 'ready' || shown.hits === 0) search();
  }
  lastState = { ...state };
}

/** Writes the title of the knowledge base, and its first letter as a seal. @param {string} title */
function name(title) {
  for (const element of document.querySelectorAll('[data-title]')) element.textContent = title;
  find('[data-seal]').textContent = [...title].find((char) => /[\p{L}\p{N}]/u.test(char))?.toUpperCase() ?? '';
}

/** Title, counts, collections and documents, once they are known. */
function describe() {
  const { info } = engine;
  name(info.title || strings.title);
  find('[data-intro]').textContent = strings.intro(info.documents.length, info.chunks);
  library(find('[data-library]'), info, strings);
  scopes(find('[data-scopes]'), info, scope, strings, choose);
}

/** Brings the page to the state that the address names. */
async function show() {
  const view = route.doc ? 'document' : route.query ? 'results' : 'home';
  document.body.dataset.view = view;
  const ready = engine.state.words === 'ready';
  find('[data-reader]').hidden = view !== 'document';
  find('[data-library]').hidden = view !== 'home' || !ready;
  find('[data-results]').hidden = view !== 'results' && engine.state.words !== 'failed';
  const title = engine.info?.title || strings.title;
  if (view === 'home') {
    turn.abort();
    if (engine.state.words !== 'failed') results.clear();
    shown.text = '\0';
    document.title = title;
  } else if (view === 'results') {
    document.title = `${route.query} · ${title}`;
    if (shown.text !== route.query || shown.scope !== scope) search();
    else if (opened) {
      results.focusOn(opened);
      opened = '';
    }
  } else if (ready) {
    try {
      reader ??= import('./components/reader.js').then(({ readerView }) => readerView(find('[data-reader]'), { engine, base: site }));
      const drawn = await (await reader).open(route, strings);
      document.title = `${drawn.title} · ${title}`;
    } catch (error) {
      if (error.name === 'AbortError') return;
      find('[data-results]').hidden = false;
      showProblem(error);
    }
  }
}

/** @param {Partial<import('./components/routes.js').Route>} next @param {'push' | 'replace'} how */
function go(next, how) {
  const address = href(next);
  history[how === 'push' ? 'pushState' : 'replaceState']({ scope }, '', address);
  route = parseRoute(new URL(location.href));
  show();
}

addEventListener('popstate', () => {
  route = parseRoute(new URL(location.href));
  if (!route.doc) box.value = route.query;
  show();
});

// Links inside the page change the address without loading it again; with a modifier they stay links.
document.addEventListener('click', (event) => {
  const link = /** @type {HTMLElement} */ (event.target).closest?.('a');
  if (!link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  const url = new URL(link.href, location.href);
  if (url.origin !== location.origin || url.pathname !== site.pathname || link.classList.contains('skip')) return;
  event.preventDefault();
  if (link.dataset.chunk) opened = link.dataset.chunk;
  const to = parseRoute(url);
  if (link.dataset.back === 'results' && history.state?.fromResults) return history.back();
  history.pushState({ fromResults: Boolean(link.dataset.chunk) }, '', href(to));
  route = to;
  if (!to.doc) box.value = to.query;
  show();
  if (!to.doc && !to.query) box.focus();
});

// ——— language ———

function translate() {
  strings = languages[language];
  document.documentElement.lang = language === 'zh' ? 'zh-Hans' : language;
  fillIn(document, strings);
  if (!engine.info) name(strings.title);
  const others = /** @type {(keyof typeof languages)[]} */ (Object.keys(languages));
  const next = others[(others.indexOf(language) + 1) % others.length];
  const button = find('[data-language]');
  button.textContent = languages[next].switchTo;
  button.lang = next;
  button.onclick = () => {
    language = next;
    setSetting('language', next);
    translate();
    if (engine.state.words === 'ready') describe();
    shown.text = '\0';
    show();
  };
  box.translate(strings);
  theme.translate(strings);
  status.show(engine.state, strings);
}
