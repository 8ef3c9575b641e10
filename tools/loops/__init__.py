"""Loops as templates: Python that viper has no quick code for, or none, and what becomes of it.

A template is tools/loops/FORM/NAME.py, and `python -m tools.loops` writes mpconnxr/loops/NAME.py
of it, or loops/viper/NAME.py, loops/viper64/NAME.py. Forms: common (one source for viper and plain
Python), viper, viper64. A module is committed: a board takes it as it is.

In a template

    for i in range(p[0], p[1]):     is i = p[0], a while loop, and i += 1 at its end: so nothing
                                    in it may change i. range(n, 0, -1) counts down, while n
    while far(i < n):               is a loop whose code Xtensa's branches cannot go around; also
                                    `for i in far(range(...))`
    for i in unroll(4):             is its body four times, with numbers for i
    high = low = 0                  are two statements,
    high, low = v >> 12, v & 4095   as these are, one after the other,
    rows, columns = p[3:5]          and these
    v = min(max(v, low), high)      are conditions, as v = abs(v) is, or most = max(v, most)
    swap(a, b, spare)               is what stands in a snippet, with its arguments
    with pairs(i, j, k, end, last): is one around these lines, which come where it says `yield`

A snippet is a function under @inline: below snippets/, or in the template that uses it. It changes
what it is given; names that are no arguments are those of the loop. `micropython.viper` and
COMMON come by themselves: a function whose arguments have types is viper.

What is made is exactly what is written: who counts instructions looks there.
"""
