"""Constants are stored in chunks of the file."""

from tools.converter.file.weights import Chunk, Contents


def test_a_constant_of_no_bytes_lies_within_its_chunk():
    """At the end of its chunk it would be the beginning of the next one, which may be streamed."""
    chunk = Chunk()
    for contents in (Contents(b"1234"), Contents(b""), Contents(b"", alignment=8)):
        at = chunk.append(contents)
        assert at % contents.alignment == 0 and at < chunk.stored_nbytes
    assert chunk.nbytes == sum(map(len, chunk.parts))
