"""Read programs by the form of loops/program that this machine uses.

Prints the form's name, then for each call of two runs its entry, the starts of its views and its
words; 255 at the end of a run, "end" at the end of a program.
"""

from array import array

from mpconnxr import forms, tensor

FIRST = 8

loops = forms.get("program")
NAME = [name for name in forms.available("program")][0]
print(NAME)


def show(k, views, words, n_words):
    """Print the result of `advance`, the places of the views, and the words."""
    if k > 239:
        print(k)
        return
    places = [tensor.place_words(view)[1] >> 8 for view in views]
    print(k, *places, *[words[FIRST + len(views) + i] for i in range(n_words)])


def play(name, n_views, n_words, n_calls):
    with open(name + ".code", "rb") as f:
        code = f.read()
    with open(name + ".before", "rb") as f:
        before = f.read()
    memory = bytearray(16)
    views = [tensor.view(memory, 0, "f", 4) for _ in range(n_views)]
    words = array("i", [0] * (FIRST + n_views + n_words))
    words[1], words[2] = 1, n_views
    for i in range(n_views):
        words[FIRST + i] = tensor.address(views[i])
    if getattr(loops, "HOW", 0) == 2:
        held = array("q", [id(view) + 8 for view in views])
    else:
        held = [tensor.place_words(view) for view in views]
    assert loops.advance(before, words, held) == 255
    for _ in range(2):
        for i in (0, 3, 4, 5, 6, 7):
            words[i] = 0
        words[1] = n_calls
        while True:
            k = loops.advance(code, words, held)
            show(k, views, words, n_words)
            if k == 255:
                break


with open("programs") as f:
    for line in f.read().split("\n"):
        if line:
            name, *numbers = line.split(" ")
            play(name, *[int(n) for n in numbers])
            print("end")
