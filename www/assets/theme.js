// Runs before anything else: a classic script, kept this small on purpose. kb-builder puts it into the page itself.
(() => {
  const scope = `kb:${new URL('./', document.baseURI).pathname}:`;
  // Who presses Enter before the scripts have come would send the form, and the browser would give up what is loading.
  document.addEventListener('submit', (event) => {
    if (/** @type {Element} */ (event.target).matches('[data-form]')) event.preventDefault();
  }, true);
  let kept = null;
  try {
    // A chosen theme must not flash.
    const theme = localStorage.getItem(`${scope}theme`);
    if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
    kept = localStorage.getItem(`${scope}early`);
  } catch { /* storage is blocked: the system's own scheme is used */ }
  // What the first search needs is asked for now, and not when the scripts have come that use it. A later visit has it kept.
  const wanted = /** @type {HTMLMetaElement | null} */ (document.querySelector('meta[name="kb-early"]'))?.content;
  if (!wanted) return;
  const paths = wanted === kept ? ['kb/manifest.json'] : wanted.split(' ');
  /** @type {any} */ (self).kbEarly = new Map(paths.map((path) => {
    const { href } = new URL(path, document.baseURI);
    const coming = fetch(href, { cache: path.endsWith('.json') ? 'no-cache' : 'default' }).then((response) => {
      if (!response.ok) return undefined;
      // A module is compiled while it comes.
      const streams = response.headers.get('content-type') === 'application/wasm' && globalThis.WebAssembly?.compileStreaming;
      return streams ? WebAssembly.compileStreaming(response) : response.arrayBuffer();
    });
    return [href, coming.catch(() => undefined)];
  }));
})();
