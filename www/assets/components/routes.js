// The page's addresses: `?q=` a search, `?doc=…#anchor` a document, `p` the passage in it. A page opened from the disk
// may only change its fragment, so a handout has the same behind `#?`, and the anchor as `at`.

import { isCarried } from '../engine/host.js';

/**
 * @typedef {object} Route
 * @property {string} query       the question, may be empty
 * @property {string} doc         `collection/path`, empty outside the reader view
 * @property {string} passage     chunk id, may be empty
 * @property {string} anchor      heading in the document, may be empty
 * @property {string} [site]      address of the site that has the document, where an element shows several
 *
 * @typedef {(route: Partial<Route>) => string} Href the address of a route
 */

/** @param {URL} url @returns {Route} */
export function parseRoute(url) {
  const behind = url.hash.startsWith('#?');
  const at = behind ? new URLSearchParams(url.hash.slice(2)) : url.searchParams;
  let anchor = behind ? at.get('at') ?? '' : url.hash.slice(1);
  if (!behind) {
    try {
      anchor = decodeURIComponent(anchor);
    } catch { /* a stray % stays as it is */ }
  }
  return { query: at.get('q') ?? '', doc: at.get('doc') ?? '', passage: at.get('p') ?? '', anchor };
}

/** The relative address of a route; works under any path. @param {Partial<Route>} route */
export function href({ query = '', doc = '', passage = '', anchor = '' }) {
  const carried = isCarried();
  const search = new URLSearchParams();
  if (doc) search.set('doc', doc);
  if (passage) search.set('p', passage);
  if (query) search.set('q', query);
  if (carried && anchor) search.set('at', anchor);
  const text = search.toString().replaceAll('%2F', '/');
  if (carried) return `#?${text}`;
  return (text ? `?${text}` : './') + (anchor ? `#${encodeURIComponent(anchor)}` : '');
}
