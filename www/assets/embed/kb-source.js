// <kb-source>: one document of the knowledge base on the page, with a passage pointed out.

import { el } from '../components/dom.js';
import { readerView } from '../components/reader.js';
import { href as pageHref, parseRoute } from '../components/routes.js';
import { explain } from '../components/status.js';
import { isCarried } from '../engine/host.js';
import { KbElement } from './element.js';

/** Attributes beside those of all elements: `doc` (`collection/path`), `passage` (its id, as in an address), `anchor` (a heading). */
export class KbSource extends KbElement {
  static observedAttributes = [...KbElement.observedAttributes, 'doc', 'passage', 'anchor'];

  /** @type {AbortController | undefined} */ #built;

  build() {
    this.#built?.abort();
    this.#built = new AbortController();
    const { signal } = this.#built;
    const { engine, site, sites, strings } = this;
    const sheet = el('div', { class: 'reader', part: 'reader' });
    const said = el('div', { class: 'kb', lang: strings.name === '中文' ? 'zh-Hans' : 'en' }, el('p', { class: 'status-line', role: 'status' }, strings.reader.loading));
    this.tree.replaceChildren(said);
    /** @type {import('../components/routes.js').Href} */
    const href = (route) => (isCarried() ? pageHref(route) : new URL(pageHref(route), route.site ?? site).href);
    const reader = readerView(sheet, { engine, base: site, href, top: () => {}, wide: () => false, focus: false, admits: (document) => this.admits(document), mayOpen: (document) => this.mayOpen(document) });
    const notice = (text) => said.replaceChildren(el('div', { class: 'notice notice-problem', role: 'alert' }, el('p', {}, text)));

    /** @param {import('../components/routes.js').Route} route */
    const show = async (route) => {
      try {
        await reader.open(route, strings);
        if (!signal.aborted) said.replaceChildren(sheet);
      } catch (error) {
        if (error.name !== 'AbortError' && !signal.aborted) notice(explain(error, strings));
      }
    };
    const first = { doc: this.getAttribute('doc') ?? '', passage: this.getAttribute('passage') ?? '', anchor: this.getAttribute('anchor') ?? '', query: '' };
    const begin = () => {
      if (engine.state.words === 'failed') notice(explain(engine.state.error, strings));
      if (engine.state.words !== 'ready') return;
      engine.removeEventListener('state', begin);
      show(first);
    };
    if (!first.doc) return notice(strings.reader.noDoc);
    engine.addEventListener('state', begin, { signal });
    // Links to other documents stay inside the element; with a modifier they open the knowledge base's own page.
    sheet.addEventListener('click', (event) => {
      const link = /** @type {HTMLElement} */ (event.target).closest('a');
      if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
      const at = link.href.split(/[?#]/)[0];
      if (isCarried() ? !link.hash.startsWith('#?') : !sites.includes(at)) return;
      const route = { ...parseRoute(new URL(link.href)), site: sites.length > 1 ? at : undefined };
      if (!route.doc) return;
      event.preventDefault();
      show(route);
    }, { signal });
    this.wake({ meaning: false });
    begin();
  }
}
