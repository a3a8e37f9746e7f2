"""What the tests of plug-ins share with those of onprompt; they run in its folder."""

from tests.conftest import _no_settings_of_this_machine, settings

__all__ = ["_no_settings_of_this_machine", "settings"]
