"""Robots of the portal, as its four files."""

from __future__ import annotations

from golden.pair import Change, pair
from golden.stage import Stage

ROBOT = "config/robot.conf"


def robot(on: Stage, *, site: str = "", **properties: object) -> None:
    """Write a robot as `robot create` does, without delay, with a site; names have `_` for `-`."""
    if not (on.directory / "config").exists():
        made = on.workspace.command("robot", "create", ".", "--email", "me@site.example")
        assert made.code == 0, made.err
    given = {
        "csid": "x-catalog://h:80/robot",
        "server_delay": 0,
        "onCompletion": "quit",
        "site_max_concurrent": 1,
    }
    given |= {"enable_ip": "false", **properties}
    lines = "".join(f'   {name.replace("_", "-")}="{value}"\n' for name, value in given.items())
    on.file(ROBOT, f"<Process\n{lines}</Process>\n")
    rules = on.directory / "config" / "filterrules.conf"
    rules.write_text(rules.read_text() + site)


def server(on: Stage, rules: str = "", *, start: str = "/", depth: int = 10) -> str:
    """Return a site of the first address."""
    return (
        f"<Site name=127.0.0.1 kind=server enable=on>\n   Host name=127.0.0.1 port={on.port} protocol=http\n"
        f"   Start url={on.url}{start} depth={depth}\n{rules}</Site>\n"
    )


@pair(
    config=ROBOT,
    kill_at=5,
    look=("/a", "http://elsewhere.example/", "/forbidden"),
    then=(("robot", "report", "excluded", "--json"),),
)
def robot_plain(on: Stage) -> Change:
    """A robot with its default filters and the rules that are on."""
    robot(on, site=server(on, "   Use rule=archive-files\n"))
    site = on.site
    site.write(
        "/",
        "Start",
        "the beginning",
        ["/a", "/b", "/x.zip", "/a.gif", "/forbidden", "/copy", "/lost", f"{on.second}/there"],
    )
    site.write(
        "/a",
        "A",
        "with META",
        ["/c"],
        head='<meta name="author" content="Jo Lee"><meta name="keywords" content="one, two">',
    )
    site.write("/b", "B", "plain")
    site.write("/c", "C", "one further")
    site.write("/copy", "B", "plain")
    site.robots("User-agent: *\nDisallow: /forbidden\n")

    def change() -> None:
        site.write("/a", "A", "has changed", ["/new"])
        site.write("/new", "New", "came later")
        site.remove("/c")

    return change
