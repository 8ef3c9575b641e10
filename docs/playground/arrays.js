// Reads arrays from .npy, .npz and JSON: {name, dtype, shape, data}, data a typed array or a list
// of strings. Nothing in a file is trusted: what is wrong is an Error with a text for people.

const LARGEST = 256 << 20; // bytes of an archive's arrays
const TYPES = {
  "|b1": ["bool", Uint8Array], "|u1": ["uint8", Uint8Array], "|i1": ["int8", Int8Array],
  "<u2": ["uint16", Uint16Array], "<i2": ["int16", Int16Array],
  "<u4": ["uint32", Uint32Array], "<i4": ["int32", Int32Array],
  "<u8": ["uint64", BigUint64Array], "<i8": ["int64", BigInt64Array],
  "<f4": ["float32", Float32Array], "<f8": ["float64", Float64Array],
};

export function isNpy(bytes) {
  return text(bytes.subarray(0, 6)) === "\x93NUMPY";
}

export function isZip(bytes) {
  return text(bytes.subarray(0, 4)) === "PK\x03\x04";
}

function text(bytes) {
  return String.fromCharCode(...bytes);
}

function viewOf(bytes) {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

export function readNpy(bytes, name) {
  const wrong = (what) => new Error(`${name}: ${what}`);
  if (bytes.length < 12 || !isNpy(bytes)) throw wrong("not a .npy file");
  const view = viewOf(bytes);
  const start = bytes[6] === 1 ? 10 : 12;
  const end = start + (bytes[6] === 1 ? view.getUint16(8, true) : view.getUint32(8, true));
  if (end > bytes.length) throw wrong("the file is cut off");
  const header = new TextDecoder().decode(bytes.subarray(start, end));
  const descr = /'descr':\s*'([^']*)'/.exec(header)?.[1];
  const dims = /'shape':\s*\(([\d,\s]*)\)/.exec(header)?.[1];
  if (descr === undefined || dims === undefined) throw wrong("the header cannot be read");
  if (/'fortran_order':\s*True/.test(header)) throw wrong("save it in C order: np.ascontiguousarray");
  const shape = dims.split(",").filter((s) => s.trim()).map(Number);
  const nelem = shape.reduce((n, d) => n * d, 1);
  const data = bytes.slice(end);
  const width = /^<U(\d+)$/.exec(descr)?.[1];
  if (width) return { name, dtype: "string", shape, data: strings(data, nelem, Number(width), wrong) };
  if (!TYPES[descr]) throw wrong(`arrays of ${descr} are not supported here`);
  const [dtype, Type] = TYPES[descr];
  if (data.length !== nelem * Type.BYTES_PER_ELEMENT) throw wrong("its size does not fit its shape");
  return { name, dtype, shape, data: new Type(data.buffer) };
}

function strings(data, nelem, width, wrong) {
  if (data.length !== nelem * width * 4) throw wrong("its size does not fit its shape");
  const codes = new Uint32Array(data.buffer);
  return Array.from({ length: nelem }, (_, i) => {
    const own = Array.from(codes.subarray(i * width, (i + 1) * width)).filter((c) => c);
    if (own.some((c) => c > 0x10ffff)) throw wrong("a string is not Unicode");
    return String.fromCodePoint(...own);
  });
}

// The arrays of an .npz, in the order of its directory.
export async function readNpz(bytes, name) {
  const arrays = [];
  let left = LARGEST;
  for (const entry of directory(bytes, name)) {
    if (!entry.name.endsWith(".npy")) continue;
    left -= entry.size;
    if (left < 0) throw new Error(`${name}: its arrays are too large`);
    const content = await unpacked(bytes, entry, name);
    arrays.push(readNpy(content, entry.name.slice(0, -4)));
  }
  if (!arrays.length) throw new Error(`${name}: no arrays in it`);
  return arrays;
}

function* directory(bytes, name) {
  const wrong = new Error(`${name}: not a .npz file`);
  const view = viewOf(bytes);
  let at = bytes.length - 22;
  while (at >= 0 && view.getUint32(at, true) !== 0x06054b50) at -= 1;
  if (at < 0) throw wrong;
  const count = view.getUint16(at + 10, true);
  at = view.getUint32(at + 16, true);
  for (let i = 0; i < count; i += 1) {
    if (at + 46 > bytes.length || view.getUint32(at, true) !== 0x02014b50) throw wrong;
    const [nameLength, extra, comment] = [28, 30, 32].map((k) => view.getUint16(at + k, true));
    yield {
      method: view.getUint16(at + 10, true),
      packedSize: view.getUint32(at + 20, true),
      size: view.getUint32(at + 24, true),
      offset: view.getUint32(at + 42, true),
      name: new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + nameLength)),
    };
    at += 46 + nameLength + extra + comment;
  }
}

async function unpacked(bytes, entry, name) {
  const wrong = new Error(`${name}: ${entry.name} cannot be read`);
  const view = viewOf(bytes);
  if (entry.offset + 30 > bytes.length) throw wrong;
  const start =
    entry.offset + 30 + view.getUint16(entry.offset + 26, true) + view.getUint16(entry.offset + 28, true);
  const packed = bytes.subarray(start, start + entry.packedSize);
  if (entry.method === 0) return packed;
  if (entry.method !== 8) throw wrong;
  const content = new Uint8Array(entry.size);
  let at = 0;
  try {
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    const reader = stream.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      content.set(value, at); // a RangeError beyond the size that the directory says
      at += value.length;
    }
  } catch {
    throw wrong;
  }
  if (at !== entry.size) throw wrong;
  return content;
}

// What fills an input of this dtype and shape: {bytes} or {values}, with the shape.
export function forInput(array, spec, sample, factor) {
  const n = elementsOf(spec);
  const count = n === null ? array.data.length : n;
  const shape = n === null ? array.shape : spec.shape;
  const own = array.data.slice(sample * count, (sample + 1) * count);
  const bits = { float32: Float32Array, float64: Float64Array }[spec.dtype];
  if (factor !== 1 && array.dtype === "string") throw new Error("strings cannot be multiplied");
  if (array.dtype === spec.dtype && factor === 1 && array.dtype !== "string") {
    return { shape, bytes: new Uint8Array(own.buffer) };
  }
  if (bits && array.dtype !== "string") {
    return { shape, bytes: new Uint8Array(bits.from(own, (v) => Number(v) * factor).buffer) };
  }
  const values = Array.from(own, (v) => (typeof v === "string" ? v : Number(v) * factor));
  return { shape, values };
}

// Elements of an input; null where the caller decides its shape.
export function elementsOf(spec) {
  return spec.shape.includes(null) ? null : spec.shape.reduce((n, d) => n * d, 1);
}
