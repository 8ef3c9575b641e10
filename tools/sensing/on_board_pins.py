"""Run on the board, with PINS = [...] and RATE = ... (Hz) defined: a sensor of analog pins."""


def samples():
    """Yield the pins' 16-bit readings, RATE times per second."""
    import time

    inputs = [analog(pin) for pin in PINS]  # noqa: F821
    period = 1_000_000 // RATE  # noqa: F821
    due = time.ticks_us()
    while True:
        yield [pin.read_u16() for pin in inputs]
        due = time.ticks_add(due, period)
        time.sleep_us(max(0, time.ticks_diff(due, time.ticks_us())))


def analog(pin):
    """Return the ADC of a pin. Raises ValueError with the pin's name."""
    from machine import ADC, Pin

    try:
        return ADC(Pin(pin))
    except (ValueError, TypeError) as e:
        raise ValueError(f"pin {pin}: {e}")  # noqa: B904
