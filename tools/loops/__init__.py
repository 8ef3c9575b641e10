"""Sources of loops, which are plain Python, and their translation to viper.

A family of loops is mpconnxr/loops/NAME.py. It runs as it is, on CPython and on MicroPython: this
is its plain form. If its functions' arguments have types, the build (tools.package) expands them
to viper, which has no fast code for most of Python; the module then serves both forms, and defines
COMMON. Hand-tuned viper is mpconnxr/loops/viper/NAME.py (viper64: for 64-bit words), in the same
language with viper's pointers. `python -m tools.loops NAME` prints the result. In a source

    for i in range(p[0], p[1]):     becomes i = p[0], a while loop, and i += 1 at its end.
                                    range(n, 0, -1) counts down, with `while n`
    while far(i < n):               becomes a loop that is too long for Xtensa's conditional
                                    branches; also `for i in far(range(...))`
    for i in unroll(4):             becomes its body four times, with numbers for i
    high = low = 0                  becomes two statements,
    high, low = v >> 12, v & 4095   as these do, one after the other,
    rows, columns = p[3:5]          and these
    v = min(max(v, low), high)      becomes conditions, like v = abs(v) and most = max(v, most)
    a, b, spare = swap(a, b)        becomes the body of a helper
    for i, j, k, end, last in pairs(i, j, k, p):
                                    becomes the body of a helper around these lines, which
                                    replace its `yield`

A helper is a function under @inline, in mpconnxr/loops/_NAME.py or in the file that uses it. It
returns every name that it assigns, so that the call says which of the caller's names they are.
Temporaries are results, too, and the docstring names them. A helper that is the whole body of a
function may keep its names. `name = undefined` in a helper generates no code: Python needs a value
for a name that is returned but not assigned on every path, and nothing may read it. inline, far,
unroll and undefined come from _hints.py; no module imports a file whose name begins with _.

Refused, since Python would behave differently:

    a helper that assigns a name that it does not return, reads one that is not a parameter,
        returns before its end, or is called inside of an expression
    a parameter that a helper changes and that does not return to its argument
    an argument that a helper reads again after it has assigned a name in it
    a `for` whose counter, or end, its body changes (also by a call, if the end is read from a
        buffer), whose counter is read after it, or that has a `continue`: write a while loop

`import micropython`, the decorator and COMMON are added by the build. The result is exactly the
code as written: to count instructions, look there.
"""
