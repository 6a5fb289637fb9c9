// Runs before the first paint, so that a chosen theme never flashes: a classic script, kept this small on purpose.
(() => {
  try {
    const theme = localStorage.getItem(`kb:${new URL('./', document.baseURI).pathname}:theme`);
    if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
  } catch { /* storage is blocked: the system's own scheme is used */ }
})();
