// What both elements have in common: where the knowledge base is, its one engine, its styles, language and fixed filter.

import { getSetting } from '../components/settings.js';
import { Engine } from '../engine/client.js';
import { isCarried, request, siteUrl } from '../engine/host.js';
import { languages, pickLanguage } from '../i18n/index.js';

/** The site that this script is part of. */
const HOME = isCarried() ? siteUrl() : new URL('../../', import.meta.url);
const SHEETS = ['common.css', 'search.css', 'reader.css', 'embed.css'];

/** One engine, and so one model, for all elements of a knowledge base. @type {Map<string, Engine>} */
const engines = new Map();
/** @type {WeakSet<Engine>} */
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

/**
 * Attributes: `src` (the site's folder; default: the one this script came from), `lang`, `theme` (`light` or `dark`;
 * default: as the system), `collections` (names separated by commas; only these are searched).
 */
export class KbElement extends HTMLElement {
  static observedAttributes = ['src', 'lang', 'collections'];

  /** @type {ShadowRoot} */ tree;
  #built = false;

  constructor() {
    super();
    this.tree = this.attachShadow({ mode: 'open' });
  }

  async connectedCallback() {
    if (this.#built) return;
    this.#built = true;
    this.tree.adoptedStyleSheets = await styles();
    this.build();
  }

  attributeChangedCallback(_name, before, now) {
    if (this.tree.childElementCount && before !== now) this.build();
  }

  /** Fills the shadow tree anew. */
  build() {}

  /** The folder of the knowledge base's site. */
  get site() {
    const src = this.getAttribute('src');
    if (isCarried() || !src) return HOME;
    return new URL(src.endsWith('/') ? src : `${src}/`, document.baseURI);
  }

  /** Collections that the page's author allows; none for all. */
  get collections() {
    return (this.getAttribute('collections') ?? '').split(',').map((name) => name.trim()).filter(Boolean);
  }

  get strings() {
    return languages[pickLanguage(this.getAttribute('lang'), [document.documentElement.lang, ...(navigator.languages ?? [])])];
  }

  /** The engine, not yet started. */
  get engine() {
    const { site } = this;
    let engine = engines.get(site.href);
    if (!engine) {
      engine = new Engine(new URL('kb/', site), { wantsMeaning: getSetting('meaning') !== 'off' });
      engines.set(site.href, engine);
    }
    return engine;
  }

  /** Starts the engine with the first sign that somebody wants to search. */
  wake() {
    const { engine } = this;
    if (started.has(engine)) return;
    started.add(engine);
    engine.start();
  }
}
