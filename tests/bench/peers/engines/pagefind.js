// Pagefind in the page: its own pagefind.js beside its index, default options.

export async function open(base) {
  const pagefind = await import(`${base}pagefind.js`);
  return {
    search: async (text) => (await pagefind.search(text)).results.slice(0, 10),
    /** Title, excerpt and address of each result; they are loaded one by one. */
    show: (results) => Promise.all(results.map((result) => result.data())),
    id: (shown) => Number(/(\d+)\/$/.exec(shown.url)[1]),
  };
}
