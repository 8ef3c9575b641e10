// Builds the parts of the page that show tensors and steps. Text from files goes in as text alone.

const MOST_ROWS = 32; // values of an output as rows with bars
const MOST_TEXT = 512; // values that are written out
const BEST = 5;
const MOST_STEPS = 2000;
const LARGEST_PICTURE = 512;
const SIDE = 192; // pixels of a picture that is enlarged, at most

export function make(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

export const count = (n) => n.toLocaleString("en");

export function shapeOf(spec) {
  return spec.shape.length ? spec.shape.map((d) => d ?? "any").join(" × ") : "scalar";
}

export function figures(entries) {
  return entries.map(([value, text]) => make("div", {}, make("b", {}, value), make("span", {}, text)));
}

function short(v) {
  if (typeof v !== "number") return String(v);
  return Number.isInteger(v) ? String(v) : String(Number(v.toPrecision(7)));
}

function heading(tensor) {
  const kind = `${tensor.dtype} ${shapeOf(tensor)}`;
  return make("h3", {}, `${tensor.name} `, make("small", {}, kind));
}

// Rows that say what a model takes or gives.
export function ends(kind, list) {
  return list.map((t) => {
    const cells = [[kind, "soft"], [t.name, "node"], [t.dtype, ""], [shapeOf(t), ""]];
    return make("tr", {}, ...cells.map(([text, name]) => make("td", name ? { class: name } : {}, text)));
  });
}

// An input that is filled: a picture where it looks like one, and its first values.
export function input(tensor) {
  const parts = [heading(tensor)];
  const drawn = picture(tensor);
  if (drawn) parts.push(drawn);
  parts.push(values(tensor));
  return make("div", {}, ...parts);
}

function values(tensor) {
  const shown = tensor.values.slice(0, MOST_TEXT).map(short).join(" ");
  const more = tensor.nelem > MOST_TEXT ? ` … ${count(tensor.nelem - MOST_TEXT)} more` : "";
  return make("div", { class: "values" }, shown + more);
}

// A canvas for (…, 1 or 3, H, W) or (…, H, W, 1 or 3), and for (H, W) of some size.
function picture(tensor) {
  const dims = tensor.shape.filter((d, i) => d !== 1 || i >= tensor.shape.length - 3);
  while (dims.length > 2 && dims[0] === 1) dims.shift();
  if (dims.at(-1) === 1 && dims.length === 3) dims.pop();
  let [channels, height, width, last] = [1, 0, 0, false];
  if (dims.length === 2) [height, width] = dims;
  else if (dims.length === 3 && dims[0] === 3) [channels, height, width] = dims;
  else if (dims.length === 3 && dims[2] === 3) [height, width, channels, last] = [...dims, true];
  const [least, most] = [Math.min(height, width), Math.max(height, width)];
  const numbers = tensor.values;
  if (least < 8 || most > LARGEST_PICTURE || most > 8 * least) return null;
  if (numbers.length !== tensor.nelem || numbers.some((v) => typeof v !== "number")) return null;
  const low = numbers.reduce((a, b) => Math.min(a, b));
  const span = numbers.reduce((a, b) => Math.max(a, b)) - low || 1;
  const canvas = make("canvas", { width, height, role: "img", "aria-label": `${tensor.name} as a picture` });
  canvas.style.width = `${Math.max(1, Math.min(16, SIDE / most)) * width}px`;
  const image = new ImageData(width, height);
  for (let i = 0; i < width * height; i += 1) {
    for (let c = 0; c < 3; c += 1) {
      const from = channels === 1 ? i : last ? 3 * i + c : c * width * height + i;
      image.data[4 * i + c] = (255 * (numbers[from] - low)) / span;
    }
    image.data[4 * i + 3] = 255;
  }
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas;
}

// An output after a run; with `wanted` values also how far it is from them.
export function output(tensor) {
  const parts = [heading(tensor)];
  if (tensor.agrees !== undefined) parts.push(verdict(tensor));
  const numeric = tensor.values.every((v) => typeof v === "number");
  if (!numeric || !tensor.values.length) parts.push(texts(tensor));
  else if (tensor.nelem <= MOST_ROWS) parts.push(rows(tensor, tensor.values.map((_, i) => i)));
  else parts.push(rows(tensor, largest(tensor.values, BEST)), values(tensor));
  return make("div", { class: "output" }, ...parts);
}

function verdict(tensor) {
  const text = tensor.agrees
    ? `✓ agrees with onnxruntime: error ${short(Number(tensor.difference.toPrecision?.(3) ?? tensor.difference))}`
    : `✗ differs from onnxruntime by ${short(tensor.difference)}`;
  const where = ` where values reach ${Number(tensor.largest.toPrecision(3))}`;
  return make("p", { class: tensor.agrees ? "good" : "bad" }, text + where);
}

function texts(tensor) {
  const shown = tensor.values.slice(0, MOST_TEXT).map((v) => (Array.isArray(v) ? mapText(v) : short(v)));
  return make("div", { class: "values" }, shown.join(Array.isArray(tensor.values[0]) ? "; " : " ") || "empty");
}

const mapText = (pairs) => pairs.map(([key, v]) => `${key}: ${short(v)}`).join(", ");

function largest(numbers, n) {
  return numbers.map((_, i) => i).sort((a, b) => numbers[b] - numbers[a]).slice(0, n);
}

// What an integer stands for; another value itself.
function meaning(tensor, v) {
  return tensor.scale ? (v - tensor.zero_point) * tensor.scale : v;
}

function rows(tensor, order) {
  const numbers = tensor.values.map((v) => meaning(tensor, v));
  const low = Math.min(0, ...order.map((i) => numbers[i]));
  const high = Math.max(0, ...order.map((i) => numbers[i]));
  const percent = (v) => (100 * (v - low)) / (high - low || 1);
  const [best] = largest(numbers, 1);
  const heads = ["", "value"];
  if (tensor.scale) heads.push("stands for");
  if (tensor.wanted) heads.push("onnxruntime");
  const table = make("table", {}, make("tr", {}, ...heads.map((s, i) => make("th", i ? { class: "num" } : {}, s)), make("th")));
  for (const i of order) {
    const v = numbers[i];
    const bar = make("div", { class: "bar" }, make("i"));
    bar.firstChild.style.left = `${percent(Math.min(v, 0))}%`;
    bar.firstChild.style.width = `${percent(Math.max(v, 0)) - percent(Math.min(v, 0))}%`;
    const cells = [make("td", { class: "soft" }, String(i)), make("td", { class: "num value" }, short(tensor.values[i]))];
    if (tensor.scale) cells.push(make("td", { class: "num" }, short(v)));
    if (tensor.wanted) cells.push(make("td", { class: "num soft" }, short(tensor.wanted[i])));
    const isBest = i === best && order.length > 1;
    table.append(make("tr", isBest ? { class: "best" } : {}, ...cells, make("td", { class: "wide" }, bar)));
  }
  return table;
}

// The operator and, in as much room as there is, the name of the ONNX node.
function nodeCell(text) {
  const [operator, ...name] = text.split(" ");
  const soft = make("span", { class: "soft" }, ` ${name.join(" ")}`);
  return make("td", { class: "node", title: text }, operator || "–", soft);
}

// The steps, with their times once there are some.
export function steps(list, ms) {
  const all = ms?.reduce((a, b) => a + b, 0) || 0;
  const heads = [["step"], ["ONNX node", "node"], ["kernel"], ["ms", "num"], ["", "wide"]];
  const made = [make("tr", {}, ...heads.map(([text, kind]) => make("th", kind ? { class: kind } : {}, text)))];
  for (const step of list.slice(0, MOST_STEPS)) {
    const own = ms && step.timed !== null ? ms[step.timed] : null;
    const bar = make("div", { class: "bar" }, make("i"));
    bar.firstChild.style.width = `${all && own ? (100 * own) / all : 0}%`;
    made.push(make("tr", {},
      make("td", { class: "soft" }, step.step),
      nodeCell(step.name),
      make("td", {}, step.kernel),
      make("td", { class: "num" }, own === null ? "" : own.toFixed(own < 10 ? 2 : 0)),
      make("td", { class: "wide" }, bar),
    ));
  }
  if (ms) made.push(make("tr", {}, make("td"), make("td", { class: "soft" }, "all"), make("td"), make("td", { class: "num" }, all.toFixed(all < 10 ? 2 : 0)), make("td", { class: "wide" })));
  if (list.length > MOST_STEPS) made.push(make("tr", {}, make("td", { colspan: 5 }, `${count(list.length - MOST_STEPS)} more steps`)));
  return made;
}
