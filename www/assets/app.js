// Starts the page and keeps its parts in step: address, box, results, reader, status.

import { Engine } from './engine/client.js';
import { isCarried, siteUrl } from './engine/host.js';
import { find, style } from './components/dom.js';
import { feedbackExport, resultFeedback } from './components/feedback.js';
import { ALL, facets, library } from './components/library.js';
import { remember, showRecent } from './components/recent.js';
import { resultList } from './components/results.js';
import { href, parseRoute } from './components/routes.js';
import { searchBox } from './components/search-box.js';
import { savedAccess } from './components/service-access.js';
import { searchSession } from './components/session.js';
import { getSetting, setSetting, themeButton } from './components/settings.js';
import { statusLine } from './components/status.js';
import { fillIn, languages, pickLanguage } from './i18n/index.js';

const site = siteUrl();
/** The title that the page was written with, so that it stands there from the beginning. */
const ownTitle = /** @type {HTMLMetaElement | null} */ (document.querySelector('meta[name="application-name"]'))?.content ?? '';
let language = pickLanguage(getSetting('language'), navigator.languages ?? []);
const engine = new Engine(new URL('kb/', site), { wantsMeaning: getSetting('meaning') !== 'off', access: savedAccess(language) });

let strings = languages[language];
let route = parseRoute(new URL(location.href));
/** What the reader narrows the search down to. @type {import('./components/library.js').Chosen} */
let chosen = ALL;
/** What the engine's last event said. */
let lastState = { words: '', meaning: '' };
/** Passage to focus when the reader comes back to the list. */
let opened = '';
/** Whether the last word may only be the beginning of one. */
let unfinished = false;

const live = find('[data-live]');
const announce = (/** @type {string} */ text) => (live.textContent = text);
const theme = themeButton(find('button[data-theme]'));
const box = searchBox(find('[data-form]'), { onQuery: asked, onDown: () => results.focusFirst(), onOpen: () => results.openFirst(), reveal: leaveReader });
const results = resultList(find('[data-results]'), { base: site, onUp: box.focus, onSearchAll: () => choose(ALL), announce, mark: (hit, query) => resultFeedback(hit, query, strings.feedback) });
const session = searchSession({ engine, results, strings: () => strings, onRetry: start, onPainted: painted });
const feedback = feedbackExport(find('[data-feedback-kept]'), { strings: () => strings });
const status = statusLine(find('[data-status]'), {
  announce,
  onUseMeaning: () => {
    setSetting('meaning', null);
    engine.useMeaning();
  },
  onConnect: () => import('./components/service-settings.js').then(({ openServiceSettings }) => openServiceSettings({ engine, strings, language }), () => {}),
  onWordsOnly: () => {
    setSetting('meaning', 'off');
    engine.useWordsOnly();
    session.forget();
    search();
  },
});
/** What keeps the page for times without a network. @type {Promise<ReturnType<typeof import('./components/offline.js').offline>> | undefined} */
let away;
/** The answer above the results. @type {Promise<ReturnType<typeof import('./components/answer.js').answerCard>> | undefined} */
let card;
/** What marks the nearest sentences. @type {Promise<ReturnType<typeof import('./components/nearest.js').nearestSentences>> | undefined} */
let nearest;
/** The reader view's code is loaded with the first document. @type {Promise<ReturnType<typeof import('./components/reader.js').readerView>> | undefined} */
let reader;

translate();
find('[data-brand]').href = href({});
find('[data-boot]').remove();
/** What was typed before this script was there. */
const typed = box.value;
box.value = route.query;
show();
engine.addEventListener('state', engineChanged);
if (typed && typed !== route.query) {
  box.value = typed;
  asked(typed, 'typed');
}
if (!route.doc && !route.query && matchMedia('(hover: hover)').matches) box.focus();
start();

async function start() {
  results.clear();
  session.forget();
  show();
  await engine.start();
}

// ——— searching ———

/** @param {string} text @param {'typed' | 'entered'} how */
function asked(text, how) {
  unfinished = how === 'typed';
  if (text !== route.query) {
    // One entry in the history for a question, not one for every letter of it.
    const begins = !route.query || !text;
    go({ query: text }, begins ? 'push' : 'replace');
  }
  if (how === 'entered') {
    remember(text);
    search();
  }
}

/** From a document back to its search. */
function leaveReader() {
  if (!route.doc) return;
  const { query } = route;
  go({ query }, 'push');
  box.value = query;
}

/** @param {import('./components/library.js').Chosen} next */
function choose(next) {
  const row = find('[data-scopes]');
  const pressed = document.activeElement?.closest('.scope');
  const at = [...row.querySelectorAll('.scope')].findIndex((pill) => pill === pressed);
  chosen = next;
  facets(row, engine.info, chosen, strings, choose);
  /** @type {HTMLElement} */ (row.querySelectorAll('.scope')[Math.max(at, 0)])?.focus();
  session.forget();
  search();
}

/** What the page asks now. */
function question() {
  return {
    text: route.query,
    collections: chosen.collection ? [chosen.collection] : [],
    filters: [...(chosen.lang ? [{ key: 'lang', value: chosen.lang }] : []), ...(chosen.tag ? [{ key: 'tag', value: chosen.tag }] : [])],
    unfinished,
  };
}

function search() {
  nearest?.then((pointer) => pointer.stop(), () => {});
  if (route.query && !route.doc) session.search(question());
}

/** @param {any} _response @param {{ text: string }} query @param {boolean} meaning */
function painted(_response, query, meaning) {
  returnToOpened();
  offerAnswer();
  loadLater();
  if (meaning) pointAt(query.text);
}

function loadNearest() {
  nearest ??= import('./components/nearest.js').then(({ nearestSentences }) => nearestSentences(find('[data-results]'), engine));
  nearest.catch(() => (nearest = undefined));
}

/** Marks the sentences that are nearest to the question. @param {string} question */
async function pointAt(question) {
  const pointer = await nearest?.catch(() => undefined);
  pointer?.point(question);
}

/** What the first results need not: at hand soon after them all the same, since the network may go. */
function loadLater() {
  loadCard();
  loadAway();
  loadNearest();
}

/** The answer's code comes behind the first results, or when the page has nothing else to do, so that it is there without a network too. */
function loadCard() {
  card ??= Promise.all([import('./components/answer.js'), style('answer')]).then(([{ answerCard }]) => answerCard(find('[data-answers]'), { engine, base: site, strings: () => strings, language: () => language, announce }));
  card.catch(() => (card = undefined));
  return card;
}

function loadAway() {
  away ??= import('./components/offline.js').then(({ offline }) => {
    const shown = offline(find('[data-offline]'), { site, announce });
    shown.translate(strings);
    return shown;
  });
  away.catch(() => (away = undefined));
  return away;
}

function offerAnswer() {
  loadCard().then((shown) => shown.about(question()), () => {});
}

function returnToOpened() {
  if (opened) results.focusOn(opened);
  opened = '';
}

// ——— what is on the page ———

function engineChanged() {
  const { state } = engine;
  status.show(state, strings);
  if (state.words === 'failed' && lastState.words !== 'failed') {
    find('[data-library]').hidden = true;
    session.problem();
  }
  if (state.words === 'ready' && lastState.words !== 'ready') {
    describe();
    show();
    setSetting('early', /** @type {HTMLMetaElement | null} */ (document.querySelector('meta[name="kb-early"]'))?.content ?? null);
    // The first search goes before.
    setTimeout(() => route.query || loadLater(), 500);
    setTimeout(() => loadAway().then((shown) => shown.begin(), () => {}), 1500);
  } else if (state.meaning !== lastState.meaning && route.query && !route.doc) {
    session.improve(question());
  }
  if (state.meaning === 'ready' && lastState.meaning !== 'ready') loadAway().then((shown) => shown.meaningLoaded(), () => {});
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
  name(info.title || ownTitle || strings.title);
  find('[data-intro]').textContent = strings.intro(info.documents.length, info.chunks);
  library(find('[data-library]'), info, strings);
  facets(find('[data-scopes]'), info, chosen, strings, choose);
}

/** Brings the page to the state that the address names. */
async function show() {
  const view = route.doc ? 'document' : route.query ? 'results' : 'home';
  document.body.dataset.view = view;
  const ready = engine.state.words === 'ready';
  find('[data-reader]').hidden = view !== 'document';
  find('[data-library]').hidden = view !== 'home' || !ready;
  find('[data-results]').hidden = view !== 'results' && engine.state.words !== 'failed';
  const title = engine.info?.title || ownTitle || strings.title;
  if (view === 'home') {
    session.stop();
    if (engine.state.words !== 'failed') results.clear();
    session.forget();
    showRecent(find('[data-recent]'), strings);
    document.title = title;
  } else if (view === 'results') {
    document.title = `${route.query} · ${title}`;
    if (session.shows(question())) returnToOpened();
    else search();
  } else if (ready) {
    try {
      reader ??= Promise.all([import('./components/reader.js'), style('reader')]).then(([{ readerView }]) => readerView(find('[data-reader]'), { engine, base: site }));
      const drawn = await (await reader).open(route, strings);
      document.title = `${drawn.title} · ${title}`;
    } catch (error) {
      if (error.name === 'AbortError') return;
      find('[data-results]').hidden = false;
      session.problem(error);
    }
  }
}

/** @param {Partial<import('./components/routes.js').Route>} next @param {'push' | 'replace'} how */
function go(next, how) {
  const address = href(next);
  history[how === 'push' ? 'pushState' : 'replaceState']({}, '', address);
  route = parseRoute(new URL(location.href));
  show();
}

addEventListener('popstate', () => {
  unfinished = false;
  route = parseRoute(new URL(location.href));
  if (!route.doc) box.value = route.query;
  show();
});

/** Whether an address is one of this page's. In a handout only the fragment may differ. @param {URL} url */
const isOurs = (url) => (isCarried()
  ? url.hash.startsWith('#?') && url.href.split('#')[0] === location.href.split('#')[0]
  : url.origin === location.origin && url.pathname === site.pathname);

// Links inside the page change the address without loading it again; with a modifier they stay links.
document.addEventListener('click', (event) => {
  const link = /** @type {HTMLElement} */ (event.target).closest?.('a');
  if (!link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  const url = new URL(link.href, location.href);
  if (!isOurs(url) || link.classList.contains('skip')) return;
  event.preventDefault();
  if (link.dataset.chunk) {
    opened = link.dataset.chunk;
    remember(route.query);
  }
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
  if (!engine.info) name(ownTitle || strings.title);
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
    session.forget();
    card?.then((shown) => shown.translate());
    show();
  };
  box.translate(strings);
  theme.translate(strings);
  away?.then((shown) => shown.translate(strings), () => {});
  feedback.translate();
  status.show(engine.state, strings);
}
