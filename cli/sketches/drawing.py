"""Pictures of rectangles and words, as SVG text or as PNG."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from xml.sax.saxutils import escape, quoteattr

from hbc.ir.ground.record import mutable

Colour = tuple[int, int, int]

BLACK: Colour = (0, 0, 0)
WHITE: Colour = (255, 255, 255)
LINE: Colour = (110, 110, 110)
FONT = "DejaVu Sans, Helvetica, Arial, sans-serif"
SHARPNESS = 2  # pixels of a PNG for one unit
HEAD = 8.0  # of an arrow, its length and width


@dataclass(frozen=True, slots=True)
class Box:
    """A filled rectangle; `title` is shown when the mouse rests on it, and `place` names it."""

    x: float
    y: float
    width: float
    height: float
    fill: Colour
    title: str = ""
    place: str = ""
    outline: bool = False


@dataclass(frozen=True, slots=True)
class Words:
    """One line of text, `x` and `y` its middle, or its left end where it is not `centred`."""

    x: float
    y: float
    text: str
    size: float
    colour: Colour = BLACK
    centred: bool = True
    bold: bool = False


@dataclass(frozen=True, slots=True)
class Arrow:
    """To the right, from `x` on at the height `y`. Drawn, for not every font has one."""

    x: float
    y: float
    length: float

    def head(self) -> tuple[tuple[float, float], tuple[float, float], tuple[float, float]]:
        """Its corners, the point first."""
        tip, back = self.x + self.length, self.x + self.length - HEAD
        return (tip, self.y), (back, self.y - HEAD / 2), (back, self.y + HEAD / 2)


@mutable
class Drawing:
    """In units of SVG; what comes later lies on top."""

    width: float = 0.0
    height: float = 0.0
    items: list[Box | Words | Arrow] = field(default_factory=list)


def svg(drawing: Drawing) -> str:
    """The text of an SVG file."""
    size = f"{drawing.width:g} {drawing.height:g}"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" width="{drawing.width:g}"'
        f' height="{drawing.height:g}" font-family="{FONT}">',
        f'<rect width="{drawing.width:g}" height="{drawing.height:g}" fill="#ffffff"/>',
        *map(_element, drawing.items),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _element(item: Box | Words | Arrow) -> str:
    match item:
        case Box():
            return _box(item)
        case Words():
            return _words(item)
        case Arrow():
            (tip, y), *back = item.head()
            corners = " ".join(f"{a:g},{b:g}" for a, b in ((tip, y), *back))
            return (
                f'<path d="M{item.x:g} {y:g}H{tip - HEAD:g}" stroke="{_hex(LINE)}" stroke-width="1.5"/>'
                f'<polygon points="{corners}" fill="{_hex(LINE)}"/>'
            )


def _box(box: Box) -> str:
    place = f" data-place={quoteattr(box.place)}" if box.place else ""
    line = f' stroke="{_hex(LINE)}" stroke-width="0.6"' if box.outline else ""
    fill = "none" if box.outline else _hex(box.fill)
    head = (
        f'<rect x="{box.x:g}" y="{box.y:g}" width="{box.width:g}" height="{box.height:g}"'
        f' fill="{fill}"{line}{place}'
    )
    return f"{head}><title>{escape(box.title)}</title></rect>" if box.title else f"{head}/>"


def _words(words: Words) -> str:
    anchor = ' text-anchor="middle"' if words.centred else ""
    weight = ' font-weight="bold"' if words.bold else ""
    return (
        f'<text x="{words.x:g}" y="{words.y:g}" font-size="{words.size:g}"'
        f' fill="{_hex(words.colour)}" dominant-baseline="central"{anchor}{weight}>'
        f"{escape(words.text)}</text>"
    )


def _hex(colour: Colour) -> str:
    return "#" + "".join(f"{channel:02x}" for channel in colour)


def png(drawing: Drawing) -> bytes:
    """The bytes of a PNG file, two pixels for a unit."""
    from PIL import Image, ImageDraw, ImageFont

    size = (round(drawing.width * SHARPNESS), round(drawing.height * SHARPNESS))
    image = Image.new("RGB", size, WHITE)
    canvas = ImageDraw.Draw(image)
    for item in drawing.items:
        x, y = item.x * SHARPNESS, item.y * SHARPNESS
        if isinstance(item, Arrow):
            head = [(a * SHARPNESS, b * SHARPNESS) for a, b in item.head()]
            canvas.line((x, y, head[0][0] - HEAD, y), fill=LINE, width=3)
            canvas.polygon(head, fill=LINE)
            continue
        if isinstance(item, Words):
            font = ImageFont.load_default(item.size * SHARPNESS)
            anchor = "mm" if item.centred else "lm"
            canvas.text((x, y), item.text, fill=item.colour, font=font, anchor=anchor)
            continue
        corner = (x + item.width * SHARPNESS, y + item.height * SHARPNESS)
        if item.outline:
            canvas.rectangle(((x, y), corner), outline=LINE)
        else:
            canvas.rectangle(((x, y), corner), fill=item.fill)
    written = io.BytesIO()
    image.save(written, "PNG")
    return written.getvalue()
