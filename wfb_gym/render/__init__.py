"""Renderers: text (`ansi`), images (`picture`), HTML (`html`) and battlefield maps (`battlefield`).

`battlefield` and `picture` produce plain shapes, which `drawing` writes as SVG or as an image. This
package contains no game rules. Import the modules that you need; each has its own dependencies.
"""
