// The box: typing, composing, clearing, and the keys that lead into and out of it.

/** Whether a key goes to something that takes text. @param {KeyboardEvent} event */
export function isTyping(event) {
  const target = event.composedPath()[0];
  return target instanceof HTMLElement && (target.isContentEditable || target.closest('input, textarea, select') !== null);
}

/** Of letters that follow each other faster than this only the first and the last ask. Milliseconds. */
const PAUSE = 60;

/**
 * @param {HTMLFormElement} form
 * @param {{ onQuery: (text: string, how: 'typed' | 'entered') => void, onDown: () => void, onOpen?: () => void, reveal?: () => void }} handlers
 *   `onOpen` for Ctrl+Enter or Cmd+Enter; `reveal` brings the box into view where it is hidden, and makes `/` lead to it
 */
export function searchBox(form, { onQuery, onDown, onOpen = () => {}, reveal }) {
  const input = /** @type {HTMLInputElement} */ (form.elements.namedItem('q'));
  const clear = /** @type {HTMLButtonElement} */ (form.querySelector('[data-clear]'));
  let timer = 0;
  /** When the last letter came. */
  let last = -Infinity;
  let composing = false;
  let said = '';

  const tell = (how) => {
    clearTimeout(timer);
    const text = input.value.trim();
    clear.hidden = input.value === '';
    if (how === 'typed' && text === said) return;
    said = text;
    onQuery(text, how);
  };
  const typed = () => {
    clear.hidden = input.value === '';
    clearTimeout(timer);
    const now = performance.now();
    const alone = now - last > PAUSE;
    last = now;
    if (alone) tell('typed');
    else timer = setTimeout(() => tell('typed'), PAUSE);
  };

  // An input method shows letters that are not yet the reader's words: nothing is asked until it commits them.
  input.addEventListener('compositionstart', () => {
    composing = true;
    clearTimeout(timer);
  });
  input.addEventListener('compositionend', () => {
    composing = false;
    typed();
  });
  input.addEventListener('input', (event) => {
    if (!composing && !(/** @type {InputEvent} */ (event).isComposing)) typed();
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (!composing) tell('entered');
  });
  input.addEventListener('keydown', (event) => {
    // keyCode 229: some browsers end the composition before the key that committed it.
    if (composing || event.isComposing || event.keyCode === 229) return;
    if (event.key === 'ArrowDown') {
      event.preventDefault();
      onDown();
    } else if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      onOpen();
    } else if (event.key === 'Escape' && input.value) {
      event.preventDefault();
      input.value = '';
      tell('typed');
    }
  });
  clear.addEventListener('click', () => {
    input.value = '';
    input.focus();
    tell('typed');
  });
  if (reveal) document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (isTyping(event)) return;
    event.preventDefault();
    reveal();
    input.focus();
    input.select();
  });

  return {
    focus: () => input.focus(),
    get value() {
      return input.value.trim();
    },
    /** Shows a question that came from the address. @param {string} text */
    set value(text) {
      if (input.value.trim() !== text) input.value = text;
      said = text;
      clear.hidden = text === '';
    },
    /** @param {import('../i18n/index.js').Strings} strings */
    translate(strings) {
      input.placeholder = strings.search.placeholder;
      clear.title = clear.ariaLabel = strings.search.clear;
    },
  };
}
