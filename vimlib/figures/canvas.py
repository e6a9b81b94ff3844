"""One look for every picture: colours with a meaning, SVG that is the same byte for byte.

Matplotlib is used as a drawing board and not as a chart library: its defaults would give a
picture that looks like everybody's, cannot follow a page from light to dark, and shrinks to
unreadable type on a phone. So a picture is painted twice in pixels, wide and narrow, and the
page shows the one that fits; text stays text in the page's own font; each colour is written
as a CSS variable with the light value as fallback, so that the same file works in JupyterLab.

Names and messages that come from answers and sources are untrusted: `plain` makes them one
harmless line, matplotlib and `html.escape` make them markup-safe, and mathtext is off, since
a model name may hold dollar signs.
"""

from __future__ import annotations

import html
import io
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

import matplotlib
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Polygon, Rectangle

INK: Final = "#1a1f24"
MUTED: Final = "#59626b"
FAINT: Final = "#8a929a"
LINE: Final = "#dcdfe3"
PAPER: Final = "#fdfcfa"
BAND: Final = "#f3f2ee"
MODEL: Final = "#0072b2"
MODEL_SOFT: Final = "#a9cfe5"
SOLVER: Final = "#6a6f76"
SOLVER_SOFT: Final = "#cfd2d6"
ORANGE: Final = "#e69f00"
VERMILION: Final = "#d55e00"
GREEN: Final = "#009e73"
SKY: Final = "#56b4e9"
PURPLE: Final = "#cc79a7"
GREY: Final = "#b4b9bf"

VARIABLES: Final[dict[str, str]] = {
    INK: "--ink",
    MUTED: "--muted",
    FAINT: "--faint",
    LINE: "--line",
    PAPER: "--paper",
    BAND: "--band",
    MODEL: "--model",
    MODEL_SOFT: "--model-soft",
    SOLVER: "--solver",
    SOLVER_SOFT: "--solver-soft",
    ORANGE: "--orange",
    VERMILION: "--vermilion",
    GREEN: "--green",
    SKY: "--sky",
    PURPLE: "--purple",
    GREY: "--grey",
}
"""The CSS variable behind each colour. The hues are Okabe and Ito's, which people with the common
kinds of colour blindness tell apart (https://jfly.uni-koeln.de/color/); a style sheet may redefine them."""

WIDE: Final = 760.0
"""Width in CSS pixels of the picture for a desk."""
NARROW: Final = 348.0
"""Width in CSS pixels of the picture for a phone."""

Anchor = Literal["start", "middle", "end"]
_ALIGN: Final[dict[Anchor, str]] = {"start": "left", "middle": "center", "end": "right"}


def plain(text: object, limit: int = 80) -> str:
    """One line of visible characters, at most `limit` long, of whatever an outsider wrote.

    Control, bidirectional and other format characters, which could reorder or hide what stands
    beside them, become U+FFFD; runs of white space become one space; a longer text loses its middle,
    because names of models differ at both ends.
    """
    line = " ".join(str(text).split())
    line = "".join("\ufffd" if unicodedata.category(c) in {"Cc", "Cf", "Cs", "Co"} else c for c in line)
    if len(line) <= limit:
        return line
    head = (limit - 1 + 1) // 2
    return line[:head] + "…" + line[len(line) - (limit - 1 - head) :]


def text_width(text: str, size: float) -> float:
    """Estimated width in pixels of a line in a common sans-serif face, on the generous side."""
    narrow = sum(c in "iljtfrI.,:;'|!()[] -" for c in text)
    broad = sum(c in "mwMW@%…" or unicodedata.east_asian_width(c) in "WF" for c in text)
    return size * (0.57 * (len(text) - narrow - broad) + 0.34 * narrow + 0.95 * broad)


def fitted(text: str, size: float, width: float) -> str:
    """`text` as `plain` cuts it, short enough for `width` pixels at `size`."""
    limit = len(text)
    while limit > 4 and text_width(plain(text, limit), size) > width:
        limit -= 1
    return plain(text, limit)


class Sheet:
    """A sheet of pixels to draw on: origin at the top left, y downwards, nothing else prescribed."""

    def __init__(self, width: float, height: float) -> None:
        self.width = width
        self.height = height
        self.narrow = width < 500
        self._figure = Figure(figsize=(width / 72, height / 72), dpi=72)
        FigureCanvasSVG(self._figure)
        self._figure.patch.set_visible(False)
        axes = self._figure.add_axes((0, 0, 1, 1))
        axes.set_xlim(0, width)
        axes.set_ylim(height, 0)
        axes.set_axis_off()
        axes.patch.set_visible(False)
        self._axes = axes
        self._order = 0

    def _z(self) -> int:
        self._order += 1
        return self._order

    def line(
        self,
        x1: float,
        y1: float,
        x2: float,
        y2: float,
        *,
        colour: str = LINE,
        width: float = 1,
        dash: bool = False,
    ) -> None:
        self._axes.plot(
            [x1, x2],
            [y1, y2],
            color=colour,
            linewidth=width,
            linestyle=(0, (2, 3)) if dash else "-",
            solid_capstyle="round",
            clip_on=False,
            zorder=self._z(),
        )

    def box(self, x: float, y: float, width: float, height: float, *, colour: str) -> None:
        self._axes.add_patch(
            Rectangle(
                (x, y), width, height, facecolor=colour, edgecolor="none", clip_on=False, zorder=self._z()
            )
        )

    def dot(self, x: float, y: float, radius: float, *, fill: str, edge: str, width: float = 1.6) -> None:
        self._axes.add_patch(
            Circle(
                (x, y),
                radius,
                facecolor=fill,
                edgecolor=edge,
                linewidth=width,
                clip_on=False,
                zorder=self._z(),
            )
        )

    def diamond(self, x: float, y: float, radius: float, *, fill: str, edge: str, width: float = 1.6) -> None:
        corners = [(x, y - radius), (x + radius, y), (x, y + radius), (x - radius, y)]
        self._axes.add_patch(
            Polygon(corners, facecolor=fill, edgecolor=edge, linewidth=width, clip_on=False, zorder=self._z())
        )

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        size: float = 13,
        colour: str = INK,
        anchor: Anchor = "start",
        bold: bool = False,
    ) -> None:
        """Write one line; `y` is its base line."""
        self._axes.text(
            x,
            y,
            text,
            fontsize=size,
            color=colour,
            ha=_ALIGN[anchor],
            va="baseline",
            fontweight="bold" if bold else "normal",
            clip_on=False,
            parse_math=False,
            zorder=self._z(),
        )

    def svg(self, name: str) -> str:
        """The drawing as an `<svg>` element: no ids, no date, no font, colours as variables."""
        buffer = io.StringIO()
        rules: dict[Any, Any] = {
            "svg.hashsalt": name,
            "svg.fonttype": "none",
            "text.usetex": False,
            "font.family": "sans-serif",
        }
        with matplotlib.rc_context(rules):
            self._figure.savefig(
                buffer, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None}
            )
        return _tidy(buffer.getvalue(), self.width, self.height)


def _tidy(svg: str, width: float, height: float) -> str:
    """What matplotlib wrote, as a fragment for a page. Only its own markup is touched, never a text node."""
    body = svg[svg.index("<svg") :]
    body = body[body.index(">") + 1 : body.rindex("</svg>")]
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.S)
    body = re.sub(r"<defs>\s*<style[^>]*>.*?</style>\s*</defs>", "", body, flags=re.S)
    body = re.sub(r"<!--.*?-->", "", body, flags=re.S)

    def tag(match: re.Match[str]) -> str:
        text = re.sub(r'\sid="[a-z0-9]+_\d+"', "", match.group(0))
        text = re.sub(r"font: (?:(\d+|bold) )?([\d.]+)px [^;\"]*", _font, text)
        text = re.sub(r" ?font-family:[^;\"]*;?", "", text)
        text = re.sub(r' transform="rotate\(-0 [^"]*\)"', "", text)
        return re.sub(r"#[0-9a-f]{6}", lambda m: _variable(m.group(0)), text)

    body = re.sub(r"<[a-z][^<>]*>", tag, body)
    body = re.sub(r"<g>\s*</g>", "", body)
    body = re.sub(r"\n\s*", "\n", body).strip()
    return (
        f'<svg viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}" '
        f'style="max-width:100%;height:auto" aria-hidden="true" focusable="false" '
        f'font-family="sans-serif">\n{body}\n</svg>'
    )


def _font(match: re.Match[str]) -> str:
    weight = f"font-weight: {match.group(1)}; " if match.group(1) not in (None, "400") else ""
    return f"{weight}font-size: {match.group(2)}px"


def _variable(colour: str) -> str:
    name = VARIABLES.get(colour)
    return f"var({name}, {colour})" if name else colour


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure with everything a reader needs, shown by JupyterLab and by the report alike."""

    name: str
    """Slug, unique on its page: the anchor `#fig-<name>`."""
    title: str
    """The finding, as a sentence."""
    subtitle: str
    """What is drawn: quantity, unit, interval, n."""
    alt: str
    """The picture in words, for those who do not see it."""
    wide: str
    """SVG for a desk."""
    narrow: str
    """SVG for a phone."""
    note: str = ""
    """A caveat below the picture; '' for none."""

    def _repr_html_(self) -> str:
        anchor = f"fig-{html.escape(self.name, quote=True)}"
        note = f'<p class="fig-note">{html.escape(self.note)}</p>' if self.note else ""
        return (
            f'<figure class="fig" id="{anchor}" aria-labelledby="{anchor}-t">'
            f'<figcaption><p class="fig-title" id="{anchor}-t">{html.escape(self.title)}</p>'
            f'<p class="fig-sub">{html.escape(self.subtitle)}</p></figcaption>'
            f'<div role="img" aria-label="{html.escape(self.alt, quote=True)}">'
            f'<div class="fig-wide">{self.wide}</div><div class="fig-narrow" hidden>{self.narrow}</div></div>'
            f"{note}</figure>"
        )


def picture(
    name: str,
    paint: Callable[[float], Sheet],
    *,
    title: str,
    subtitle: str,
    alt: str,
    note: str = "",
) -> Picture:
    """Paint for desk and phone (`paint` is given the width in pixels) and put words to it."""
    return Picture(
        name=name,
        title=title,
        subtitle=subtitle,
        alt=alt,
        wide=paint(WIDE).svg(f"{name}-wide"),
        narrow=paint(NARROW).svg(f"{name}-narrow"),
        note=note,
    )
