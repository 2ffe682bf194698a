"""A real Solr for tests: one node on loopback with one core, always stopped."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from support.free_port import serving
from support.opensearch import newest_java, send
from support.requirement import require

CORE = "docs"
_LIBRARIES = Path(__file__).parents[2] / "var" / "servers" / "solr"
"""Where `make servers` has Maven put the node."""
_NODE = Path(__file__).with_name("SolrNode.java")
_PATIENCE = 300.0
"""Seconds that a node may take to start: 10 seconds of processor time, on a machine where many tests run."""

_CONFIGURATION = """\
<config>
  <luceneMatchVersion>9.12</luceneMatchVersion>
  <schemaFactory class="ClassicIndexSchemaFactory"/>
  <updateHandler class="solr.DirectUpdateHandler2"><updateLog/></updateHandler>
  <requestHandler name="/select" class="solr.SearchHandler"/>
</config>
"""
_SCHEMA = """\
<schema name="docs" version="1.7">
  <uniqueKey>id</uniqueKey>
  <fieldType name="string" class="solr.StrField" docValues="true"/>
  <fieldType name="boolean" class="solr.BoolField"/>
  <fieldType name="int" class="solr.IntPointField" docValues="true"/>
  <fieldType name="long" class="solr.LongPointField" docValues="true"/>
  <fieldType name="double" class="solr.DoublePointField" docValues="true"/>
  <fieldType name="text" class="solr.TextField">
    <analyzer><tokenizer name="standard"/><filter name="lowercase"/></analyzer>
  </fieldType>
  <field name="id" type="string" required="true"/>
  <field name="_version_" type="long" indexed="false"/>
  <dynamicField name="*_s" type="string"/>
  <dynamicField name="*_ss" type="string" multiValued="true"/>
  <dynamicField name="*_b" type="boolean"/>
  <dynamicField name="*_i" type="int"/>
  <dynamicField name="*_ds" type="double" multiValued="true"/>
  <dynamicField name="*_txt" type="text" multiValued="true"/>
</schema>
"""
"""The dynamic fields that the default configuration has too, as far as records have such names."""


@contextmanager
def solr_node() -> Iterator[str]:
    """Run Solr with the empty core `docs`; gives its URL."""
    java = newest_java()
    require(java is not None, "Java 21 or newer", "openjdk-21-jdk")
    require(any(_LIBRARIES.glob("solr-core-*.jar")), "Solr", "maven", get="make servers")
    with tempfile.TemporaryDirectory(prefix="solr-") as name:
        home = Path(name)
        configuration = home / CORE / "conf"
        configuration.mkdir(parents=True)
        (home / "solr.xml").write_text("<solr/>")
        (home / CORE / "core.properties").write_text(f"name={CORE}\n")
        (configuration / "solrconfig.xml").write_text(_CONFIGURATION)
        (configuration / "schema.xml").write_text(_SCHEMA)

        def command(port: int) -> list[str]:
            memory = ["-Xmx256m", f"-Dsolr.log.dir={home}", "-cp", f"{_LIBRARIES}/*"]
            return [str(java), *memory, str(_NODE), str(home), str(port), str(os.getpid())]

        with serving(command, home / "errors.txt", patience=_PATIENCE) as port:
            url = f"http://127.0.0.1:{port}/solr"
            deadline = time.monotonic() + _PATIENCE
            while not send("GET", f"{url}/{CORE}/select?q=*:*"):  # the first answer takes long
                assert time.monotonic() < deadline, "Solr listens and does not answer"
                time.sleep(0.25)
            yield url
