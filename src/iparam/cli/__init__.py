"""The command `iparam`: one module a group of commands, listed in `iparam.cli.command_table`."""
