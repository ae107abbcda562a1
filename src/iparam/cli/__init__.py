"""The command `iparam`: a module or a folder a group of commands, listed in `iparam.cli.command_table`."""
