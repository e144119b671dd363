"""How namespaces are filled and emptied."""

from builtins_world import World

from kohort.cluster.kinds import CONFIG_MAP, NAMESPACE, NODE, POD, SERVICE_ACCOUNT
from kohort.cluster.objects import find_condition
from kohort.simulator.builtins.namespaces import NamespaceDefaults, NamespaceLifecycle

KINDS = (CONFIG_MAP, NODE, POD)


def make_namespace(world: World, name: str = "default") -> None:
    world.create(NAMESPACE, {"metadata": {"name": name}, "spec": {"finalizers": ["kubernetes"]}})


def test_a_namespace_has_an_account_and_the_certificate_and_keeps_them():
    world = World(NamespaceDefaults("PEM"))
    make_namespace(world)
    world.settle()
    world.delete(SERVICE_ACCOUNT, "default")
    world.patch(CONFIG_MAP, "kube-root-ca.crt", {"data": {"ca.crt": "other"}})
    world.settle()
    assert world.exists(SERVICE_ACCOUNT, "default")
    assert world.read(CONFIG_MAP, "kube-root-ca.crt")["data"] == {"ca.crt": "PEM"}


def test_a_namespace_that_goes_gets_nothing_new():
    world = World(NamespaceDefaults("PEM"))
    make_namespace(world)
    world.delete(NAMESPACE, "default")
    world.settle()
    assert not world.exists(SERVICE_ACCOUNT, "default")


def test_a_namespace_goes_after_all_it_holds():
    world = World(NamespaceLifecycle(KINDS))
    make_namespace(world)
    world.create(CONFIG_MAP, {"metadata": {"name": "c"}})
    world.create(POD, {"metadata": {"name": "p"}, "spec": {}})
    world.settle()
    world.delete(NAMESPACE, "default")
    world.settle()
    assert not world.exists(CONFIG_MAP, "c")
    assert world.exists(NAMESPACE, "default")
    world.remove_pod("p")
    world.advance(1)
    assert not world.exists(NAMESPACE, "default")


def test_what_is_elsewhere_stays():
    world = World(NamespaceLifecycle(KINDS))
    for name in ("one", "two"):
        make_namespace(world, name)
        world.create(CONFIG_MAP, {"metadata": {"name": "c", "namespace": name}})
    world.create(NODE, {"metadata": {"name": "n"}})
    world.delete(NAMESPACE, "one")
    world.settle()
    world.advance(1)
    assert not world.exists(NAMESPACE, "one")
    assert world.exists(CONFIG_MAP, "c", "two") and world.exists(NODE, "n")


def test_a_namespace_says_what_holds_it_up():
    world = World(NamespaceLifecycle(KINDS))
    make_namespace(world)
    world.create(CONFIG_MAP, {"metadata": {"name": "c", "finalizers": ["x.y/z"]}})
    world.delete(NAMESPACE, "default")
    world.settle()
    world.advance(5)
    namespace = world.read(NAMESPACE, "default")
    remaining = find_condition(namespace, "NamespaceContentRemaining")
    held = find_condition(namespace, "NamespaceFinalizersRemaining")
    assert remaining and held
    assert remaining["message"] == (
        "Some resources are remaining: configmaps. has 1 resource instances"
    )
    assert held["message"] == (
        "Some content in the namespace has finalizers remaining: x.y/z in 1 resource instances"
    )
