"""How long a server asks clients to wait, by the headers of its responses."""

import datetime
import email.utils
import re
import time
from collections.abc import Mapping

UNIT_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
EPOCH = 1e9  # from here on a number is a Unix time, unless that was long ago
LONG_AGO = 86400.0


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait after an error, if the server says."""
    if milliseconds := headers.get("retry-after-ms"):
        return seconds_until(f"{milliseconds}ms")
    return seconds_until(headers.get("retry-after", ""))


def exhausted_for(headers: Mapping[str, str]) -> float:
    """Seconds until the rate limit resets, if a successful response used up the last of it."""
    waits = [0.0]
    for name, remaining in headers.items():
        if "ratelimit" in name and "remaining" in name and remaining.strip() == "0":
            waits.append(seconds_until(headers.get(name.replace("remaining", "reset"), "")) or 0.0)
    return max(waits)


def seconds_until(value: str) -> float | None:
    """Seconds from now: `12`, `1.5s`, `6m0s`, `20ms`, a Unix time, an HTTP date or ISO 8601; else None."""
    value = value.strip()
    if re.fullmatch(r"\d{1,18}(\.\d+)?", value):
        number = float(value)
        if number < EPOCH:
            return number
        wait = (number / 1000 if number > 1000 * EPOCH else number) - time.time()
        return max(0.0, wait) if wait > -LONG_AGO else number
    if re.fullmatch(r"(\d+(\.\d+)?(ms|s|m|h))+", value):
        return sum(float(number) * UNIT_SECONDS[unit] for number, unit in re.findall(r"([\d.]+)(ms|s|m|h)", value))
    for parse in (email.utils.parsedate_to_datetime, datetime.datetime.fromisoformat):
        try:
            moment = parse(value)
        except (TypeError, ValueError):
            continue
        moment = moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)
        return max(0.0, moment.timestamp() - time.time())
    return None
