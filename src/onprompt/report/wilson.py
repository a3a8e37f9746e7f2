"""How sure a share is."""

from __future__ import annotations

import math

Z = 1.959964  # of a standard normal, for 95 %


def wilson(part: int, of: int) -> tuple[float, float]:
    """Wilson's 95 % interval for a share: it keeps its width where all, or none, of a few count."""
    share, spread = part / of, Z * Z / of
    middle = share + spread / 2
    half = Z * math.sqrt((share * (1 - share) + spread / 4) / of)
    return max(0.0, (middle - half) / (1 + spread)), min(1.0, (middle + half) / (1 + spread))
