// Formulas of a document as MathML, which browsers set themselves: no fonts, no styles. KaTeX, which reads the TeX, is
// loaded with the first document that has one; until then, and where it fails, the source stands there.

/** Longer formulas stay source text. Characters. */
const LONGEST = 5000;
/** Further formulas of one document stay source text. */
const MOST = 2000;
/** How long formulas are set before the page may do something else. Milliseconds. */
const SLICE = 20;

/**
 * A document may hold anything: nothing that it says becomes a link, an image, a class or a style, sizes have an end, and so
 * have macros that call themselves.
 */
const OPTIONS = { output: 'mathml', trust: false, strict: 'ignore', throwOnError: true, maxSize: 20, maxExpand: 500 };

/** @param {ParentNode} root as `renderMarkdown` made it */
export async function setFormulas(root) {
  const list = [...root.querySelectorAll('.tex')].slice(0, MOST);
  if (list.length === 0) return;
  const { katex } = await import('../vendor/katex/katex.js');
  let begun = performance.now();
  for (const element of list) {
    if (performance.now() - begun > SLICE) {
      await new Promise((next) => setTimeout(next, 0));
      begun = performance.now();
    }
    setOne(/** @type {HTMLElement} */ (element), katex);
  }
}

/** @param {HTMLElement} element @param {any} katex */
function setOne(element, katex) {
  const source = element.textContent ?? '';
  if (!katex?.render || source.length > LONGEST) return;
  const out = document.createElement('span');
  try {
    katex.render(source, out, { ...OPTIONS, displayMode: element.dataset.display === '' || element.dataset.display === 'true' });
  } catch (error) {
    // What cannot be read is shown as it was written, with the reason behind it.
    element.title = String(error.message ?? error).slice(0, 300);
    element.dataset.failed = '';
    return;
  }
  const math = out.querySelector('math');
  if (!math) return;
  element.replaceChildren(math);
  element.dataset.set = '';
}
