"""Exercises: a function that checks an answer, and tells the reader the result."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

__all__ = ["exercise"]


def exercise(check: Callable[..., object]) -> Callable[..., bool]:
    """Make a function with assertions into the check of an exercise: it prints the result, and returns it.

    While an answer is None, the exercise is open, and the check is not run. A failed assertion is a wrong answer, and its
    message is the hint. Other exceptions go on to the reader.

    >>> from cuscope import course
    >>> @course.exercise
    ... def check(answer):
    ...     assert answer == 42, f"{answer} is not the answer"
    >>> check(None), check(41), check(42)
    Not solved yet: replace None by your answer.
    Not right yet: 41 is not the answer
    Right!
    (False, False, True)
    """

    @functools.wraps(check)
    def checked(*answers: Any) -> bool:
        if any(answer is None for answer in answers):
            print("Not solved yet: replace None by your answer.")
            return False
        try:
            check(*answers)
        except AssertionError as error:
            print(f"Not right yet: {str(error) or 'the result differs from the expected one'}")
            return False
        print("Right!")
        return True

    return checked
