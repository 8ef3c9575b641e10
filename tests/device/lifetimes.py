"""Check that everything a model or a view of an output reads stays alive, with garbage around.

Runs on MicroPython. model.bin, x (an input's bytes) and rom (a ROMFS with model.bin in it) are
beside it. KINDS: of models, kernels are loaded by PREFER; ALL: each source with each arena;
RESERVED: address of a reserved region in the flash of an RP2040, if there is one. Prints what went
wrong; last, "end".
"""

import gc

import mpconnxr

KINDS, PREFER, ALL, RESERVED = ("program", "kernels"), "plain", False, 0
SIZES = (16, 32, 64, 256, 1024, 4096, 8192)  # of garbage

data = open("model.bin", "rb").read()
n = len(data)
X = open("x", "rb").read()


def load(source, arena=None):
    return mpconnxr.load(source, arena=arena, prefer=PREFER if kind == "kernels" else ())


def litter():
    gc.collect()
    for size in SIZES:
        kept = []
        for _ in range(40000 // size):
            kept.append(bytearray(b"\xa5" * size))
    gc.collect()


def outputs(m):
    return [bytes(t.view("B")) for t in m.outputs]


def check(what, ok):
    if not ok:
        print(kind, what)


class File:
    def __init__(self):
        self.file = open("model.bin", "rb")
        self.seek, self.readinto = self.file.seek, self.file.readinto


def part(offset):
    buffer = bytearray(n + 64)
    buffer[offset : offset + n] = data
    return memoryview(buffer)[offset : offset + n]


def of_bytes(offset):
    return memoryview(bytes(offset) + data)[offset:]


sources = [("path", lambda: "model.bin"), ("file", lambda: open("model.bin", "rb"))]
sources += [("object", File), ("bytes", lambda: bytes(bytearray(data)))]
sources += [("bytearray", lambda: bytearray(data)), ("view", lambda: memoryview(bytearray(data)))]
for offset in range(8, 72, 8):
    sources.append(("part %d" % offset, lambda offset=offset: part(offset)))
for offset in (1, 2, 4, 12):
    sources.append(("part %d" % offset, lambda offset=offset: part(offset)))
sources += [("bytes 64", lambda: of_bytes(64)), ("bytes 3", lambda: of_bytes(3))]
sources.append(("part of a part", lambda: memoryview(part(16))[:n]))


def of_flash():
    # bytes that a board's processor reads where they are
    from mpconnxr.io import xip

    flash = xip.region(RESERVED, n)
    for i in range(0, n, xip.BLOCK):
        flash.writeblocks(i // xip.BLOCK, (data[i:] + bytes(xip.BLOCK))[: xip.BLOCK])
    return xip.view(RESERVED, n)


try:
    import vfs

    vfs.mount(vfs.VfsRom(open("rom", "rb").read()), "/image")  # which keeps the bytes
    sources += [("ROMFS", lambda: "/image/model.bin")]
    sources += [("view of a ROMFS", lambda: memoryview(open("/image/model.bin", "rb")))]
except (ImportError, AttributeError):
    print("no ROMFS")
if RESERVED:
    sources.append(("flash", of_flash))
arenas = [("own", lambda: None), ("whole", lambda: bytearray(nbytes))]
arenas.append(("view", lambda: memoryview(bytearray(nbytes))))
arenas.append(("start", lambda: memoryview(bytearray(nbytes + 64))[:nbytes]))
arenas.append(("end", lambda: memoryview(bytearray(nbytes + 64))[64:]))
arenas.append(("part", lambda: memoryview(memoryview(bytearray(nbytes + 64))[16:])[8:]))

for kind in KINDS:
    m = load("model.bin")
    check("kind", (type(m).__name__ == "Program") == (kind == "program"))
    nbytes = max(m.arena_nbytes, load(File()).arena_nbytes)
    expected = outputs(m.run(X) and m)
    for i in range(len(sources)):
        for k in range(len(arenas)):
            if not (k == i % len(arenas) or ALL):
                continue
            what = sources[i][0], arenas[k][0]
            m = load(sources[i][1](), arenas[k][1]())
            litter()
            check((what, "run"), outputs(m.run(X) and m) == expected)
            litter()
            check((what, "again"), outputs(m.run(X) and m) == expected)
            check((what, "wrapped"), [bytes(t.view("B")) for t in m.outputs] == expected)
            views = [t.data for t in m.outputs] + [t.view("B") for t in m.outputs]
            m = None
            litter()
            check((what, "a view"), [bytes(v) for v in views] == 2 * expected)
print("end")
