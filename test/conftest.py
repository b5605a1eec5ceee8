"""What every Python suite shares: the library on the path, one control plane a session."""

import os
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
sys.path.insert(0, os.path.join(HERE, "fake"))

import controlplane  # noqa: E402


@pytest.fixture(scope="session")
def cp():
    """A real control plane; it goes with the session, even where that is killed."""
    with controlplane.ControlPlane.up(with_parent=os.getpid(), audited=True) as plane:
        yield plane


@pytest.fixture(scope="session")
def api(cp):  # pylint: disable=redefined-outer-name
    """The admin's client."""
    return cp.admin
