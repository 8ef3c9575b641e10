// Runs a script in MicroPython's WebAssembly port: node webassembly.mjs MICROPYTHON_URL SCRIPT ARG...
//
// Copies the current folder into the memory of the process and runs the script there. Prints output
// line by line and a traceback on stderr; the exit status is the script's.

import fs from "node:fs";
import path from "node:path";

const PYSTACK_WORDS = 64 * 1024;
const FIRST_HEAP_BYTES = 64 << 20; // large, since it does not always grow when it should
const FOLDER = "/work";

// Runs the script; main() removes this code's own frame from tracebacks.
const BOOT = `
import sys
sys.path[0] = "."
sys.argv[:] = _args
_status = 0
try:
    exec(compile(open(_args[0]).read(), _args[0], "exec"), {"__name__": "__main__"})
except SystemExit as e:
    _status = (e.args and e.args[0]) or 0
    _status = _status if isinstance(_status, int) else 1
`;
const OWN_FRAME = /^ {2}File "<stdin>", line \d+, in <module>\n/m;

class Lines {
  constructor(descriptor) {
    this.descriptor = descriptor;
    this.bytes = [];
  }
  add(bytes) {
    this.bytes.push(...bytes);
    if (bytes.includes(10)) this.flush();
  }
  flush() {
    let data = Uint8Array.from(this.bytes);
    this.bytes = [];
    while (data.length) data = data.subarray(write(this.descriptor, data));
  }
}

function write(descriptor, data) {
  try {
    return fs.writeSync(descriptor, data);
  } catch (error) {
    if (error.code === "EAGAIN") return 0; // the pipe is full
    throw error;
  }
}

function copy(folder, into, FS) {
  FS.mkdirTree(into);
  for (const name of fs.readdirSync(folder)) {
    const from = path.join(folder, name);
    const to = `${into}/${name}`;
    if (name === "__pycache__") continue;
    if (fs.statSync(from).isDirectory()) copy(from, to, FS);
    else FS.writeFile(to, fs.readFileSync(from));
  }
}

async function main([url, ...args]) {
  const { loadMicroPython } = await import(url);
  const out = new Lines(1);
  const errors = new Lines(2);
  const micropython = await loadMicroPython({
    pystack: PYSTACK_WORDS,
    heapsize: FIRST_HEAP_BYTES,
    linebuffer: false,
    stdout: (bytes) => out.add(bytes),
    stderr: (bytes) => errors.add(bytes),
  });
  copy(".", FOLDER, micropython.FS);
  micropython.FS.chdir(FOLDER);
  micropython.runPython(`_args = ${JSON.stringify(args)}`);
  let status = 0;
  try {
    micropython.runPython(BOOT);
    status = micropython.globals.get("_status");
  } catch (error) {
    if (error.name !== "PythonError") throw error;
    errors.add(Buffer.from(error.message.replace(OWN_FRAME, "")));
    status = 1;
  }
  out.flush();
  errors.flush();
  process.exitCode = status;
}

await main(process.argv.slice(2));
