// Draws the arena over time: x is the step, y the offset in bytes, a box is a tensor.

const LEFT = 58, RIGHT = 6, TOP = 22, BOTTOM = 34;
const NARROWEST = 6; // pixels of a step
const CHARACTER = 6.6; // pixels of a label's
const GRID_LINES = 4;

export function element(name, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// Bytes that are alive at each step from -1 to n: blocks may share some.
export function alive(blocks, n) {
  const found = [];
  for (let step = -1; step <= n; step += 1) {
    const own = blocks.filter((b) => b.first <= step && step <= b.last);
    own.sort((a, b) => a.offset - b.offset);
    let [nbytes, end] = [0, 0];
    for (const b of own) {
      nbytes += Math.max(0, b.offset + b.nbytes - Math.max(end, b.offset));
      end = Math.max(end, b.offset + b.nbytes);
    }
    found.push(nbytes);
  }
  return found;
}

function kindOf(block, n) {
  if (block.first < 0) return "input";
  if (block.last >= n) return "output";
  return block.first < block.last ? "inner" : "scratch";
}

// An <svg> of at least this width; wider where there are many steps.
export function draw(blocks, n, arenaBytes, width) {
  const stepWidth = Math.max((width - LEFT - RIGHT) / (n + 2), NARROWEST);
  const inner = stepWidth * (n + 2);
  const height = width < 560 ? 240 : 320;
  const x = (step) => LEFT + (step + 1) * stepWidth;
  const y = (offset) => TOP + height * (1 - offset / arenaBytes);
  const whole = [LEFT + inner + RIGHT, TOP + height + BOTTOM];
  const label = "tensors in the arena over the steps";
  const svg = element("svg", { width: whole[0], height: whole[1], role: "img", "aria-label": label });
  for (let i = 0; i <= GRID_LINES; i += 1) {
    const nbytes = Math.floor((arenaBytes * i) / GRID_LINES);
    const at = y(nbytes);
    svg.append(element("line", { x1: LEFT, x2: LEFT + inner, y1: at, y2: at, class: "grid" }));
    const place = { x: LEFT - 6, y: at + 4, class: "axis", "text-anchor": "end" };
    svg.append(element("text", place, nbytes.toLocaleString("en")));
  }
  for (const block of blocks) svg.append(...box(block, n, x, y));
  svg.append(...peak(blocks, n, x, stepWidth, height, inner));
  const every = Math.max(1, Math.round(40 / stepWidth));
  for (let step = 0; step < n; step += every) {
    const place = { x: x(step) + stepWidth / 2, y: TOP + height + 15, class: "axis", "text-anchor": "middle" };
    svg.append(element("text", place, String(step)));
  }
  const middle = { x: LEFT + Math.min(inner, width) / 2, y: TOP + height + 30, class: "axis", "text-anchor": "middle" };
  svg.append(element("text", middle, "step"));
  return svg;
}

function box(block, n, x, y) {
  const left = x(block.first);
  const top = y(block.offset + block.nbytes);
  const width = x(block.last + 1) - left;
  const height = Math.max(y(block.offset) - top, 1.5);
  const kind = kindOf(block, n);
  const shape = block.shape.map((d) => d ?? "?").join("×");
  const when = `steps ${Math.max(block.first, 0)} to ${Math.min(block.last, n - 1)}`;
  const bytes = block.nbytes.toLocaleString("en");
  const title = element("title", {}, `${kind} ${shape}\n${bytes} bytes at ${block.offset}, ${when}`);
  const rect = element("rect", { x: left, y: top, width, height, class: kind }, title);
  const label = shape || kind;
  if (height < 13 || width < label.length * CHARACTER + 8) return [rect];
  return [rect, element("text", { x: left + 4, y: top + height / 2 + 4, "pointer-events": "none" }, label)];
}

function peak(blocks, n, x, stepWidth, height, inner) {
  const found = alive(blocks, n);
  const most = Math.max(...found);
  const step = found.indexOf(most) - 1;
  const at = x(step) + stepWidth / 2;
  const anchor = at > LEFT + inner / 2 ? "end" : "start";
  const text = `peak: ${most.toLocaleString("en")} bytes`;
  return [
    element("line", { x1: at, x2: at, y1: TOP - 6, y2: TOP + height, class: "peak" }),
    element("text", { x: at, y: TOP - 9, class: "peak", "text-anchor": anchor }, text),
  ];
}
