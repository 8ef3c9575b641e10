"""Convert an .onnx to a model.bin. `pipeline.py` lists the passes; their code is in the rooms.

load/       the file, checked, with the shapes of its inputs
simplify/   passes that make the graph simple and explicit; its meaning in ONNX stays
quantize/   --quantize: a float model gets integers
rewrites/   passes that make the graph smaller and faster
numbers/    in which numbers products are computed: --weights, --float
lower/      nodes become steps, by the lowerings in ops/, one operator family a file
plan/       where values and weights lie in memory
file/       the bytes
shapes/     shapes and dtypes, for all of them;  steps/  properties of steps
reference/  onnxruntime's answers;  report/, commands/  output for people
"""
