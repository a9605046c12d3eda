"""Sphinx settings of the site. ``make html`` builds it through tools/make_site.py."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent)]

project = author = "mtrlib"
html_title = "mtrlib"
language = "en"
root_doc = "index"
highlight_language = "none"  # a fence without a language is a shell session or plain text
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "house_docstrings",
    "mathml",
    "notebook_figures",
    "notebook_tables",
    "repository_links",
]
exclude_patterns = ["README.md"]  # the home page includes it
suppress_warnings = [
    "toc.not_included",  # the site's test asks for a way by links instead
    "ref.python",  # two modules have a class of this name, and a signature names one of them
]

# notebooks are shown as committed; `make reproduce` is what runs them
nb_execution_mode = "off"
nb_merge_streams = True
nb_render_markdown_format = "myst"  # with tables, and links between notebooks
nb_ipywidgets_js: dict[str, dict[str, str]] = {}  # the default loads two scripts from elsewhere

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_dmath_allow_space = False  # prices are no formulas
myst_dmath_allow_digits = False
myst_heading_anchors = 4
myst_update_mathjax = False
html_math_renderer = "mathml"

add_module_names = False
autodoc_member_order = "bysource"
autodoc_use_type_comments = False  # there are none, and looking for them takes seconds
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 140  # counted with the full names of types
napoleon_google_docstring = False
napoleon_use_param = False
napoleon_use_rtype = False
napoleon_custom_sections = [("Fields", "params_style")]  # of house_docstrings

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/favicon.svg"
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
html_show_search_summary = False  # it fetches pages, which a browser forbids in a folder
html_show_sphinx = False
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
# the palette of the figures
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#005a8e",
        "color-brand-content": "#005a8e",
    },
    "dark_css_variables": {
        "color-brand-primary": "#56b4e9",
        "color-brand-content": "#56b4e9",
    },
}
