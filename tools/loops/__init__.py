"""The sources of loops, which are plain Python, and what the build makes of them.

A family of loops is mpconnxr/loops/NAME.py. It runs as it is, on CPython and on MicroPython: that
is its plain form. Where its functions' arguments have types, the build (tools.package) expands
them to viper, which has no quick code for most of Python; the module then serves both forms, and
says COMMON. What somebody tuned for viper is mpconnxr/loops/viper/NAME.py (viper64: for words of
64 bits), in the same language with viper's pointers. `python -m tools.loops NAME` prints what is
made. In a source

    for i in range(p[0], p[1]):     becomes i = p[0], a while loop, and i += 1 at its end.
                                    range(n, 0, -1) counts down, while n
    while far(i < n):               becomes a loop whose code Xtensa's branches cannot go around;
                                    also `for i in far(range(...))`
    for i in unroll(4):             becomes its body four times, with numbers for i
    high = low = 0                  becomes two statements,
    high, low = v >> 12, v & 4095   as these do, one after the other,
    rows, columns = p[3:5]          and these
    v = min(max(v, low), high)      becomes conditions, as v = abs(v) and most = max(v, most) do
    a, b, spare = swap(a, b)        becomes the body of a helper
    for i, j, k, end, last in pairs(i, j, k, p):
                                    becomes the body of a helper around these lines, which come
                                    where it says `yield`

A helper is a function under @inline, in mpconnxr/loops/_NAME.py or in the file that uses it. It
returns every name that it assigns, so the call says where the caller has each of them: a name that
only gives a helper room to work in is a result, too, which its docstring calls room. A helper that
is all a function does may keep its names. `name = undefined` in a helper makes no code: Python
wants a value for a name that is returned but not assigned on every path, and nothing may read it.
inline, far, unroll and undefined come from _hints.py; no module gets an import of a file whose
name begins with _.

Refused, since Python would do something else:

    a helper that assigns a name that it does not return, reads one that is no parameter, returns
        earlier than at its end, or is called inside of an expression
    a parameter that a helper changes, and that does not go back to where it came from
    an argument that a helper reads again after it has assigned a name in it
    a `for` whose counter, or end, its body changes (also by a call, where the end is read from a
        buffer), whose counter is read behind it, or that has a `continue`: write a while loop

`import micropython`, the decorator and COMMON come by themselves. What is made is exactly what is
written: who counts instructions looks there.
"""
