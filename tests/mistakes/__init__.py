"""Recordings with a mistake in them, one at a time: made by physics in MuJoCo where physics can make it, else by
editing what was recorded. `corpus.py` lists them, `judgement.py` says what iparam makes of each. The tests here run a
part of them; `benchmarks/bench_mistakes.py` runs them all and prints the table.
"""
