"""Mean or p-norm of each window of a row. Plain form.

x    one image plane (D, H, W) of floats;  out  a row of outputs
p    item of x at the first z and y that count and at column 0; taps z, y that count; taps x;
     items between taps z, y, x; W; stride x, pad x; padding that is counted at the left and
     at the right; power (0: a mean); count of the taps z and y together; ow, first item of out
"""


def average_row(x, w, out, p):
    """
    Access:
        reads x[p[0] : p[0] + (p[1] - 1) * p[4] + (p[2] - 1) * p[5] + p[7]]
            if min(p[1], p[2], p[14]) > 0
        writes out[p[15] : p[15] + p[14]]
    """
    dx, width, power = p[6], p[7], p[12]
    column = 0
    while column < p[14]:
        corner = column * p[8] - p[9]
        begin = -(corner // dx) if corner < 0 else 0
        end = -((corner - width) // dx)
        if end > p[3]:
            end = p[3]
        total = 0.0
        z = 0
        while z < p[1]:
            y = 0
            while y < p[2]:
                i = p[0] + corner + z * p[4] + y * p[5]
                stop = i + end * dx
                i += begin * dx
                part = 0.0
                while i < stop:
                    part += abs(x[i]) ** power if power else x[i]
                    i += dx
                total += part
                y += 1
            z += 1
        if power:
            total **= 1.0 / power
        else:
            corner += p[10]
            begin = -(corner // dx) if corner < 0 else 0
            end = -((corner - p[10] - width - p[11]) // dx)
            if end > p[3]:
                end = p[3]
            count = p[13] * (end - begin)
            total = total / count if count > 0 else float("nan")
        out[p[15] + column] = total
        column += 1
