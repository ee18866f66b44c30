// Usage: node [FLAGS] run.mjs MODULE.wasm [ARGUMENT...]
// Runs a WASI command without any directory and ends with its exit status.
//
// Early releases of Node 18 have WASI only with --experimental-wasi-unstable-preview1; mk/wasm.mk
// passes the flag where node takes it. --no-warnings keeps the note about an experimental module out of the log.
import { readFile } from 'node:fs/promises';
import { WASI } from 'node:wasi';

const INTERFACE = 'wasi_snapshot_preview1';

const [path, ...args] = process.argv.slice(2);
if (path === undefined) {
  console.error('usage: node run.mjs MODULE.wasm [ARGUMENT...]');
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

const wasi = new WASI({
  version: 'preview1', // required from Node 20 on
  args: [path, ...args],
  env: {},
  preopens: {},
  returnOnExit: true,
});
const instance = await WebAssembly.instantiate(module, { [INTERFACE]: wasi.wasiImport });
// A trap is an exception here: node prints it and ends with status 1.
process.exitCode = wasi.start(instance);
