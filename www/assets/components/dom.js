// Building elements. Text only ever becomes text nodes.

/**
 * @param {string} tag
 * @param {Record<string, any>} [props] attributes; `class`, `on…` listeners and booleans are understood, `undefined` is left out
 * @param {...(Node | string | undefined | null | false)} children
 * @returns {any}
 */
export function el(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === false || value === null) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...children.filter((child) => child !== undefined && child !== null && child !== false));
  return element;
}

/** An outline icon of the page's set. @param {string} path SVG path data on a 24 × 24 grid */
export function icon(path) {
  const ns = 'http://www.w3.org/2000/svg';
  const svg = document.createElementNS(ns, 'svg');
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('class', 'icon');
  svg.setAttribute('aria-hidden', 'true');
  const shape = document.createElementNS(ns, 'path');
  shape.setAttribute('d', path);
  svg.append(shape);
  return svg;
}

export const icons = {
  out: 'M8 5h11v11M19 5 6 18',
  back: 'M19 12H5m6-6-6 6 6 6',
};

/**
 * Text with the given ranges marked.
 * @param {string} text @param {{ start: number, end: number }[]} marks UTF-16 ranges, in order, not overlapping
 */
export function marked(text, marks) {
  const out = document.createDocumentFragment();
  let at = 0;
  for (const { start, end } of marks) {
    if (start < at || end <= start || end > text.length) continue;
    out.append(text.slice(at, start), el('mark', {}, text.slice(start, end)));
    at = end;
  }
  out.append(text.slice(at));
  return out;
}

/** @param {string} selector @param {ParentNode} [root] @returns {any} */
export function find(selector, root = document) {
  const element = root.querySelector(selector);
  if (!element) throw new Error(`the page has no ${selector}`);
  return element;
}

/** A URL that may become a link, or nothing: http, https and mailto only. @param {string | undefined | null} url @param {string | URL} base */
export function safeUrl(url, base) {
  if (!url) return undefined;
  try {
    const resolved = new URL(url, base);
    return ['http:', 'https:', 'mailto:'].includes(resolved.protocol) ? resolved.href : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Switches on a style sheet that the page names and has not loaded; nothing to wait for where it is there already.
 * @param {string} name @returns {Promise<void>}
 */
export function style(name) {
  const link = /** @type {HTMLLinkElement | null} */ (document.querySelector(`link[href$="styles/${name}.css"]`));
  if (!link?.disabled) return Promise.resolve();
  return new Promise((resolve) => {
    // A page without it is plain, not broken.
    link.onload = link.onerror = () => resolve();
    link.disabled = false;
  });
}
