"""Times that others measured on boards, next to the estimated cycles of the same models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_MLPERF = "MLPerf Tiny v1.0, OctoML: microTVM with CMSIS-NN, inferences a second"


@dataclass(frozen=True)
class Published:
    """One published measurement.

    Attributes:
        seconds: time of a run.
        hz: clock of the core.
        macs: multiply-accumulates, if they differ from the collection's model.
    """

    board: str
    target: str
    model: str
    seconds: float
    hz: int
    source: str
    macs: int | None = None

    def cycles(self, macs: int) -> float:
        """Return the cycles per MAC. `macs`: MACs of the model in the collection."""
        return self.seconds * self.hz / (self.macs or macs)


PUBLISHED = (
    Published(
        "RP2040, 125 MHz",
        "mps2-an385-v6m",
        "mlperf_vww_mobilenet_int8",
        0.823658,
        125_000_000,
        "pico-tflmicro's benchmark_results.txt, one core: person detection, whose first layer has "
        "one channel of input, not three",
        7_157_888,
    ),
    Published(
        "nRF5340, Cortex-M33, 128 MHz",
        "mps2-an505",
        "mlperf_vww_mobilenet_int8",
        1 / 4.310,
        128_000_000,
        _MLPERF,
    ),
    Published(
        "nRF5340, Cortex-M33, 128 MHz",
        "mps2-an505",
        "mlperf_kws_dscnn_int8",
        1 / 13.143,
        128_000_000,
        _MLPERF,
    ),
    Published(
        "nRF5340, Cortex-M33, 128 MHz",
        "mps2-an505",
        "mlperf_ad_fc_ae_int8",
        1 / 159.579,
        128_000_000,
        _MLPERF,
    ),
    Published(
        "STM32L4R5, Cortex-M4F, 120 MHz",
        "mps2-an386",
        "mlperf_vww_mobilenet_int8",
        1 / 3.320,
        120_000_000,
        _MLPERF,
    ),
    Published(
        "STM32L4R5, Cortex-M4F, 120 MHz",
        "mps2-an386",
        "mlperf_kws_dscnn_int8",
        1 / 10.019,
        120_000_000,
        _MLPERF,
    ),
    Published(
        "STM32L4R5, Cortex-M4F, 120 MHz",
        "mps2-an386",
        "mlperf_ad_fc_ae_int8",
        1 / 116.212,
        120_000_000,
        _MLPERF,
    ),
)


def compared(rows: Sequence[dict]) -> Iterator[tuple[Published, float, float]]:
    """Yield (figure, published cycles per MAC, estimated ones) for each model that was counted."""
    counted = {(row["target"], model_of(row)): row for row in rows if row.get("cmsis_o3_cycles")}
    for figure in PUBLISHED:
        row = counted.get((figure.target, figure.model))
        if row:
            yield figure, figure.cycles(row["macs"]), row["cmsis_o3_cycles"] / row["macs"]


def model_of(row: dict) -> str:
    """Return the name of a row's model in the collection."""
    parts = row["model"].split("/")
    return parts[-2] if len(parts) > 1 else parts[-1]
