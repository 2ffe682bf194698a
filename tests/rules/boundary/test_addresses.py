"""The address guard: disguises, embedded addresses, and networks that a source opens."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.sentences import sentence

from ultracrawl.rules.boundary.addresses import AddressPolicy, IntranetHosts
from ultracrawl.rules.boundary.rules import RuleError
from ultracrawl.rules.urls.canonical import UrlPolicy, host_of

POLICY = AddressPolicy()

REFUSED = [
    ("127.0.0.1", "loopback"),
    ("127.255.0.1", "loopback"),
    ("::1", "loopback"),
    ("0.0.0.0", "unspecified"),
    ("0.1.2.3", "unspecified"),
    ("::", "unspecified"),
    ("10.0.0.1", "private"),
    ("172.16.0.5", "private"),
    ("172.31.255.255", "private"),
    ("192.168.1.1", "private"),
    ("fd12::1", "private"),
    ("fec0::1", "private"),
    ("169.254.1.1", "link-local"),
    ("fe80::1%eth0", "link-local"),
    ("169.254.169.254", "cloud metadata"),
    ("fd00:ec2::254", "cloud metadata"),
    ("168.63.129.16", "cloud metadata"),
    ("100.64.0.1", sentence("boundary.shared_carrier_cgnat")),
    ("224.0.0.1", "multicast"),
    ("ff02::1", "multicast"),
    ("255.255.255.255", "reserved"),
    ("192.0.2.1", "documentation"),
    ("2001:db8::1", "documentation"),
    ("198.18.0.1", "benchmark"),
    ("::ffff:10.0.0.1", "private"),
    ("::ffff:7f00:1", "loopback"),
    ("::127.0.0.1", "loopback"),
    ("::8.8.8.8", "not global unicast"),
    ("64:ff9b::a00:1", "private"),
    ("64:ff9b::169.254.169.254", "cloud metadata"),
    ("64:ff9b:1::a00:1", "private"),
    ("2002:0a00:0001::", "private"),
    ("2002:7f00:1::1", "loopback"),
    ("2001:0:7f00:1::1", "loopback"),
    ("2001:0:808:808:0:0:80ff:fffe", "loopback"),
    ("2a00::5efe:10.0.0.1", "private"),
    ("4000::1", "not global unicast"),
    ("localhost", "unknown"),
    ("", "unknown"),
]


@pytest.mark.parametrize(("address", "name"), REFUSED)
def test_p1_special_addresses_are_refused(address: str, name: str) -> None:
    assert POLICY.refuses(address) == f"address {name}"
    decision = POLICY.check(address)
    assert (decision.accept, decision.stage, decision.rule) == (False, "address", f"address {name}")


@pytest.mark.parametrize(
    "address",
    [
        "8.8.8.8",
        "172.32.0.1",
        "100.128.0.1",
        "2a00:1450::1",
        "[2a00:1450::1]",
        "::ffff:8.8.8.8",
        "64:ff9b::808:808",
    ],
)
def test_public_addresses_are_accepted(address: str) -> None:
    assert POLICY.refuses(address) is None
    assert POLICY.check(address).accept


@pytest.mark.parametrize(
    "url",
    [
        "http://127.1/",
        "http://0x7f000001/",
        "http://2130706433/",
        "http://0177.0.0.1/",
        "http://[::ffff:10.0.0.1]/",
        "http://１２７.0.0.1/",
        "http://127.0.0.1./",
        "http://[64:ff9b::a00:1]/",
        "http://[2002:0a00:0001::]/",
        "http://172.16.0.5/",
    ],
)
def test_p1_disguised_hosts_are_refused_once_canonical(url: str) -> None:
    canonical = UrlPolicy().canonical(url)
    assert canonical is not None
    refusal = POLICY.refuses(host_of(canonical))
    assert refusal is not None
    assert refusal != "address unknown"


def test_p2_intranet_source_reaches_its_networks_only() -> None:
    policy = AddressPolicy.for_source(allow_networks=["10.1.0.0/16", " fd00:1::/32"])
    for address in ("10.1.2.3", "::ffff:10.1.2.3", "64:ff9b::10.1.2.3", "2002:a01:203::1", "fd00:1::5"):
        assert policy.refuses(address) is None, address
    for address in ("10.2.0.1", "::ffff:10.2.0.1", "127.0.0.1", "fd00:2::1", "169.254.169.254"):
        assert policy.refuses(address) is not None, address


def test_seed_literals_open_their_own_address_only() -> None:
    policy = AddressPolicy.for_source(["127.0.0.1", "[::1]", "www.example.com", "169.254.169.254"])
    assert policy.refuses("127.0.0.1") is None
    assert policy.refuses("::1") is None
    assert policy.refuses("127.0.0.2") == "address loopback"
    assert policy.refuses("169.254.169.254") == "address cloud metadata"
    assert AddressPolicy.for_source(allow_networks=["169.254.169.254/32"]).refuses("169.254.169.254") is None


@pytest.mark.parametrize("network", ["10.1.0.0/33", "10.1.2.3/16", "intranet", ""])
def test_bad_networks_are_refused(network: str) -> None:
    with pytest.raises(RuleError, match="allow_networks: "):
        AddressPolicy.for_source(allow_networks=[network])


@given(st.ip_addresses(v=4))
def test_every_embedding_is_as_strict_as_the_address_itself(inner: IPv4Address) -> None:
    number = int(inner)
    carriers = (0xFFFF << 32 | number, 0x64FF9B << 96 | number, 0x2002 << 112 | number << 80)
    for carrier in map(IPv6Address, carriers):
        assert (POLICY.refuses(carrier) is None) is (POLICY.refuses(inner) is None)


INTRANET = AddressPolicy(
    intranet=IntranetHosts(frozenset({"wiki", "www.corp.example"}), ("dept.corp.example", "lan"))
)
PRIVATE = ["10.0.0.1", "172.16.0.5", "192.168.1.1", "fd12::1", "::ffff:10.0.0.1", "64:ff9b::a00:1"]
NEVER = [address for address, name in REFUSED if name not in {"private", "unknown"}]


@pytest.mark.parametrize(
    "host", ["wiki", "WWW.corp.example", "www.corp.example.", "a.dept.corp.example", "x.lan"]
)
@pytest.mark.parametrize("address", PRIVATE)
def test_hosts_of_the_intranet_may_have_private_addresses(host: str, address: str) -> None:
    assert POLICY.refuses(address, host) == "address private"
    assert INTRANET.refuses(address, host) is None


@pytest.mark.parametrize("address", NEVER)
def test_hosts_of_the_intranet_have_no_other_inner_address(address: str) -> None:
    assert INTRANET.refuses(address, "wiki") == POLICY.refuses(address)


@pytest.mark.parametrize(
    "host", ["", "corp.example", "mail.corp.example", "adept.corp.example", "wiki.example", "xlan"]
)
def test_other_hosts_have_no_private_addresses(host: str) -> None:
    decision = INTRANET.check("10.0.0.1", host)
    assert decision.rule == "address private"
    assert host in decision.reason


def test_addresses_of_seeds_are_added_but_for_metadata_services() -> None:
    policy = INTRANET.with_seeds(["127.0.0.5", "169.254.169.254", "no address"])
    assert [policy.refuses(address) is None for address in ("127.0.0.5", "127.0.0.6", "169.254.169.254")] == [
        True,
        False,
        False,
    ]
    assert policy.refuses("10.0.0.1", "wiki") is None
