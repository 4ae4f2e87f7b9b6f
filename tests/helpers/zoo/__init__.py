"""Programs that behave badly, one a file: `python FILE DEN [WORD…]`. They need nothing but the standard library.

DEN is a folder of the animal's own: it tells there that it is `ready`, and every process of it carries that path in its
command line, so that a test can find what is left of it without asking Actum.
"""
