"""When a status may be written: once a second, and at once when it begins to say ready."""

from kohort.cluster.objects import Kind
from kohort.cluster.port import Address
from kohort.controller.status_writer import WriteTimes

THING = Address(Kind("example.com", "v1", "Thing", "things"), "lab", "one", "status")


def may_write(times: WriteTimes, elapsed: float, *, is_ready: bool) -> bool:
    if times.find_wait(THING, elapsed, is_ready=is_ready) > 0:
        return False
    times.note(THING, elapsed, is_ready=is_ready)
    return True


def test_a_status_that_keeps_changing_is_written_once_a_second():
    times = WriteTimes()
    written = [tick for tick in range(30) if may_write(times, tick / 10, is_ready=False)]
    assert written == [0, 10, 20]


def test_one_of_which_ever_more_is_ready_is_written_every_five_seconds_until_all_is():
    times, written = WriteTimes(), []
    for tick in range(120):
        if times.find_wait(THING, tick / 10, is_ready=False, is_partial=True) <= 0:
            times.note(THING, tick / 10, is_ready=False)
            written.append(tick)
    assert written == [0, 50, 100]
    assert may_write(times, 12.0, is_ready=False)


def test_the_first_status_that_says_ready_does_not_wait():
    times = WriteTimes()
    assert may_write(times, 10.0, is_ready=False)
    assert may_write(times, 10.1, is_ready=True)


def test_one_that_says_ready_again_waits():
    times = WriteTimes()
    assert may_write(times, 10.0, is_ready=True)
    assert not may_write(times, 10.5, is_ready=True)
    assert may_write(times, 11.0, is_ready=True)


def test_an_object_that_flaps_is_written_three_times_in_two_seconds_at_most():
    times = WriteTimes()
    written = [tick for tick in range(100) if may_write(times, tick / 10, is_ready=tick % 2 == 1)]
    assert 10 <= len(written) <= 15


def test_of_an_object_that_flaps_one_status_in_two_seconds_does_not_wait():
    times = WriteTimes()
    assert may_write(times, 10.0, is_ready=False)
    assert may_write(times, 10.1, is_ready=True)
    assert may_write(times, 11.1, is_ready=False)
    assert not may_write(times, 11.2, is_ready=True)
    assert may_write(times, 12.1, is_ready=True)
    assert may_write(times, 13.1, is_ready=False)
    assert may_write(times, 13.2, is_ready=True)


def test_one_that_is_held_waits_for_its_first_second_unless_it_says_ready():
    times, hasty = WriteTimes(), WriteTimes()
    for each in (times, hasty):
        each.hold([THING], 10.0)
    assert not may_write(times, 10.9, is_ready=False)
    assert may_write(times, 11.0, is_ready=False)
    assert may_write(hasty, 10.1, is_ready=True)


def test_one_that_is_held_pauses_while_its_workload_is_not_ready():
    times = WriteTimes(pause=0.2)
    times.hold([THING], 10.0)
    assert not may_write(times, 10.1, is_ready=True)
    assert may_write(times, 10.2, is_ready=True)


def test_the_pause_ends_when_its_workload_is_ready():
    times = WriteTimes(pause=0.2)
    times.hold([THING], 10.0)
    times.pause = 0.0
    assert may_write(times, 10.1, is_ready=True)


def test_one_that_becomes_ready_again_does_not_pause():
    times = WriteTimes(pause=0.2)
    assert may_write(times, 10.0, is_ready=False)
    assert may_write(times, 10.3, is_ready=True)


def test_what_is_forgotten_is_written_as_at_first():
    times = WriteTimes()
    assert may_write(times, 10.0, is_ready=True)
    times.forget_others(set())
    assert may_write(times, 10.1, is_ready=True)


def test_one_that_is_made_anew_says_ready_without_a_wait():
    times = WriteTimes()
    assert may_write(times, 10.0, is_ready=True)
    times.forget_others(set())
    times.hold([THING], 20.0)
    assert may_write(times, 20.1, is_ready=True)
