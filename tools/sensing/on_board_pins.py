"""Runs on the board, with PINS = [...] and RATE = ... (Hz): a sensor that is analog pins."""


def samples():
    """Yields the pins' 16-bit readings, RATE times a second."""
    import time

    inputs = [analog(pin) for pin in PINS]  # noqa: F821
    period = 1_000_000 // RATE  # noqa: F821
    due = time.ticks_us()
    while True:
        yield [pin.read_u16() for pin in inputs]
        due = time.ticks_add(due, period)
        time.sleep_us(max(0, time.ticks_diff(due, time.ticks_us())))


def analog(pin):
    """What reads a pin. A ValueError names it."""
    from machine import ADC, Pin

    try:
        return ADC(Pin(pin))
    except (ValueError, TypeError) as e:
        raise ValueError(f"pin {pin}: {e}")  # noqa: B904
