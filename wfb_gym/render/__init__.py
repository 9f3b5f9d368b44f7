"""Renderers: text (`ansi`), image (`picture`), HTML (`html`) and battlefield map (`battlefield`).

`battlefield` and `picture` make plain shapes; `drawing` writes them as SVG or as an image. This
package contains no game rules. Import the modules that you need; each has its own dependencies.
"""
