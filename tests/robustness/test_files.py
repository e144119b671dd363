"""Files of a cluster: no links are followed, no strangers believed, no strangers killed."""

import os
import stat
import subprocess
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from kohort.apiserver.host.identity import DamagedIdentity, keep_identity
from kohort.apiserver.host.kubeconfig import ForeignFile, Kubeconfig
from kohort.cli.exits import Failure
from kohort.cli.state import State, check_owner, hold_lock


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KOHORT_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_folders_are_their_owners_whatever_the_mask(home: Path):
    mask = os.umask(0)
    try:
        State("a").make_folder()
    finally:
        os.umask(mask)
    for folder in (home, home / "a"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_folder_that_is_a_link_or_open_to_others_is_refused(tmp_path: Path):
    (tmp_path / "link").symlink_to(tmp_path)
    with pytest.raises(Failure, match="is a link"):
        check_owner(tmp_path / "link", "choose another")
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    with pytest.raises(Failure, match="can be written by others"):
        check_owner(tmp_path / "open", "choose another")


def test_a_pid_file_that_is_a_link_is_not_followed(tmp_path: Path):
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (tmp_path / "pid").symlink_to(victim)
    with pytest.raises(OSError, match="symbolic"), hold_lock(tmp_path / "pid", "taken"):
        pass
    assert victim.read_text() == "precious"


@pytest.mark.parametrize("text", ["-123", "0", "1", "²", "x", "9" * 5_000])
def test_a_pid_that_is_no_process_of_ours_is_never_signalled(home: Path, text):
    state = State("a")
    state.make_folder()
    with hold_lock(state.pid_file, "taken"):
        state.pid_file.write_text(text)
        with pytest.raises(Failure, match="does not name a cluster of yours"):
            state.find_pid()


def test_a_process_that_has_gone_is_waited_for_until_its_lock_is_free(
    home: Path, monkeypatch: pytest.MonkeyPatch
):
    ended = subprocess.Popen(["true"])
    ended.wait()
    state = State("a")
    state.make_folder()
    with ExitStack() as held:
        held.enter_context(hold_lock(state.pid_file, "taken"))
        state.pid_file.write_text(str(ended.pid))
        monkeypatch.setattr(time, "sleep", lambda _: held.close())
        assert state.find_pid() is None


@pytest.mark.parametrize("mode", [0o644, 0o660])
def test_an_identity_that_others_can_read_is_refused(tmp_path: Path, mode):
    keep_identity(tmp_path)
    (tmp_path / "identity.json").chmod(mode)
    with pytest.raises(DamagedIdentity, match="no other user can read"):
        keep_identity(tmp_path)


def test_an_identity_that_is_a_link_is_refused(tmp_path: Path):
    keep_identity(tmp_path)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "identity.json").symlink_to(tmp_path / "identity.json")
    with pytest.raises(DamagedIdentity):
        keep_identity(tmp_path / "other")


def test_a_kubeconfig_that_is_a_link_is_left_alone(tmp_path: Path):
    (tmp_path / "file").write_text("")
    (tmp_path / "stdout").symlink_to(tmp_path / "file")
    kubeconfig = Kubeconfig(tmp_path / "stdout", "a")
    with pytest.raises(ForeignFile, match="is a link"):
        kubeconfig.check()
    kubeconfig.remove()
    assert (tmp_path / "stdout").is_symlink()
