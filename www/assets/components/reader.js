// The reader view: a document with its contents, and the passage that was found.

import { el, icon, icons, safeUrl } from './dom.js';
import { href as pageHref } from './routes.js';
import { renderMarkdown } from '../markdown/render.js';

/** Prefix of element ids made from a document's anchors, so that none can take the place of one of the page's own. */
const ID = 'at-';

/**
 * @param {HTMLElement} root
 * @param {{ engine: import('../engine/group.js').AnyEngine, base: URL, href?: import('./routes.js').Href, top?: () => void, wide?: () => boolean, focus?: boolean, admits?: (document: any) => boolean, mayOpen?: (document: any) => Promise<boolean> }} services
 *   `top` brings the beginning of a document into view; `wide` says whether the contents stand beside it; without `focus`
 *   opening moves neither the page nor the focus, but for a reader who follows a link; what `admits` or `mayOpen` refuses is not there
 */
export function readerView(root, { engine, base, href = pageHref, top = () => scrollTo(0, 0), wide = () => matchMedia('(min-width: 64rem)').matches, focus = true, admits = () => true, mayOpen = async () => true }) {
  let shown = '';
  /** The formulas of what is shown, on their way. @type {Promise<void> | undefined} */
  let formulas;
  /** Whether something was opened already. */
  let moved = false;
  /** @type {IntersectionObserver | undefined} */
  let spy;

  /** @param {import('./routes.js').Route} route @param {import('../i18n/index.js').Strings} strings */
  async function open(route, strings) {
    const key = JSON.stringify([route.site, route.doc, route.passage, route.query, strings.name]);
    if (key !== shown) {
      shown = key;
      spy?.disconnect();
      const entry = engine.info.documents.find((doc) => `${doc.collection}/${doc.path}` === route.doc && (!route.site || doc.site === route.site) && admits(doc));
      if (!entry || !(await mayOpen(entry))) {
        if (key !== shown) return { title: strings.reader.missing };
        root.replaceChildren(bar(route, strings), el('div', { class: 'notice' }, el('h1', {}, strings.reader.missing), el('p', {}, strings.reader.missingMore)));
        root.classList.add('no-toc');
        return { title: strings.reader.missing };
      }
      const text = await engine.document(entry.index, route.passage);
      if (key !== shown) return { title: entry.title };
      draw(route, entry, text, strings);
    }
    const passage = root.querySelector('.passage');
    const heading = route.anchor ? root.querySelector(`#${CSS.escape(ID + route.anchor)}`) : null;
    const target = passage ?? heading;
    if (!focus && !moved) {
      moved = true;
      return { title: root.querySelector('h1')?.textContent ?? '' };
    }
    if (target) target.scrollIntoView({ block: 'start' });
    else top();
    if (target && formulas) stayAt(target, formulas);
    /** @type {HTMLElement | null} */ (passage ?? root.querySelector('h1'))?.focus({ preventScroll: true });
    return { title: root.querySelector('h1')?.textContent ?? '' };
  }

  /** Formulas above a passage move it when they are set; a reader who has done nothing yet stays at it. @param {Element} target @param {Promise<void>} set */
  function stayAt(target, set) {
    let still = true;
    const moved = new AbortController();
    for (const event of ['wheel', 'touchstart', 'keydown', 'pointerdown']) addEventListener(event, () => (still = false), { signal: moved.signal, passive: true });
    setTimeout(() => (still = false), 3000);
    set.finally(() => {
      moved.abort();
      if (still && target.isConnected) target.scrollIntoView({ block: 'start' });
    });
  }

  function draw(route, entry, { text, sections, passage }, strings) {
    const source = safeUrl(entry.url, entry.site ?? base);
    const prose = el('div', { class: 'prose', dir: 'auto', lang: entry.lang === 'other' ? undefined : entry.lang });
    prose.append(renderMarkdown(text, {
      sections, span: passage, idPrefix: ID, strings: strings.reader, title: entry.title,
      link: (target) => resolve(target, entry, route, source),
    }));
    const toc = contents(sections, entry, route, strings);
    root.classList.toggle('no-toc', !toc);
    root.replaceChildren(
      bar(route, strings, source && route.anchor ? `${source.split('#')[0]}#${route.anchor}` : source),
      toc ?? '',
      el('article', { class: 'sheet' },
        el('header', { class: 'sheet-head' }, el('h1', { tabindex: -1, lang: entry.lang === 'other' ? undefined : entry.lang }, entry.title), el('p', {}, `${entry.collection} / ${entry.path}`)),
        prose),
    );
    if (toc) follow(toc, prose);
    formulas = prose.querySelector('.tex') ? import('../markdown/formulas.js').then(({ setFormulas }) => setFormulas(prose)).catch(() => {}) : undefined; // the source stays
  }

  function bar(route, strings, source) {
    const back = route.query ? { href: href({ query: route.query }), text: strings.reader.back } : { href: href({}), text: strings.reader.home };
    return el('nav', { class: 'reader-bar' },
      el('a', { class: 'reader-back', href: back.href, 'data-back': route.query ? 'results' : 'home' }, icon(icons.back), back.text),
      source ? el('a', { class: 'reader-source', href: source, rel: 'noopener noreferrer' }, strings.reader.source, icon(icons.out)) : '');
  }

  function contents(sections, entry, route, strings) {
    const listed = sections.filter((section) => section.title && section.title !== entry.title);
    if (listed.length < 2) return undefined;
    const top = Math.min(...listed.map((section) => section.level));
    return el('details', { class: 'toc', open: wide() },
      el('summary', {}, strings.reader.contents),
      el('ol', {}, ...listed.map((section) => el('li', { 'data-depth': Math.min(section.level - top + 1, 4) },
        el('a', { href: href({ site: entry.site, doc: route.doc, query: route.query, anchor: section.anchor }), 'data-anchor': section.anchor, lang: entry.lang === 'other' ? undefined : entry.lang }, section.title)))));
  }

  /** Marks in the contents where the reader is. */
  function follow(toc, prose) {
    const links = new Map([...toc.querySelectorAll('a')].map((link) => [link.dataset.anchor, link]));
    const headings = [...prose.querySelectorAll('[data-heading]')];
    spy = new IntersectionObserver(() => {
      const passed = headings.filter((heading) => heading.getBoundingClientRect().top < innerHeight * 0.35);
      const current = links.get(passed.at(-1)?.id.slice(ID.length));
      for (const link of links.values()) link.removeAttribute('aria-current');
      current?.setAttribute('aria-current', 'true');
    }, { rootMargin: '0px 0px -65% 0px', threshold: [0, 1] });
    headings.forEach((heading) => spy?.observe(heading));
  }

  /** Where a link in a document leads: another document here, or the open web; nothing if neither. */
  function resolve(target, entry, route, source) {
    if (target.startsWith('#')) return { href: href({ site: entry.site, doc: route.doc, query: route.query, anchor: decode(target.slice(1)) }), inside: true };
    if (!/^[a-z][a-z0-9+.-]*:|^\/\//i.test(target)) {
      // A root of our own making turns `../b.md#c` into a path inside the collection.
      const at = new URL(target, new URL(entry.path.split('/').map(encodeURIComponent).join('/'), 'https://kb.invalid/'));
      const path = decode(at.pathname.slice(1));
      const found = engine.info.documents.find((doc) => doc.site === entry.site && doc.collection === entry.collection && [path, `${path}.md`, `${path}index.md`, `${path}/index.md`].includes(doc.path) && admits(doc));
      if (found) return { href: href({ site: found.site, doc: `${found.collection}/${found.path}`, query: route.query, anchor: decode(at.hash.slice(1)) }), inside: true };
      if (!source) return undefined;
    }
    const url = safeUrl(target, source ?? entry.site ?? base);
    return url ? { href: url, inside: false } : undefined;
  }

  return {
    open,
    close() {
      shown = '';
      spy?.disconnect();
      root.replaceChildren();
    },
  };
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
