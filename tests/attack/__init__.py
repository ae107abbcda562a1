"""The attack on iparam that stays: every command and every file format with input that somebody would regret.

`rule.py` says what every run must keep. `warm_pool.py` runs commands in child processes with bounded resources.
`command_lines.py` and `sample_files.py` are what is attacked, `bad_files.py`, `mutations.py` and `connections.py` what
it is attacked with. The tests go through all of it with fixed seeds; ``make fuzz MINUTES=n`` goes on with new ones.
"""
