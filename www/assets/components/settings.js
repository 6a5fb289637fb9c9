// What the reader chose, kept in this browser under the path of the site; forgotten quietly where storage is blocked.

/** Where the site is; for a handout the file, since several may lie in one folder. theme.js has the same. */
const scope = `kb:${new URL(location.protocol === 'file:' ? '#' : './', document.baseURI).pathname}:`;

/** @typedef {'theme' | 'early' | 'language' | 'meaning' | 'recent' | 'llm' | 'service' | 'feedback'} Setting */

/** @param {Setting} name @returns {string | null} */
export function getSetting(name) {
  try {
    return localStorage.getItem(scope + name);
  } catch {
    return null;
  }
}

/** @param {Setting} name @param {string | null} value */
export function setSetting(name, value) {
  try {
    if (value === null) localStorage.removeItem(scope + name);
    else localStorage.setItem(scope + name, value);
  } catch { /* the choice holds for this visit */ }
}

const themes = /** @type {const} */ (['auto', 'light', 'dark']);

/** The button that goes from the system's scheme to light to dark. @param {HTMLElement} button */
export function themeButton(button) {
  let strings;
  const apply = () => {
    const saved = getSetting('theme');
    const theme = themes.find((name) => name === saved) ?? 'auto';
    if (theme === 'auto') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    button.dataset.themeChoice = theme;
    if (strings) button.title = button.ariaLabel = `${strings.theme.label}: ${strings.theme[theme]}`;
    return theme;
  };
  button.addEventListener('click', () => {
    const next = themes[(themes.indexOf(apply()) + 1) % themes.length];
    setSetting('theme', next === 'auto' ? null : next);
    apply();
  });
  return {
    /** @param {import('../i18n/index.js').Strings} now */
    translate(now) {
      strings = now;
      apply();
    },
  };
}
