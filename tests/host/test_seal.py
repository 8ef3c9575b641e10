"""Seals of model files: what they cover, who can make them, and what reads them."""

import hashlib
import hmac
import struct
import subprocess
import sys

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tests.host.device import small
from tests.host.device.binfile import File, signed
from tools import seal
from tools.converter.convert import Options, convert
from tools.converter.errors import ConvertError
from tools.format import last_chunk, reader

SECRET = bytes(range(32))
PEM, RAW = serialization.Encoding.PEM, serialization.Encoding.Raw
SEAL = 9


@pytest.fixture(scope="module")
def key():
    return Ed25519PrivateKey.from_private_bytes(bytes(range(32)))


@pytest.fixture(scope="module")
def public(key):
    return key.public_key().public_bytes(RAW, serialization.PublicFormat.Raw)


@pytest.fixture(scope="module")
def plain():
    return convert(small.mixed()).data


@pytest.fixture
def files(tmp_path, key):
    """Return a folder with a private key, its public one, a secret, and a model."""
    no = serialization.NoEncryption()
    private = key.private_bytes(PEM, serialization.PrivateFormat.PKCS8, no)
    public = key.public_key().public_bytes(PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    contents = {"key.pem": private, "pub.pem": public, "secret": SECRET}
    for name, data in contents.items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "m.onnx").write_bytes(small.mixed().SerializeToString())
    return tmp_path


def converter(*args):
    command = [sys.executable, "-m", "tools.converter", *map(str, args)]
    return subprocess.run(command, cwd=small.ROOT, capture_output=True, text=True, check=False)


def test_the_seal_lies_where_the_page_says(plain, key, public):
    made = seal.sealed(plain, seal.Keys(key, SECRET), 7)
    before, file = File(plain), File(made)
    digests = [c[3] for c in file.chunks]
    assert [c[0] for c in file.chunks] == [c[0] for c in before.chunks] + [SEAL]
    assert digests == [c[3] for c in before.chunks] + [bytes(32)]
    assert file.tensors[0][1:] == before.tensors[0][1:] and file.graph == before.graph
    assert len(file.chunk(SEAL)) == 132 and file.data.endswith(made[-132:])
    assert struct.unpack_from("<I", made, 16)[0] == len(made)
    digest = made[24:56]
    head = made[: struct.unpack_from("<I", made, 20)[0]]
    assert hashlib.sha256(head[:24] + head[56:]).digest() == digest
    message = b"mpconnxr model\0" + bytes([7, 0, 0, 0]) + digest
    counter, mac, who, signature = struct.unpack("<I32s32s64s", made[-132:])
    assert (counter, who) == (7, public)
    assert mac == hmac.digest(SECRET, message, "sha256")
    key.public_key().verify(signature, message)


def test_a_sealed_file_is_the_same_model(plain, key):
    made = reader.read(seal.sealed(plain, seal.Keys(key), 1))
    assert made.intact and all(chunk.intact for chunk in made.chunks)
    assert seal.unsealed(seal.sealed(plain, seal.Keys(key), 1)) == plain
    assert seal.unsealed(plain) == plain and seal.seal_of(plain) is None


def test_sealing_again_keeps_the_counter_by_default(plain, key):
    once = seal.sealed(plain, seal.Keys(key), 3)
    assert seal.sealed(once, seal.Keys(key)) == once
    assert seal.seal_of(seal.sealed(once, seal.Keys(key), 4)).counter == 4
    assert seal.seal_of(seal.sealed(plain, seal.Keys(key))).counter == 0


def test_conversion_and_sign_give_the_same_bytes(plain, key):
    options = Options(seal=seal.Request(seal.Keys(key, SECRET), 5))
    assert convert(small.mixed(), options).data == seal.sealed(plain, seal.Keys(key, SECRET), 5)


def test_verify_accepts_a_sealed_file(plain, key, public):
    made = seal.sealed(plain, seal.Keys(key), 2)
    assert seal.verify(made, public).counter == 2
    other = Ed25519PrivateKey.from_private_bytes(bytes(32))
    with pytest.raises(seal.SealError, match="signed by another key"):
        seal.verify(seal.sealed(plain, seal.Keys(other), 2), public)
    with pytest.raises(seal.SealError, match="not signed"):
        seal.verify(plain, public)
    with pytest.raises(seal.SealError, match="not signed"):
        seal.verify(seal.sealed(plain, seal.Keys(hmac=SECRET), 2), public)


def test_verify_refuses_every_changed_byte(plain, key, public):
    """Exceptions are padding between chunks, which nothing reads, and the HMAC."""
    made = seal.sealed(plain, seal.Keys(key), 2)
    file, covered = File(made), bytearray(len(made))
    covered[: file.tables] = b"\1" * file.tables
    for _, offset, nbytes, _, _ in file.chunks:
        covered[offset : offset + nbytes] = b"\1" * nbytes
    at = len(made) - 132 + 4
    covered[at : at + 32] = bytes(32)
    for i in range(len(made)):
        changed = bytearray(made)
        changed[i] ^= 1
        if covered[i]:
            with pytest.raises(ConvertError):
                seal.verify(bytes(changed), public)
        else:
            seal.verify(bytes(changed), public)


def test_verify_refuses_changed_files_with_repaired_digests(plain, key, public):
    """The files' digests are right, and their seals are arbitrary."""
    made = seal.sealed(plain, seal.Keys(key), 2)
    file = File(made)
    changes = [
        file.changed((0, file.words[0] + 16)),
        signed(made[:-200] + bytes([made[-200] ^ 1]) + made[-199:]),
        made[:-132] + struct.pack("<I", 3) + made[-128:],
        made[:-96] + bytes(32) + made[-64:],
        made + bytes(4),
        made[:-4],
    ]
    for data in changes:
        with pytest.raises(ConvertError):
            seal.verify(data, public)


def test_a_seal_is_the_last_chunk_and_the_only_one(plain, key, public):
    twice = last_chunk.added(seal.sealed(plain, seal.Keys(key), 2), SEAL, bytes(132))
    with pytest.raises(ConvertError):
        seal.verify(twice, public)


def test_a_damaged_file_is_not_signed(plain, key):
    with pytest.raises(ConvertError, match="damaged"):
        seal.sealed(plain[:-1] + bytes([plain[-1] ^ 1]), seal.Keys(key), 1)


@pytest.mark.parametrize("counter", [-1, 1 << 32])
def test_a_counter_has_32_bits(plain, key, counter):
    with pytest.raises(ConvertError, match="counter"):
        seal.sealed(plain, seal.Keys(key), counter)


@pytest.mark.slow
def test_the_commands_make_keys_sign_and_verify(files, public):
    model, made, again = files / "m.onnx", files / "m.bin", files / "again.bin"
    keys = ["--sign", files / "key.pem", "--hmac", files / "secret", "--counter", 9]
    completed = converter(model, made, *keys)
    assert completed.returncode == 0, completed.stderr
    assert f"digest   {made.read_bytes()[24:56].hex()}" in completed.stdout
    plain = files / "plain.bin"
    assert converter(model, plain).returncode == 0
    assert converter("sign", plain, "-o", again, *keys).returncode == 0
    assert again.read_bytes() == made.read_bytes() and plain.read_bytes() != made.read_bytes()
    assert converter("sign", plain, *keys).returncode == 0
    assert plain.read_bytes() == made.read_bytes()
    shown = converter("inspect", made, "--verify", files / "pub.pem")
    der = bytes.fromhex("302a300506032b6570032100") + public
    assert shown.returncode == 0 and hashlib.sha256(der).hexdigest() in shown.stdout
    assert "counter 9" in shown.stdout and "right" in shown.stdout


def test_inspect_reports_a_wrong_signature(files):
    made = files / "m.bin"
    assert converter(files / "m.onnx", made).returncode == 0
    refused = converter("inspect", made, "--verify", files / "pub.pem")
    assert refused.returncode == 1 and "not signed" in refused.stderr


@pytest.mark.parametrize(
    ("args", "why"),
    [
        (["--counter", 3], "--sign or --hmac"),
        (["--sign", "m.onnx"], "Ed25519 private key"),
        (["--sign", "pub.pem"], "Ed25519 private key"),
        (["--sign", "rsa.pem"], "Ed25519 private key"),
        (["--sign", "locked.pem"], "password"),
        (["--sign", "none.pem"], "No such file"),
        (["--hmac", "short"], "16 bytes"),
        (["--sign", "key.pem", "--counter", -1], "counter"),
    ],
)
def test_wrong_requests_are_refused(files, args, why, key):
    from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key

    pkcs8, no = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    other = generate_private_key(SECP256R1())
    (files / "rsa.pem").write_bytes(other.private_bytes(PEM, pkcs8, no))
    locked = serialization.BestAvailableEncryption(b"secret")
    (files / "locked.pem").write_bytes(key.private_bytes(PEM, pkcs8, locked))
    (files / "short").write_bytes(b"12345")
    args = [files / a if isinstance(a, str) and not a.startswith("--") else a for a in args]
    completed = converter(files / "m.onnx", files / "m.bin", *args)
    assert (
        completed.returncode in (1, 2)
        and why in completed.stderr
        and "Traceback" not in completed.stderr
    )
    assert len(completed.stderr.splitlines()) == 1 and not (files / "m.bin").exists()


def test_sign_does_not_overwrite_a_key(files):
    assert converter(files / "m.onnx", files / "m.bin").returncode == 0
    before = (files / "key.pem").read_bytes()
    completed = converter(
        "sign", files / "m.bin", "-o", files / "key.pem", "--sign", files / "key.pem"
    )
    assert completed.returncode != 0 and (files / "key.pem").read_bytes() == before
