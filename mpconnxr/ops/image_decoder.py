"""image_decoder: pixels of an image file.

    out[y, x, c] = colour c of a pixel: red, green, blue; or blue, green, red; or gray

Serves ImageDecoder (opset 20) for BMP, PNG, PNM and TIFF. Each format is a module that is imported
with the first such image. Formats whose decoding is not bit-exact (JPEG, WebP), JPEG 2000 and
others are refused by name. A damaged file raises, where ONNX asks for an empty output. Bytes
behind an image are ignored.

    x    uint8 (n): the file
    out  uint8, at least (height, width, colours) of the dims' bounds; the image fills its first
         elements

Gray is (19595 red + 38470 green + 7471 blue + 32768) >> 16. Alpha is dropped; of 16-bit samples
the upper 8 bits count. Raises ModelError; InputError for a file that it cannot decode, and, before
it writes, for more rows or columns than the dims' bounds; UnsupportedError for a PNG if the
firmware lacks `deflate`. A step allocates: for a PNG, two rows of the file and up to 32 KB.
"""

from ._image import Image

# params
_HEIGHT = const(0)  # dim
_WIDTH = const(1)  # dim
_RED = const(2)  # index of red in a pixel: 0 (RGB), 2 (BGR); 3: gray
_N_PARAMS = const(3)

_OTHERS = (
    (b"\xff\xd8\xff", "JPEG"),
    (b"\x00\x00\x00\x0cjP  ", "JPEG 2000"),
    (b"\xff\x4f\xff\x51", "JPEG 2000"),
    (b"RIFF", "WebP"),
    (b"GIF8", "GIF"),
)


def prepare(node):
    node.expect(1, 1, _N_PARAMS)
    x, out = node.inputs[0], node.outputs[0]
    node.expect_dtype("uint8", x, out)
    height, width, red = node.dim(_HEIGHT), node.dim(_WIDTH), node.params[_RED]
    node.require(red in (0, 2, 3), "place of red")
    most = height.bound * width.bound * (1 if red == 3 else 3)
    node.require(most <= out.nelem, "output size")
    return 1, _Decoder(node.name, x, out, (height, width), red).step


class _Decoder:
    def __init__(self, name, x, out, dims, red):
        self.name, self.x, self.out, self.dims, self.red = name, x, out, dims, red

    def step(self, lo, hi):
        image = Image(self.name, self.x.data, self.x.nelem, self.out.data, self.dims, self.red)
        _format(image, image.bytes(0, min(image.n, 8)))(image)


def _format(image, head):
    """Return the function that decodes a file with this header."""
    if head[:2] == b"BM":
        from ._image_bmp import decode
    elif head == b"\x89PNG\r\n\x1a\n":
        from ._image_png import decode
    elif head[:4] in (b"II*\x00", b"MM\x00*"):
        from ._image_tiff import decode
    elif head[:1] == b"P" and head[1:2] in (b"1", b"2", b"3", b"4", b"5", b"6"):
        from ._image_pnm import decode
    else:
        for begin, name in _OTHERS:
            image.require(
                head[: len(begin)] != begin,
                name + " is not decoded (BMP, PNG, PNM and TIFF are)",
            )
        image.refuse("it begins like no BMP, PNG, PNM or TIFF")
    return decode
