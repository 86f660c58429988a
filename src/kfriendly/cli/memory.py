"""How much memory there is, asked before it is needed."""

import os
from pathlib import Path

from kfriendly.cli.exits import Code, Refused

# A table takes about so many times its file while it is turned into numbers.
_UNPACKED = {".csv": 3, ".tsv": 3, ".gz": 12, ".parquet": 6, ".feather": 3, ".npz": 4}


def free_bytes() -> int | None:
    """Return the memory that is free, or None if the system does not tell."""
    free = []
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        free.append(
            1024 * next(int(x.split()[1]) for x in lines if "MemAvailable" in x)
        )
    except (OSError, StopIteration, ValueError):
        pass
    free += _limit_of_process()
    return min(free, default=None)


def refuse_too_large(n_bytes: int, what: str) -> None:
    """Refuse work that will not fit, before it is begun."""
    free = free_bytes()
    if free is None or n_bytes <= free:
        return
    raise Refused(
        Code.RESOURCES,
        f"{what} takes about {in_bytes(n_bytes)} of memory.",
        f"This machine has {in_bytes(free)} free.",
        "Cluster a part of the rows, and give the others to it with "
        "`kfriendly predict`, which reads them in parts.",
    )


def refuse_large_file(spec: str) -> None:
    """Refuse a file that will not fit into memory."""
    path = Path(spec)
    if path.is_file():
        times = _UNPACKED.get(path.suffix.lower(), 1)
        refuse_too_large(times * path.stat().st_size, f"Reading {spec}")
    elif path.is_dir():
        parts = list(path.rglob("*.parquet"))
        size = sum(part.stat().st_size for part in parts)
        refuse_too_large(_UNPACKED[".parquet"] * size, f"Reading {spec}")


def in_bytes(n_bytes: float) -> str:
    """Say a size as one would.

    Examples
    --------
    >>> in_bytes(1_500_000), in_bytes(2.34e9)
    ('2 MB', '2.3 GB')
    """
    return f"{n_bytes / 1e9:.1f} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:.0f} MB"


def _limit_of_process() -> list[int]:
    """Return what `ulimit -v` leaves, if it was set."""
    if os.name == "nt":
        return []
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    if soft == resource.RLIM_INFINITY:
        return []
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except (OSError, ValueError):
        pages = 0
    return [max(0, soft - pages * resource.getpagesize())]
