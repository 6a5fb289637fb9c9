// Runs before anything else: a classic script, kept this small on purpose. kb-builder puts it into the page itself.
(() => {
  // Files in one folder are different handouts.
  const scope = `kb:${new URL(location.protocol === 'file:' ? '#' : './', document.baseURI).pathname}:`;
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
  // A site that was opened by a double click: browsers give its modules nothing, so that nobody else would say why. A handout asks for nothing.
  const wanted = /** @type {HTMLMetaElement | null} */ (document.querySelector('meta[name="kb-early"]'))?.content;
  if (location.protocol === 'file:' && wanted) {
    const zh = (navigator.languages ?? [])[0]?.startsWith('zh');
    document.documentElement.dataset.file = '';
    document.addEventListener('DOMContentLoaded', () => {
      const boot = document.querySelector('[data-boot]');
      if (!boot) return;
      document.documentElement.lang = zh ? 'zh-Hans' : 'en';
      boot.setAttribute('role', 'alert');
      const code = (/** @type {string} */ text) => Object.assign(document.createElement('code'), { textContent: text });
      boot.replaceChildren(...(zh
        ? ['直接从文件夹打开时，浏览器不让这个页面读取它的知识库：请在本机运行 ', code('kb-builder serve 文件夹'), '，或把文件夹发布到网站上，或用 ', code('kb-builder export 文件夹 --single-file 讲义.html'), ' 生成一个可以双击打开的文件。']
        : ['Opened from a folder, this page may not read its knowledge base: run ', code('kb-builder serve FOLDER'), ', or publish the folder on a website, or make one file that opens with a double click with ',
          code('kb-builder export FOLDER --single-file handout.html'), '.']));
    });
    return;
  }
  // What the first search needs is asked for now, and not when the scripts have come that use it. A later visit has it kept.
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
