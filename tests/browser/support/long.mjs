// Long replies of every kind, hostile parts in them: about 50,000 tokens each.

const CHARS = 200_000;
const fill = (one) => {
  let out = '';
  for (let i = 1; out.length < CHARS; i += 1) out += one(i);
  return out;
};
const hostile = '<img src=x onerror="window.hacked=1"> [x](javascript:window.hacked=2) ![p](https://evil.example/p.png)';

/** By name; each has hostile parts at its beginning and its end. @type {Record<string, string>} */
export const LONG = {
  prose: fill((i) => `Sentence ${i} is about **branches** and \`commits\`, as long as such sentences usually are [1]. ${i % 40 ? '' : hostile}\n\n`),
  paragraph: fill((i) => `word${i} goes on and on, ${i % 400 ? '' : hostile} `),
  table: `| n | name | code | note |\n|---|:---:|---:|---|\n${fill((i) => `| ${i} | name ${i} | \`x = ${i}\` | ${i % 100 ? 'a note [1]' : hostile} |\n`)}`,
  code: `\`\`\`rust\n${fill((i) => `fn f${i}(x: &[u8]) -> usize { x[${i}] as usize } // ${i % 100 ? '[1]' : hostile}\n`)}\`\`\`\n`,
  list: fill((i) => `${i}. item *${i}* with [a link](https://example.org/${i}) ${i % 100 ? '' : hostile}\n`),
  formulas: fill((i) => `The sum $\\sum_{k=1}^{${i}} k^2$ and\n\n$$\n\\int_0^{${i}} e^{-x^2} \\, dx \\le \\frac{${i}}{2}\n$$\n\n${i % 50 ? '' : `${hostile}\n\n`}`),
};

/** A reply in pieces as a server sends them: a token each. @param {string} text @param {number} size */
export const tokens = (text, size = 4) => Array.from({ length: Math.ceil(text.length / size) }, (_, i) => text.slice(i * size, (i + 1) * size));
