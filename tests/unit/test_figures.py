"""House rules of the figures: palette, alternative text, characters without a font."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import matplotlib
import pandas as pd
import pytest
import yaml
from matplotlib import colors
from matplotlib import pyplot as plt
from PIL import Image

from mtrlib import profiles
from mtrlib.reporting import glyphs, plots, results

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted((ROOT / "mtrlib" / "reporting").glob("*plots.py"))
COLORMAPS = {"cividis", "RdBu"}  # one for scores, one for signed differences
NAMES = {"white", "black", "grey", "lightgrey"}
COLUMNS = {"gold"}  # a colour to matplotlib, a column to us


@pytest.fixture(autouse=True)
def _own_settings():
    with matplotlib.rc_context({"backend": "agg"}):
        yield
    plt.close("all")


def grey(color: str) -> bool:
    red, green, blue = colors.to_rgb(color)
    return red == green == blue


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_a_plot_uses_the_palette_greys_and_two_colour_maps(path):
    tree = ast.parse(path.read_text("utf-8"))
    texts = {n.value for n in ast.walk(tree) if isinstance(n, ast.Constant)}
    for text in {t for t in texts if isinstance(t, str)} - COLUMNS:
        if text in colors.CSS4_COLORS:
            assert text in NAMES, text
        elif re.fullmatch(r"#[0-9A-Fa-f]{3,8}|C\d|tab:\w+|xkcd:.+", text):
            assert text in plots.PALETTE or grey(text), text
        elif text in matplotlib.colormaps:
            assert text in COLORMAPS, text


def test_the_palette_gets_lighter_so_that_its_order_reads_in_grey():
    def luminance(color: str) -> float:
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
                  for c in colors.to_rgb(color)]  # fmt: skip
        return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    values = [luminance(color) for color in plots.PALETTE]
    assert values == sorted(values)
    assert len(plots.MARKERS) == len(set(plots.MARKERS)) == len(plots.PALETTE)
    assert len(set(plots.DASHES)) == len(plots.DASHES) == 4


def alternative_texts() -> dict[str, str]:
    return yaml.safe_load((ROOT / "figures" / "alt.yaml").read_text("utf-8"))


def test_every_figure_has_an_alternative_text_and_none_is_stale():
    drawn = {p.stem for p in (ROOT / "figures").glob("*.png")}
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        cells = json.loads(path.read_text("utf-8"))["cells"]
        source = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "code")
        drawn |= set(re.findall(r'save_figure\("(\w+)"', source))
    assert set(alternative_texts()) == drawn


@pytest.mark.parametrize(("name", "text"), alternative_texts().items())
def test_an_alternative_text_is_short_and_holds_no_result(name, text):
    assert text.endswith(".") and 60 < len(text) < 330, name
    assert not re.search(r"\d\.\d|\d ?%|n = \d", text), name


def chinese() -> tuple[plt.Figure, plt.Axes]:
    plots.house_style()
    figure, axes = plt.subplots()
    axes.barh(["检索", "b"], [1, 2], label="召回率 Δ")
    axes.set_xticks([0, 1], ["无", "有"])
    axes.set_title("查询改写")
    axes.legend()
    return figure, axes


def texts(figure: plt.Figure) -> str:
    figure.canvas.draw()  # formatters write the tick labels again here
    return " ".join(t.get_text() for t in figure.findobj(matplotlib.text.Text))


def test_characters_without_a_font_become_escapes_with_a_note(monkeypatch):
    monkeypatch.setattr(plots, "CJK_FONTS", ())
    figure, axes = chinese()
    assert glyphs.spell_out(figure)
    shown = texts(figure)
    assert glyphs.NOTE in shown
    assert {"\\u68c0\\u7d22", "b"} <= {t.get_text() for t in axes.get_yticklabels()}
    assert {"\\u65e0", "\\u6709"} <= {t.get_text() for t in axes.get_xticklabels()}
    assert axes.get_title() == "\\u67e5\\u8be2\\u6539\\u5199"
    assert "\\u53ec\\u56de\\u7387 Δ" in shown  # what the font has stays
    assert not re.search("[\u2e80-\ud7ff]", shown)


def test_a_figure_that_the_fonts_can_draw_is_left_alone(tmp_path):
    plots.house_style()
    figure, axes = plt.subplots()
    axes.bar(["bm25", "naïve"], [1, 2])
    axes.set_title("ΔRecall – (%)")
    before = texts(figure)
    assert not glyphs.spell_out(figure)
    assert texts(figure) == before


def test_an_installed_font_of_the_list_draws_the_characters(monkeypatch):
    every = "Last Resort High-Efficiency"  # of matplotlib itself: a mark for every character
    monkeypatch.setattr(plots, "CJK_FONTS", (*plots.CJK_FONTS, every))
    plots.house_style()
    if len(matplotlib.rcParams["font.family"]) == 1:
        pytest.skip("neither a CJK font nor matplotlib's last resort is here")
    figure, _ = chinese()
    assert not glyphs.spell_out(figure)


def test_saving_a_figure_spells_out_first(monkeypatch, tmp_path):
    monkeypatch.setenv("MTR_BUILD", str(tmp_path))
    monkeypatch.setattr(plots, "CJK_FONTS", ())
    figure, axes = chinese()
    points = pd.DataFrame({"name": ["检索"], "y": [1]})
    results.save_figure("fig_cjk", figure, points, profiles.load("smoke"))
    assert axes.get_title().isascii()
    (png,) = tmp_path.rglob("fig_cjk.png")
    assert Image.open(png).size[0] > 100
    (csv,) = tmp_path.rglob("fig_cjk.csv")
    assert "检索" in csv.read_text("utf-8")
