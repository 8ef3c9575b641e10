"""Behind heap.py's functions: prints what a model that is a program takes of the heap.

All that it has in use at most from the first import to the end of a run, what stays, and the
arena among that: streamed from the board's own file system if model.bin is there, else in place.
"""

copy("mpconnxr")
if STREAMED:
    copy("model.bin")
sys.path.insert(0, "/")
addresses, sizes, held = array("I", [0] * 900), array("H", [0] * 900), [None] * 900
gc.collect()
painted(addresses, sizes, held)
gc.collect()
arena, kept = used("/model.bin" if STREAMED else "model.bin")
blocks = sum([touched(addresses[i] * BLOCK, sizes[i]) for i in range(len(sizes))])
print(arena, blocks * BLOCK, kept)
