"""Profiles of kernels: `Kernel.profile()` counts, and the modules here explain and draw. docs/profiling.md shows them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._public import show_as_public
from .profile import Profile, ProfilePicture
from .records import ProfiledAccess, ProfiledLine, ProfileFinding

__all__ = [
    "Profile",
    "ProfileFinding",
    "ProfilePicture",
    "ProfiledAccess",
    "ProfiledLine",
    "profile_elsewhere",
    "profile_of",
]

show_as_public(Profile, ProfileFinding, ProfilePicture, ProfiledAccess, ProfiledLine)


def profile_of(facts: Mapping[str, Any]) -> Profile:
    """Called by the extension, with the rows of a launch."""
    return Profile(facts)


def profile_elsewhere(*arguments: Any) -> Profile:
    """Called by the extension for kernels of a GPU."""
    from .elsewhere import profile

    return profile(*arguments)
