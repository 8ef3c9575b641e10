// The page: takes files, asks the worker, shows what it answers.

import { draw } from "./arena.js";
import { elementsOf, forInput, isNpy, isZip, readNpy, readNpz } from "./arrays.js";
import * as show from "./show.js";

const MOST_BLOCKS = 4000; // that are drawn
const EXAMPLE = "digits.bin";
const FILE = "the dropped files", TYPED = "typed";
const at = (id) => document.getElementById(id);

let worker = null;
let model = null; // {name, bytes}, then what the worker says of it
let arrays = []; // that were dropped
let typedText = "";

// ---- files

async function take(files) {
  complain("");
  try {
    const read = await Promise.all(files.map(async (f) => [f.name, new Uint8Array(await f.arrayBuffer())]));
    const found = [];
    let newModel = null;
    for (const [name, bytes] of read.sort(([a], [b]) => a.localeCompare(b, "en", { numeric: true }))) {
      if (startsWith(bytes, "MPCONNXR")) newModel = { name, bytes };
      else if (isNpy(bytes)) found.push(readNpy(bytes, name.replace(/\.npy$/, "")));
      else if (isZip(bytes)) found.push(...(await readNpz(bytes, name)));
      else if (/\.json$/i.test(name)) typedText = checkedJson(new TextDecoder().decode(bytes), name);
      else if (/\.onnx$/i.test(name)) throw new Error(`${name} is not converted yet:\nmpconnxr convert ${name} model.bin`);
      else throw new Error(`${name} is neither a converted model nor an input`);
    }
    const ownInputs = found.length > 0 || read.some(([name]) => /\.json$/i.test(name));
    if (found.length) arrays = found;
    if (newModel) open(newModel, ownInputs);
    else if (!model) throw new Error("Drop a model.bin first.");
    else if (model.inputs) offer(found.length ? FILE : TYPED);
  } catch (error) {
    complain(error.message);
  }
}

function startsWith(bytes, text) {
  return String.fromCharCode(...bytes.subarray(0, text.length)) === text;
}

function checkedJson(text, name) {
  try {
    JSON.parse(text);
  } catch (error) {
    throw new Error(`${name}: ${error.message}`);
  }
  return text;
}

function complain(text) {
  at("error").textContent = text;
  at("error").hidden = !text;
}

function note(text) {
  at("note").textContent = text;
  at("note").hidden = !text;
}

// ---- the model

function open({ name, bytes }, keepInputs) {
  if (!keepInputs) [arrays, typedText] = [[], ""];
  model = { name, bytes };
  at("model").hidden = true;
  note("");
  load();
}

// A new worker for each model: nothing of an earlier one is left.
function load() {
  worker?.terminate();
  worker = new Worker("worker.js", { type: "module" });
  worker.onmessage = ({ data }) => answers[data.type](data);
  worker.onerror = (event) => answers.error({ text: event.message || "the worker cannot start" });
  worker.postMessage({ type: "load", model: model.bytes.buffer });
  note(`Loading ${model.name} …`);
}

const answers = {
  model(about) {
    note("");
    const isNew = !model.inputs;
    Object.assign(model, about);
    busy(false);
    if (!isNew) return;
    at("drop").classList.add("small");
    describe();
    offer(arrays.length ? FILE : typedText ? TYPED : null);
  },
  inputs({ inputs }) {
    at("inputs").replaceChildren(...inputs.map(show.input));
  },
  progress({ at: step, of }) {
    at("progress").value = (step + 1) / (of + 1);
    at("status").textContent = `step ${step} of ${of}`;
  },
  result({ outputs, ms }) {
    busy(false);
    at("status").textContent = `done in ${show.count(Math.round(ms.reduce((a, b) => a + b, 0)))} ms`;
    at("outputs").replaceChildren(...outputs.map(show.output));
    at("results").hidden = false;
    at("steps").replaceChildren(...show.steps(model.steps, ms));
  },
  error({ text }) {
    note("");
    busy(false);
    complain(model.inputs ? text : `${model.name}: ${text}`);
  },
};

function describe() {
  at("title").textContent = model.name;
  const n = model.steps.filter((s) => !s.step.includes("/")).length;
  const entries = [
    [show.count(n), n === 1 ? "step" : "steps"],
    [show.count(model.bytes.length), "bytes of file"],
    [show.count(model.arena), "bytes of arena"],
  ];
  if (model.state) entries.push([show.count(model.state), "bytes of state, zeros before each run here"]);
  at("figures").replaceChildren(...show.figures(entries));
  at("ends").replaceChildren(...show.ends("input", model.inputs), ...show.ends("output", model.outputs));
  at("steps").replaceChildren(...show.steps(model.steps));
  at("inputs").replaceChildren();
  at("results").hidden = true;
  at("status").textContent = "";
  at("model").hidden = false;
  drawArena();
}

function drawArena() {
  if (!model?.blocks || at("model").hidden) return;
  const n = model.steps.filter((s) => !s.step.includes("/")).length;
  const place = at("arena");
  if (!model.arena) place.textContent = "The model needs no arena.";
  else if (model.blocks.length > MOST_BLOCKS) place.textContent = "There are too many tensors to draw.";
  else place.replaceChildren(draw(model.blocks, n, model.arena, place.clientWidth));
}

// ---- inputs

// Lists where an input can come from, chooses one, and runs it if it is complete.
function offer(chosen) {
  const options = [];
  for (let k = 0; k < model.vectors; k += 1) {
    options.push([String(k), model.vectors > 1 ? `the file's test vector ${k}` : "the file's test vector"]);
  }
  if (arrays.length) options.push([FILE, FILE]);
  options.push([TYPED, "numbers typed as JSON"]);
  const made = options.map(([value, text]) => show.make("option", { value }, text));
  at("source").replaceChildren(...made);
  at("source").value = chosen ?? options[0][0];
  if (!typedText) typedText = template();
  at("typed").value = typedText;
  choose();
  if (at("source").value !== TYPED || chosen) run();
}

// Zeros for all inputs, if that is short.
function template() {
  const [first] = model.inputs;
  const n = model.inputs.length === 1 ? elementsOf(first) : null;
  return n !== null && n <= 1024 && first.dtype !== "string" ? JSON.stringify(Array(n).fill(0)) : "[]";
}

function choose() {
  const source = at("source").value;
  at("typed").hidden = source !== TYPED;
  const samples = source === FILE ? samplesOf() : 1;
  at("sample-label").hidden = samples < 2;
  at("sample").max = samples - 1;
  at("factor-label").hidden = source !== FILE;
}

// The dropped array for each input: by name, else the first of those left that fits.
function assigned() {
  const names = new Set(model.outputs.map((t) => t.name));
  const left = arrays.filter((a) => !names.has(a.name) && !/^output/.test(a.name));
  return model.inputs.map((spec) => {
    const fits = (a) => samples(a, spec) >= 1;
    let i = left.findIndex((a) => a.name === spec.name);
    if (i < 0) i = left.findIndex(fits);
    if (i < 0) throw new Error(`No array in the dropped files fits ${spec.name}, ${spec.dtype} ${show.shapeOf(spec)}.`);
    const [array] = left.splice(i, 1);
    if (!fits(array)) throw new Error(`${array.name} has ${array.data.length} elements; ${spec.name} is ${show.shapeOf(spec)}.`);
    return array;
  });
}

// How many inputs of this shape an array holds; a fraction is none.
function samples(array, spec) {
  const n = elementsOf(spec);
  if (n === null) return array.shape.length === spec.shape.length ? 1 : 0;
  const found = n ? array.data.length / n : 1;
  return Number.isInteger(found) ? found : 0;
}

function samplesOf() {
  try {
    return Math.min(...assigned().map((a, i) => samples(a, model.inputs[i])));
  } catch {
    return 1;
  }
}

function given() {
  const source = at("source").value;
  if (source === TYPED) return fromJson(at("typed").value);
  if (source !== FILE) return Number(source);
  const sample = Number(at("sample").value);
  const count = samplesOf();
  if (!Number.isInteger(sample) || sample < 0 || sample >= count) throw new Error(`There are samples 0 to ${count - 1}.`);
  const factor = factorOf(at("factor").value);
  return assigned().map((array, i) => forInput(array, model.inputs[i], sample, factor));
}

// A number, or a fraction such as 1/255.
function factorOf(text) {
  const [top, bottom, ...more] = text.split("/");
  const factor = Number(top) / (bottom === undefined ? 1 : Number(bottom));
  if (!text.trim() || more.length || !Number.isFinite(factor)) throw new Error(`${text} is not a number.`);
  return factor;
}

function fromJson(text) {
  const x = JSON.parse(checkedJson(text, "The input"));
  const byName = x !== null && typeof x === "object" && !Array.isArray(x);
  const isMap = model.inputs.length === 1 && model.inputs[0].dtype.startsWith("map");
  if (byName && !isMap) {
    const names = model.inputs.map((t) => t.name);
    const missing = names.find((name) => !(name in x));
    if (missing !== undefined) throw new Error(`The input has no ${missing}.`);
    return names.map((name) => ({ values: x[name] }));
  }
  if (model.inputs.length === 1) return [{ values: x }];
  if (!Array.isArray(x) || x.length !== model.inputs.length) {
    throw new Error(`The model has ${model.inputs.length} inputs: give a list of as many, or an object by name.`);
  }
  return x.map((values) => ({ values }));
}

// ---- running

function run() {
  complain("");
  at("results").hidden = true;
  at("status").textContent = "";
  try {
    worker.postMessage({ type: "run", given: given() });
    busy(true);
  } catch (error) {
    complain(error.message);
  }
}

function stop() {
  at("status").textContent = "stopped";
  load();
}

function busy(is) {
  at("run").disabled = is;
  at("stop").hidden = at("progress").hidden = !is;
  at("progress").value = 0;
}

// ---- events

at("unserved").hidden = true;
at("files").addEventListener("change", () => {
  take([...at("files").files]);
  at("files").value = "";
});
for (const type of ["dragenter", "dragover", "dragleave", "drop"]) {
  addEventListener(type, (event) => {
    event.preventDefault();
    at("drop").classList.toggle("over", type === "dragenter" || type === "dragover");
    if (type === "drop") take([...event.dataTransfer.files]);
  });
}
at("source").addEventListener("change", choose);
at("typed").addEventListener("input", () => (typedText = at("typed").value));
at("run").addEventListener("click", run);
at("stop").addEventListener("click", stop);
for (const id of ["sample", "factor"]) {
  at(id).addEventListener("keydown", ({ key }) => key === "Enter" && !at("run").disabled && run());
}
addEventListener("resize", drawArena);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawArena);

at("try").addEventListener("click", async () => {
  const answer = await fetch(EXAMPLE);
  open({ name: EXAMPLE, bytes: new Uint8Array(await answer.arrayBuffer()) }, false);
});
fetch(EXAMPLE, { method: "HEAD" }).then((answer) => (at("example").hidden = !answer.ok), () => {});
