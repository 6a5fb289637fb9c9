// The page's addresses: `?q=` a search, `?doc=…#anchor` a document, `p` the passage in it.

/**
 * @typedef {object} Route
 * @property {string} query       the question, may be empty
 * @property {string} doc         `collection/path`, empty outside the reader view
 * @property {string} passage     chunk id, may be empty
 * @property {string} anchor      heading in the document, may be empty
 */

/** @param {URL} url @returns {Route} */
export function parseRoute(url) {
  const at = url.searchParams;
  let anchor = url.hash.slice(1);
  try {
    anchor = decodeURIComponent(anchor);
  } catch { /* a stray % stays as it is */ }
  return { query: at.get('q') ?? '', doc: at.get('doc') ?? '', passage: at.get('p') ?? '', anchor };
}

/** The relative address of a route; works under any path. @param {Partial<Route>} route */
export function href({ query = '', doc = '', passage = '', anchor = '' }) {
  const search = new URLSearchParams();
  if (doc) search.set('doc', doc);
  if (passage) search.set('p', passage);
  if (query) search.set('q', query);
  const text = search.toString().replaceAll('%2F', '/');
  return (text ? `?${text}` : './') + (anchor ? `#${encodeURIComponent(anchor)}` : '');
}
