"""Controllers and commands as the tests of the bridges start them."""

from bridges.conftest import command_server as command_server
from bridges.conftest import start_twin as start_twin
from bridges.conftest import start_twin_process as start_twin_process
