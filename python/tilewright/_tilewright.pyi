from typing import Any, final

__all__ = ["Built", "DeviceMemory", "Program", "Search", "copy", "device_of", "dlpack", "ending", "main", "record", "recorded", "shipped", "version"]

@final
class Program:
    name: str
    description: str
    indices: list[str]
    fields: list[tuple[str, str, int, int]]
    series: list[tuple[str, str, int]]
    parameters: list[tuple[str, float]]
    fixed_boundary: bool
    is_periodic: bool
    is_c: bool
    text: str
    @staticmethod
    def load(spec: str, element: str | None = None) -> Program: ...
    @staticmethod
    def parse(
        name: str,
        text: str,
        element: str | None = None,
        source: str | None = None,
        origins: list[tuple[int, int, int, int]] = ...,
    ) -> Program: ...
    def padded(self, size: list[int]) -> tuple[list[int], int]: ...
    def build(self, request: Any) -> Built: ...

@final
class Built:
    strategy: str | None
    tile: str | None
    notes: list[str]
    compiler: str | None
    in_place: bool
    def run(
        self,
        levels: list[Any],
        series: list[Any],
        size: list[int],
        outer_strides: list[int],
        steps: int,
        parameters: list[float],
        threads: int | None,
    ) -> None: ...

    def run_on_device(
        self, arrays: Any, size: list[int], steps: int, parameters: list[float], streams: list[int]
    ) -> None: ...

@final
class DeviceMemory:
    address: int
    def __new__(cls, device: int, bytes: int) -> DeviceMemory: ...
    @staticmethod
    def holding(device: int, values: bytes) -> DeviceMemory: ...

@final
class Search:
    def __new__(
        cls,
        space: list[tuple[str, list[Any]]],
        constraints: list[str],
        metric: str,
        method: str,
        budget: int,
        seconds: float | None,
        seed: int,
    ) -> Search: ...
    def next(self) -> dict[str, Any] | None: ...
    def tell(self, status: str, metrics: dict[str, float], message: str) -> None: ...
    def result(self) -> tuple[list[tuple[dict[str, Any], str, dict[str, float], str]], int | None]: ...

def copy(to: Any, from_: Any, threads: int | None, /) -> bool: ...
def device_of(address: int) -> int | None: ...
def dlpack(capsule: Any) -> tuple[int, int, int, int, int, list[int], list[int] | None, bool]: ...
def ending() -> None: ...
def record(
    path: str,
    format: str,
    trials: list[tuple[dict[str, Any], str, dict[str, float], str]],
    metric: str,
    kernel: str,
    device: str,
) -> None: ...
def recorded(
    path: str, metric: str | None
) -> tuple[str, str, str, list[tuple[dict[str, Any], str, dict[str, float], str]]]: ...
def main(arguments: list[str]) -> int: ...
def shipped() -> list[str]: ...
def version() -> str: ...
