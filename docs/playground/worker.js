// MicroPython with one model in a worker of its own: the page stays alive, and can end it.
//
// Messages of the page: {type: "load", model: ArrayBuffer}, {type: "run", given}; given is the
// number of a test vector, or an object for each input (docs/playground/session.py, fill) in which
// "bytes" stands for a file. Answers: {type: "model" | "inputs" | "progress" | "result", ...} and
// {type: "error", text}.

import { loadMicroPython } from "./micropython.mjs";

const PYSTACK_WORDS = 64 * 1024;
const FIRST_HEAP_BYTES = 64 << 20; // it grows, but not always when it should
const SLICE_MS = 60;

let micropython;
let session;

async function start() {
  const answer = await fetch("./mpconnxr.romfs");
  if (!answer.ok) throw new Error(`mpconnxr.romfs: ${answer.status} ${answer.statusText}`);
  micropython = await loadMicroPython({
    pystack: PYSTACK_WORDS,
    heapsize: FIRST_HEAP_BYTES,
    romfs: new Uint8Array(await answer.arrayBuffer()),
    stdout: (line) => console.log(line),
    stderr: (line) => console.error(line),
  });
  micropython.runPython("import sys\nsys.path.append('/rom')");
  session = micropython.pyimport("session");
}

// One call into MicroPython; throws what it says went wrong.
function ask(name, ...args) {
  const found = JSON.parse(session[name](...args));
  if (found.error !== undefined) throw new Error(found.error);
  return found;
}

async function load({ model }) {
  await start();
  micropython.FS.writeFile("/model.bin", new Uint8Array(model));
  postMessage({ type: "model", ...ask("load", "/model.bin") });
}

function withFiles(given) {
  if (typeof given === "number") return given;
  return given.map(({ bytes, ...rest }, i) => {
    if (!bytes) return rest;
    micropython.FS.writeFile(`/input_${i}`, bytes);
    return { ...rest, file: `/input_${i}` };
  });
}

async function run({ given }) {
  postMessage({ type: "inputs", ...ask("fill", JSON.stringify(withFiles(given))) });
  for (;;) {
    const found = ask("go", SLICE_MS);
    if (found.outputs) {
      postMessage({ type: "result", ...found });
      return;
    }
    postMessage({ type: "progress", ...found });
  }
}

let before = Promise.resolve(); // one message after another

onmessage = ({ data }) => {
  before = before
    .then(() => (data.type === "load" ? load : run)(data))
    .catch((error) => postMessage({ type: "error", text: error.message || String(error) }));
};
