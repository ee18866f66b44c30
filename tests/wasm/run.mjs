// Usage: node [FLAGS] run.mjs MODULE.wasm
// Runs a WASI command twice, as MODULE.wasm DIRECTORY and as MODULE.wasm DIRECTORY again, each time
// in a memory of its own. The directory, all that it can reach, is empty at first and removed at the
// end. The exit status is 0 if both are.
//
// Early releases of Node 18 have WASI only with --experimental-wasi-unstable-preview1; mk/wasm.mk
// passes the flag where node takes it. --no-warnings keeps the note about an experimental module out of the log.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WASI } from 'node:wasi';

const INTERFACE = 'wasi_snapshot_preview1';

const [path] = process.argv.slice(2);
if (path === undefined) {
  console.error('usage: node run.mjs MODULE.wasm');
  process.exit(2);
}

const module = await WebAssembly.compile(await readFile(path));

// Anything else would have to come from the host: a symbol that was left undefined.
const foreign = WebAssembly.Module.imports(module).filter((i) => i.module !== INTERFACE);
if (foreign.length > 0) {
  console.error(`${path} imports what WASI does not offer:`,
    foreign.map((i) => `${i.module}.${i.name}`).join(' '));
  process.exit(1);
}

async function run(directory, ...args) {
  const wasi = new WASI({
    version: 'preview1', // required from Node 20 on
    args: [path, '/data', ...args],
    env: {},
    preopens: { '/data': directory },
    returnOnExit: true,
  });
  const instance = await WebAssembly.instantiate(module, { [INTERFACE]: wasi.wasiImport });
  return wasi.start(instance);
}

// A trap is an exception here: node prints it and ends with status 1.
const directory = await mkdtemp(join(tmpdir(), 'sapling-wasm-'));
try {
  process.exitCode = await run(directory) || await run(directory, 'again');
} finally {
  await rm(directory, { recursive: true });
}
