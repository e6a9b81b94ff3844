"""One URL, its bytes, or one line that says why not.

What comes over a network is often not what was asked for: a proxy's page, an error's page, half a
file. Nobody downstream should meet any of it, so a download is whole and no HTML, or it is an error.
It is bounded in time and size, and asked for once: who starts a fetch can start it again. Nothing is
kept here and nothing is understood of what was loaded.
"""

from __future__ import annotations

import http.client
import ssl
import time
import urllib.error
import urllib.request
from urllib.parse import urlsplit

import vimlib
from vimlib.suites.content import SuiteError

SIZE_LIMIT = 64_000_000
"""Bytes of one file: a hundred times what the largest suite has."""
WAIT_SECONDS = 30.0
"""For a connection, and for each next piece of the answer."""
WHOLE_SECONDS = 300.0
"""For the whole file."""


class FetchError(SuiteError):
    """Something could not be fetched; the subclasses say why. The cache is as it was."""

    exit_code = 4


class Unreachable(FetchError):
    """No network, no such host, no answer, or one that never ends."""


class NotThere(FetchError):
    """The server says that there is no such thing (404)."""


class Refused(FetchError):
    """The server answers with another error."""


class HtmlInstead(FetchError):
    """An HTML page came instead of data: a proxy's, a login's, or an error's that does not say so."""


class Truncated(FetchError):
    """The answer ended before it was whole."""


class TooLarge(FetchError):
    """The answer is larger than anything that can be meant."""


class BadUrl(FetchError):
    """No URL that can be fetched."""

    exit_code = 2


ADVICE = "check network and proxy, or use what is in the cache (--offline)"


def download(url: str) -> bytes:
    """All bytes of the answer to one GET, redirections followed; proxies as the environment says.

    Raises a `FetchError`.
    """
    if urlsplit(url).scheme not in {"http", "https"}:
        raise BadUrl(f"{url}: not a URL to fetch from; expected https://…")
    request = urllib.request.Request(url, headers={"User-Agent": f"vimlib/{vimlib.__version__}"})
    try:
        with urllib.request.urlopen(request, timeout=WAIT_SECONDS) as response:
            body = _body(url, response)
            kind = response.headers.get_content_type()
    except urllib.error.HTTPError as error:
        error.close()
        raise status_error(url, error.code) from error
    except urllib.error.URLError as error:
        raise Unreachable(f"{url}: cannot be reached ({_why(error.reason)}); {ADVICE}") from error
    except http.client.IncompleteRead as error:
        raise Truncated(f"{url}: ended too early; expected more. Fetch again") from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise Unreachable(f"{url}: cannot be read ({_why(error)}); {ADVICE}") from error
    refuse_html(url, body, kind)
    return body


def _body(url: str, response: http.client.HTTPResponse) -> bytes:
    expected = response.headers.get("Content-Length")
    deadline = time.monotonic() + WHOLE_SECONDS
    pieces: list[bytes] = []
    size = 0
    # By pieces, so that neither an endless answer nor a slow one holds us.
    while piece := response.read(1 << 16):
        pieces.append(piece)
        size += len(piece)
        if size > SIZE_LIMIT:
            raise TooLarge(f"{url}: more than {SIZE_LIMIT:,} bytes; expected the file of a suite")
        if time.monotonic() > deadline:
            raise Unreachable(
                f"{url}: not whole after {WHOLE_SECONDS:.0f} s ({size:,} bytes came); fetch again"
            )
    if expected is not None and expected.isdigit() and size != int(expected):
        raise Truncated(f"{url}: ended after {size:,} of {int(expected):,} bytes; fetch again")
    return b"".join(pieces)


def refuse_html(url: str, body: bytes, kind: str = "") -> None:
    """Raises `HtmlInstead` where a body is a page for people."""
    begin = body[:256].removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if begin.startswith((b"<!doctype html", b"<html")) or kind == "text/html":
        raise HtmlInstead(
            f"{url}: an HTML page came instead of data; expected the file itself. Look at it in a browser: "
            "a proxy or a login may stand before it, or it is not there"
        )


def status_error(url: str, status: int) -> FetchError:
    """The error that an HTTP status means."""
    if status in (404, 410):
        return NotThere(f"{url}: not there (HTTP {status}); expected it at this address")
    name = http.client.responses.get(status, "")
    return Refused(f"{url}: the server answered HTTP {status} {name}".rstrip() + f"; {ADVICE}")


def _why(reason: object) -> str:
    if isinstance(reason, TimeoutError):
        return f"no answer within {WAIT_SECONDS:.0f} s"
    if isinstance(reason, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted: {reason.verify_message}"
    if isinstance(reason, OSError) and reason.strerror:
        return reason.strerror
    return " ".join(str(reason).split()) or type(reason).__name__
