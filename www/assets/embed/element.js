// What both elements have in common: where the knowledge base is, its one engine, its styles, language and fixed filter.

import { savedAccess } from '../components/service-access.js';
import { getSetting } from '../components/settings.js';
import { Engine } from '../engine/client.js';
import { EngineGroup } from '../engine/group.js';
import { isCarried, request, siteUrl } from '../engine/host.js';
import { languages, pickLanguage } from '../i18n/index.js';
import { admits, conditions, untold } from './scope.js';

/** The site that this script is part of. */
const HOME = isCarried() ? siteUrl() : new URL('../../', import.meta.url);
const SHEETS = ['common.css', 'search.css', 'reader.css', 'answer.css', 'embed.css'];

/** The colour schemes of the page around an element: by its styles, else by the page's meta element. @param {Element} element */
function schemes(element) {
  const { colorScheme } = getComputedStyle(element);
  if (colorScheme !== 'normal') return colorScheme;
  return document.querySelector('meta[name="color-scheme" i]')?.getAttribute('content')?.toLowerCase() ?? '';
}

/** One engine, and so one model, for all elements of a knowledge base. @type {Map<string, Engine>} */
const engines = new Map();
/** The same for several that are searched as one. @type {Map<string, EngineGroup>} */
const groups = new Map();
/** @type {WeakSet<import('../engine/group.js').AnyEngine>} */
const started = new WeakSet();
/** @type {Promise<CSSStyleSheet[]> | undefined} */
let sheets;

/** The styles as sheets of the shadow tree: a policy for styles on the page does not concern those. */
function styles() {
  sheets ??= Promise.all(SHEETS.map(async (name) => {
    const sheet = new CSSStyleSheet();
    const response = await request(new URL(`../styles/${name}`, import.meta.url)).catch(() => undefined);
    // Without a style the element is plain, and works.
    if (response) sheet.replaceSync(await response.text());
    return sheet;
  }));
  return sheets;
}

/** @param {URL} site @returns {Engine} */
function engineOf(site) {
  let engine = engines.get(site.href);
  if (!engine) engines.set(site.href, engine = new Engine(new URL('kb/', site), { wantsMeaning: getSetting('meaning') !== 'off', access: savedAccess(document.documentElement.lang) }));
  return engine;
}

/**
 * Attributes: `src` (the site's folder; default: the one this script came from), `lang`, `theme` (`light` or `dark`;
 * default: as the system, where the page's `color-scheme` has dark too), `collections` (names separated by commas; only these are searched), `filters` (conditions as `--filter` takes them, separated by semicolons), `bundles` (instead of
 * `src`: folders of several sites, separated by commas, each with a weight behind it or without: `git/, sql/ 0.5`).
 */
export class KbElement extends HTMLElement {
  static observedAttributes = ['src', 'bundles', 'lang', 'collections', 'filters'];

  /** @type {ShadowRoot} */ tree;
  #built = false;

  constructor() {
    super();
    this.tree = this.attachShadow({ mode: 'open' });
  }

  async connectedCallback() {
    if (this.#built) return;
    this.#built = true;
    // A page that knows no dark stays light under a dark system, and so does what stands on it.
    if (!this.hasAttribute('theme') && !schemes(this).includes('dark')) this.setAttribute('theme', 'light');
    this.tree.adoptedStyleSheets = await styles();
    this.build();
  }

  attributeChangedCallback(_name, before, now) {
    if (this.tree.childElementCount && before !== now) this.build();
  }

  /**
   * Tells the page; the types of what is told are in kb-embed.d.ts.
   * @param {string} name @param {any} detail @returns {boolean} whether the page leaves it to the element
   */
  tell(name, detail) {
    return this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true, cancelable: name === 'kb-open' }));
  }

  /** Fills the shadow tree anew. */
  build() {}

  /** The folder of the knowledge base's site. */
  get site() {
    return this.bundles[0].site;
  }

  /** The sites that are searched, each with its weight; one unless the attribute `bundles` names more. */
  get bundles() {
    const src = this.getAttribute('src');
    const list = isCarried() ? [] : (this.getAttribute('bundles') ?? src ?? '').split(',').map((item) => item.trim().split(/\s+/)).filter(([folder]) => folder);
    if (list.length === 0) return [{ site: HOME, weight: 1 }];
    for (const [folder, weight, more] of list) {
      if (more !== undefined || (weight !== undefined && !(Number(weight) > 0 && Number.isFinite(Number(weight))))) {
        console.error(`kb-builder: in the attribute bundles, “${folder}” is followed by “${more ?? weight}”, which is no weight above 0. Folders are separated by commas.`);
      }
    }
    return list.map(([folder, weight]) => ({
      site: new URL(folder.endsWith('/') ? folder : `${folder}/`, document.baseURI),
      weight: Number(weight) > 0 && Number.isFinite(Number(weight)) ? Number(weight) : 1,
    }));
  }

  /** Their addresses. */
  get sites() {
    return this.bundles.map(({ site }) => site.href);
  }

  /** Collections that the page's author allows; none for all. */
  get collections() {
    return (this.getAttribute('collections') ?? '').split(',').map((name) => name.trim()).filter(Boolean);
  }

  /** Conditions that the page's author fixes beside the collections. */
  get filters() {
    return conditions(this.getAttribute('filters'));
  }

  /** Whether readers may open a document. @param {{ collection: string, path: string, lang: string }} document */
  admits(document) {
    return admits(document, this.collections, this.filters);
  }

  /** The same with what only the engine knows of a document: its tags, dates and front matter. @param {any} document @returns {Promise<boolean>} */
  async mayOpen(document) {
    const filters = untold(this.filters);
    return this.admits(document) && (filters.length === 0 || this.engine.holds(document, filters));
  }

  get strings() {
    return languages[pickLanguage(this.getAttribute('lang'), [document.documentElement.lang, ...(navigator.languages ?? [])])];
  }

  /** The engine, not yet started. */
  get engine() {
    const { bundles } = this;
    if (bundles.length === 1) return engineOf(bundles[0].site);
    const key = bundles.map(({ site, weight }) => `${site.href} ${weight}`).join();
    let group = groups.get(key);
    if (!group) groups.set(key, group = new EngineGroup(bundles.map(({ site, weight }) => ({ engine: engineOf(site), site, weight }))));
    return group;
  }

  /**
   * Starts the engine with the first sign that somebody wants to search.
   * @param {{ meaning?: boolean }} [options] without `meaning` the model is left for the first search
   */
  wake({ meaning = true } = {}) {
    const { engine } = this;
    if (started.has(engine)) return;
    if (!meaning) return engine.startWords();
    started.add(engine);
    engine.start();
  }
}
