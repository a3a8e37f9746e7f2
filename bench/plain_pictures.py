"""Pictures for `plain.py`: boards with words, plain shapes, cut-outs on a plain ground, photos turned into drawings."""

import cv2
import numpy as np
from PIL import Image, ImageDraw, ImageFont, ImageOps

SIZE = 640, 480
GROUNDS = ((235, 235, 230), (205, 220, 235), (215, 230, 205), (240, 225, 200))
INKS = {
    "red": (205, 30, 35),
    "blue": (30, 70, 200),
    "green": (30, 145, 55),
    "yellow": (245, 215, 40),
    "black": (25, 25, 25),
    "purple": (125, 40, 150),
    "orange": (245, 130, 20),
}
WHITE, BLACK = (250, 250, 245), (20, 20, 20)
PAINTS = ((WHITE, BLACK), (INKS["red"], WHITE), (INKS["blue"], WHITE), (INKS["yellow"], BLACK), (BLACK, WHITE))
STYLES = ("cartoon", "painting", "pencil")


def read(path):
    return Image.open(path).convert("RGB")


def board(words, background=None, colors=PAINTS[0]):
    """A sign on two posts, on a photo or a plain ground, with or without words."""
    image = read(background) if background else Image.new("RGB", SIZE, (170, 200, 225))
    (width, height), (ground, ink) = image.size, colors
    draw = ImageDraw.Draw(image)
    left, top, right, bottom = (int(part) for part in (width * 0.15, height * 0.2, width * 0.85, height * 0.58))
    for x in (0.25, 0.75):
        post = left + (right - left) * x
        draw.rectangle((post - width * 0.015, bottom, post + width * 0.015, height), fill=(95, 85, 75))
    draw.rectangle((left, top, right, bottom), fill=ground, outline=ink, width=max(3, width // 120))
    if words:
        write(draw, words, (left, top, right, bottom), ink)
    return np.array(image)


def write(draw, words, box, ink):
    """Words centred in a box, as large as they fit."""
    left, top, right, bottom = box
    size = bottom - top
    while size > 8 and draw.textlength(words, ImageFont.load_default(size)) > 0.86 * (right - left):
        size -= 2
    font = ImageFont.load_default(min(size, int(0.6 * (bottom - top))))
    draw.text(((left + right) / 2, (top + bottom) / 2), words, fill=ink, font=font, anchor="mm")


def page(words, ink=BLACK):
    """Words alone on a white page."""
    image = Image.new("RGB", SIZE, "white")
    write(ImageDraw.Draw(image), words, (40, 140, 600, 340), ink)
    return np.array(image)


def shapes(shape, count, colour):
    """So many shapes of one colour, side by side on white."""
    image = Image.new("RGB", SIZE, "white")
    draw, step = ImageDraw.Draw(image), SIZE[0] / count
    radius = min(step * 0.38, 130)
    for place in range(count):
        x, y = step * (place + 0.5), SIZE[1] / 2
        if shape == "circle":
            draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=INKS[colour])
        elif shape == "square":
            draw.rectangle((x - radius, y - radius, x + radius, y + radius), fill=INKS[colour])
        else:
            corners = ((x, y - radius), (x - radius, y + radius * 0.8), (x + radius, y + radius * 0.8))
            draw.polygon(corners, fill=INKS[colour])
    return np.array(image)


def cut_out(path, thing):
    """One object, cut out along its outline, as an image with transparency."""
    photo = read(path)
    mask = Image.new("L", photo.size)
    for outline in thing["segmentation"]:
        ImageDraw.Draw(mask).polygon(list(zip(outline[::2], outline[1::2], strict=True)), fill=255)
    photo.putalpha(mask)
    x, y, width, height = thing["bbox"]
    return photo.crop((int(x), int(y), int(x + width) + 1, int(y + height) + 1))


def placed(parts, ground=0):
    """Cut-outs on a plain ground: ((path, object), (x, y) of the middle, side), all as shares of the picture.

    The box that a cut-out gets is as large as fits into a square of the side; pictures are square, so that shares of
    width and height mean the same.
    """
    side = SIZE[0]
    image = Image.new("RGB", (side, side), GROUNDS[ground])
    for source, (x, y), share in parts:
        piece = cut_out(*source)
        scale = share * side / max(piece.size)
        piece = piece.resize([max(1, round(length * scale)) for length in piece.size], Image.Resampling.LANCZOS)
        image.paste(piece, (int(x * side - piece.width / 2), int(y * side - piece.height / 2)), piece)
    return np.array(image)


def mirrored(path):
    return np.array(ImageOps.mirror(read(path)))


def drawn(path, style):
    """A photo as a drawing: flat colors with dark outlines, brush strokes, or pencil."""
    pixels = np.array(read(path))
    if style == "painting":
        return cv2.stylization(pixels, sigma_s=60, sigma_r=0.45)
    gray = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY)
    if style == "pencil":
        lines = cv2.divide(gray, cv2.GaussianBlur(gray, (0, 0), 8), scale=240)
        return np.repeat(cv2.addWeighted(lines, 0.65, gray, 0.35, 0)[..., None], 3, axis=2)
    lines = cv2.adaptiveThreshold(cv2.medianBlur(gray, 5), 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY, 9, 5)
    flat = cv2.pyrMeanShiftFiltering(pixels, 12, 30) // 40 * 40 + 20
    return cv2.bitwise_and(flat, flat, mask=lines)
