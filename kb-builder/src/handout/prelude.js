(() => {
  'use strict';
  // The modules of the page, each a function, and the files that the page carries. The same script runs in its workers.
  const modules = {/*MODULES*/
  };
  const PAGE = '/*PAGE*/';
  // No address leads there: everything under it is in this page.
  const BASE = 'https://kb.invalid/';
  const loaded = new Map();
  const load = (path) => {
    const known = loaded.get(path);
    if (known) return known;
    const exports = {};
    loaded.set(path, exports);
    modules[path](exports, load, { url: BASE + path, import: async (to) => load(to) });
    return exports;
  };

  const decode = async ({ text, packed }) => {
    let bytes;
    if (Uint8Array.fromBase64) bytes = Uint8Array.fromBase64(text);
    else {
      const raw = atob(text);
      bytes = new Uint8Array(raw.length);
      for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
    }
    if (!packed) return bytes;
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  };

  const onPage = () => {
    const source = document.currentScript.textContent;
    let url;
    const find = (path) => document.querySelector(`script[data-kb="${CSS.escape(path)}"]`);
    const block = async (path) => {
      let element = find(path);
      // An element that is still being read is not whole; one with another behind it is.
      if (document.readyState === 'loading' && !element?.nextElementSibling) {
        await new Promise((done) => document.addEventListener('DOMContentLoaded', done, { once: true }));
        element = find(path);
      }
      return element ? { text: element.textContent, packed: element.hasAttribute('data-packed') } : undefined;
    };
    self.kbCarrier = {
      base: BASE,
      bytes: async (path) => {
        const found = await block(path);
        return found && decode(found);
      },
      worker: (path) => {
        url ??= URL.createObjectURL(new Blob([source], { type: 'text/javascript' }));
        const worker = new Worker(url, { name: path });
        worker.addEventListener('message', async (event) => {
          const path = event.data?.need;
          if (path === undefined) return;
          event.stopImmediatePropagation();
          worker.postMessage({ given: path, block: await block(path) });
        });
        return worker;
      },
    };
    load(PAGE);
  };

  const inWorker = () => {
    const waiting = new Map();
    self.addEventListener('message', (event) => {
      const path = event.data?.given;
      if (path === undefined) return;
      event.stopImmediatePropagation();
      for (const settle of waiting.get(path) ?? []) settle(event.data.block);
      waiting.delete(path);
    });
    self.kbCarrier = {
      base: BASE,
      bytes: async (path) => {
        const found = await new Promise((settle) => {
          const others = waiting.get(path);
          waiting.set(path, [...(others ?? []), settle]);
          if (!others) self.postMessage({ need: path });
        });
        return found && decode(found);
      },
    };
    load(self.name);
  };

  if (typeof document === 'undefined') inWorker();
  else onPage();
})();
