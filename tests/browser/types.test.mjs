// The page's JavaScript against its own annotations and the runtime's declarations (prebuilt/runtime/*.d.ts).

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

test('tsc has nothing to say', async () => {
  const folder = fileURLToPath(new URL('.', import.meta.url));
  const said = await new Promise((resolve) => {
    execFile(process.execPath, ['node_modules/typescript/bin/tsc', '--project', '.'], { cwd: folder }, (_, stdout, stderr) => resolve(stdout + stderr));
  });
  assert.equal(said, '');
});
