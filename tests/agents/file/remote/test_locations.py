"""What may be written in `paths` and `connections`."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from ultracrawl.agents.file.remote.locations import parse_location
from ultracrawl.agents.file.remote_folders import connection_of
from ultracrawl.agents.file.section import FileSection


def mistake_of(**options: Any) -> str:
    with pytest.raises(ValidationError) as caught:
        FileSection(**options)
    return str(caught.value)


def test_local_and_remote_paths_stand_beside_each_other() -> None:
    section = FileSection(paths=["/srv/docs", "sftp://reader@Files.example.com:2222/srv/docs/", "docs"])
    assert [str(path) for path in section.folders] == ["/srv/docs", "docs"]
    (location,) = section.remote
    assert (location.host, location.port, location.user) == ("files.example.com", 2222, "reader")
    assert location.url == "sftp://files.example.com:2222/srv/docs"


@pytest.mark.parametrize(
    ("url", "path", "again"),
    [
        ("sftp://a.example", b"/", "sftp://a.example/"),
        ("sftp://[::1]:22/a%20b", b"/a b", "sftp://[::1]:22/a%20b"),
        ("sftp://a.example/%C3%A4%3F/", "/ä?".encode(), "sftp://a.example/%C3%A4%3F"),
    ],
)
def test_a_url_and_a_path_are_made_of_each_other(url: str, path: bytes, again: str) -> None:
    location = parse_location(url)
    assert (location.path, location.url) == (path, again)
    assert location.path_of(again) == path


@pytest.mark.parametrize(
    "path",
    [
        "gopher://a.example/b",
        "sftp:///b",
        "sftp://a.example/b/../c",
        "sftp://a.example/b?c",
        "sftp://a.example:no/b",
    ],
)
def test_other_urls_are_mistakes(path: str) -> None:
    assert "write" in mistake_of(paths=[path])


def test_a_password_in_a_url_is_a_mistake_that_does_not_show_it() -> None:
    text = mistake_of(paths=["sftp://reader:horse-9@a.example/docs"]).partition("input_value")[0]
    assert "a.example" in text
    assert "horse-9" not in text


def test_the_longest_beginning_of_a_path_names_its_connection() -> None:
    section = FileSection(
        paths=[
            "sftp://a.example/docs",
            "sftp://ann@a.example/docs",
            "sftp://a.example/docs/new",
            "sftp://b.example/",
        ],
        connections={
            "sftp://a.example": {"user": "one"},
            "sftp://a.example/docs/new": {"user": "two"},
            "sftp://ann@a.example": {"timeout": 3},
        },
    )
    users = [connection_of(section, location)[0] for location in section.remote]
    assert users == [
        "sftp://a.example",
        "sftp://ann@a.example",
        "sftp://a.example/docs/new",
        "sftp://b.example",
    ]


def test_a_connection_of_no_path_is_a_mistake() -> None:
    assert "sftp://b.example" in mistake_of(paths=["sftp://a.example/"], connections={"sftp://b.example": {}})
    assert "sftp://a.example/d" in mistake_of(
        paths=["sftp://a.example/docs"], connections={"sftp://a.example/d": {}}
    )


def test_an_option_of_another_scheme_is_a_mistake() -> None:
    assert "host_keys" in mistake_of(
        paths=["s3://bucket/docs"], connections={"s3://bucket": {"host_keys": f"SHA256:{'a' * 43}"}}
    )
    assert "endpoint" in mistake_of(
        paths=["sftp://a.example/"], connections={"sftp://a.example": {"endpoint": "https://b.example"}}
    )


def test_readers_of_files_whose_server_does_not_name_them_are_a_mistake() -> None:
    for path in ("s3://bucket/docs", "webdav://a.example/docs"):
        assert "acl" in mistake_of(paths=[path], permissions=True)
    assert FileSection(paths=["sftp://a.example/docs"], permissions=True).permissions


@pytest.mark.parametrize(
    ("region", "is_one"),
    [
        *(
            (one, True)
            for one in ("eu-central-1", "us-gov-west-1", "RegionOne", "a", "garage", "9a", "a" * 63)
        ),
        *(
            (one, False)
            for one in (
                "",
                "eu_central",
                "eu central-1",
                "12",
                "-a",
                "a-",
                "a" * 64,
                "a/b",
                "a.b",
                "a\n",
                "ä",
            )
        ),
    ],
)
def test_the_region_of_a_bucket_is_a_part_of_the_name_of_its_server(region: str, is_one: bool) -> None:
    values = {"paths": ["s3://bucket/docs"], "connections": {"s3://bucket": {"region": region}}}
    if is_one:
        assert FileSection.model_validate(values).connections["s3://bucket"].region == region
    else:
        assert "region" in mistake_of(**values)


@pytest.mark.parametrize(
    "endpoint", ["http://s3.example.com", "ftp://127.0.0.1", "https://", "https://u:p@a.example"]
)
def test_an_endpoint_in_clear_text_is_a_mistake_but_for_this_machine(endpoint: str) -> None:
    connections = {"s3://bucket": {"endpoint": endpoint}}
    assert "endpoint" in mistake_of(paths=["s3://bucket/docs"], connections=connections)
    for good in ("http://127.0.0.1:9000", "http://localhost:9000", "https://s3.example.com"):
        FileSection(paths=["s3://bucket/docs"], connections={"s3://bucket": {"endpoint": good}})


def test_a_password_in_clear_text_is_a_mistake_but_for_this_machine() -> None:
    assert "tls" in mistake_of(
        paths=["webdav://a.example/"], connections={"webdav://a.example": {"tls": False}}
    )
    FileSection(paths=["webdav://127.0.0.1/"], connections={"webdav://127.0.0.1": {"tls": False}})
