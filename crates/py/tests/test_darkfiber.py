"""The module against the command line, whose path is in DARKFIBER_PROGRAM: the same figures, the same errors.

    DARKFIBER_PROGRAM=target/release/darkfiber python -m unittest discover crates/py/tests
"""

import _thread
import ast
import collections.abc
import gc
import itertools
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest
import xml.etree.ElementTree as ElementTree
from types import MappingProxyType

import numpy as np

import darkfiber

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent.parent
PROGRAM = os.environ["DARKFIBER_PROGRAM"]


USUAL = ["worst", "abb", "afpb", "adb", "ebb"]


def told(*args, fine=(0,)):
    """What the command line prints as JSON."""
    done = subprocess.run(
        [PROGRAM, *args, "--format", "json", "-q"], capture_output=True, text=True, cwd=ROOT
    )
    assert done.returncode in fine, done.stderr
    return json.loads(done.stdout)


def in_python(text):
    """Another Python that runs this text."""
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(text)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )


class Fabrics(unittest.TestCase):
    def test_facts_are_those_of_the_command_line(self):
        names = ["@slimfly-eth", "hyperx:dims=4x3,t=2", "tests/data/fabrics/stage-sx6036.topo"]
        for name in names:
            with self.subTest(name):
                ours = darkfiber.Fabric(ROOT / name if "/" in name else name).facts()
                theirs = told("fabric", name)
                del ours["name"], theirs["name"]
                self.assertEqual(ours, {key: theirs.get(key) for key in ours})

    def test_faults_are_those_of_the_command_line(self):
        ours = darkfiber.Fabric("@slimfly-eth", fail_links=5, seed=3).facts()
        theirs = told("fabric", "@slimfly-eth", "--fail-links", "5", "--seed", "3")
        self.assertEqual(ours["switch_links"], 170)
        self.assertEqual(ours["diameter"], theirs["diameter"])

    def test_arrays_fit_each_other(self):
        fabric = darkfiber.Fabric("hyperx:dims=4x3,t=2")
        heads, tails, back = fabric.heads, fabric.tails, fabric.reverses
        self.assertEqual(heads.dtype, np.uint32)
        np.testing.assert_array_equal(heads[back], tails)
        np.testing.assert_array_equal(back[back], np.arange(len(heads)))
        starts = fabric.channel_starts
        for switch in range(fabric.switch_count):
            own = slice(starts[switch], starts[switch + 1])
            self.assertTrue((tails[own] == switch).all())
            for channel, port in zip(range(own.start, own.stop), fabric.tail_ports[own]):
                self.assertEqual(fabric.channel_at(switch, port), channel)
        self.assertIsNone(fabric.channel_at(0, 200))
        self.assertIsNone(fabric.channel_at(10_000, 1))
        terminals = fabric.terminals
        np.testing.assert_array_equal(terminals["switch"], fabric.terminal_switches)
        self.assertEqual(sorted(set(terminals["host"])), sorted(fabric.hosts))
        np.testing.assert_array_equal(fabric.channels["head"], heads)
        self.assertEqual(fabric.switches["name"].tolist(), fabric.switch_names)

    def test_views_cannot_be_written_and_keep_what_they_show(self):
        heads = darkfiber.Fabric("hyperx:dims=4x3,t=2").heads
        with self.assertRaises(ValueError):
            heads[0] = 1
        with self.assertRaises(ValueError):
            heads.flags.writeable = True
        before = heads.copy()
        gc.collect()
        _other = [darkfiber.Fabric("hyperx:dims=5x3,t=2").heads.copy() for _ in range(20)]
        np.testing.assert_array_equal(heads, before)

    def test_maps_are_pictures(self):
        fabric = darkfiber.Fabric("@slimfly-eth")
        routes = darkfiber.route(fabric, "updn")
        for shown in (fabric, routes):
            picture = ElementTree.fromstring(shown._repr_html_())
            self.assertTrue(picture.tag.endswith("svg"))
        self.assertIn("max EFI", routes.map())
        self.assertTrue(routes.html().startswith("<!doctype html>"))

    def test_pages_of_routes_say_what_is_wrong_with_them(self):
        torus = darkfiber.Fabric("torus:dims=4x4,t=2")
        found = darkfiber.check(darkfiber.route(torus, "minhop")).findings[0]["message"]
        self.assertIn("packets can deadlock", found)
        self.assertIn("packets can deadlock", darkfiber.route(torus, "minhop").html())
        self.assertNotIn("packets can deadlock", darkfiber.route(torus, "dfsssp").html())

    def test_names_do_not_command_terminals(self):
        fabric = darkfiber.Fabric("kary:k=4,n=2")
        ports = darkfiber.route(fabric, "updn").ports()
        shown = repr(darkfiber.from_ports(fabric, ports, name="x\n\x1b[31m"))
        self.assertIn("x\\n\\u{1b}[31m", shown)


class Tables(unittest.TestCase):
    def test_figures_are_those_of_the_command_line(self):
        for name, engines in {
            "@slimfly-eth": ["minhop", "updn", "dfsssp", "lash", "nue"],
            "kary:k=4,n=3": ["ftree", "dmodk", "smodk"],
            "torus:dims=4x4x4,t=1": ["torus", "dor"],
        }.items():
            fabric = darkfiber.Fabric(name)
            for engine in engines:
                with self.subTest(name=name, engine=engine):
                    lmc = {"smodk": 2}.get(engine, 0)
                    routes = darkfiber.route(fabric, engine, lmc=lmc)
                    ours = darkfiber.check(routes).to_dict()
                    theirs = told("route", name, "-e", engine, "--lmc", str(lmc))
                    self.assertEqual(ours, {key: theirs[key] for key in ours})

    def test_layers_are_assigned_as_on_the_command_line(self):
        fabric = darkfiber.Fabric("torus:dims=4x4,t=2")
        for by in ("destination", "source"):
            ours = darkfiber.check(darkfiber.route(fabric, "dfsssp", layer_by=by))
            theirs = told("route", "torus:dims=4x4,t=2", "-e", "dfsssp", "--layer-by", by)
            self.assertEqual((ours.layers, ours.efi_max), (theirs["layers"], theirs["efi"]["max"]))
            self.assertTrue(ours.ok)

    def test_tables_of_opensm_are_read(self):
        folder = ROOT / "tests/data/opensm/kary4_3"
        topo, lids = folder / "ibnetdiscover.gz", folder / "guid2lid.gz"
        fabric = darkfiber.Fabric(topo)
        for engine in ("minhop", "dfsssp", "nue"):
            tables = folder / f"lfts.{engine}.dump.gz"
            routes = darkfiber.read_tables(fabric, tables, guid2lid=lids)
            ours = darkfiber.check(routes).to_dict()
            given = ["--routes", str(tables), "--guid2lid", str(lids)]
            theirs = told("check", str(topo), *given, fine=(0, 1))
            for key in ("pairs", "unreachable", "loops", "hops", "efi", "deadlock_free"):
                self.assertEqual(ours[key], theirs[key], key)
            self.assertGreater(ours["pairs"], 0)

    def test_paths_and_loads_are_the_same_routes(self):
        fabric = darkfiber.Fabric("hyperx:dims=3x3,t=2")
        routes = darkfiber.route(fabric, "dfsssp")
        load = np.zeros(fabric.channel_count, dtype=np.uint64)
        hops = []
        for source in range(fabric.terminal_count):
            for destination in range(fabric.terminal_count):
                if source != destination:
                    path = routes.path(source, destination)
                    load[path] += 1
                    hops.append(len(path) + 1)
                    self.assertLess(routes.layer(source, destination), routes.layer_count)
        proof = darkfiber.check(routes)
        np.testing.assert_array_equal(load, proof.load)
        np.testing.assert_array_equal(np.bincount(hops), proof.hops)
        self.assertAlmostEqual(np.mean(hops), proof.hops_mean)
        # The table, followed by hand.
        ports = routes.ports()
        np.testing.assert_array_equal(
            ports, routes.table[routes.rows[: fabric.terminal_count]].T
        )
        at = fabric.terminal_switches[0]
        for channel in routes.path(0, 17):
            self.assertEqual(fabric.channel_at(at, ports[at, 17]), channel)
            at = fabric.heads[channel]
        self.assertEqual(at, fabric.terminal_switches[17])
        self.assertEqual(ports[at, 17], 0)

    def test_what_was_measured_is_what_the_command_line_measures(self):
        name = "fattree2:n=4,m=4,r=6"
        routes = darkfiber.route(darkfiber.Fabric(name), "minhop")
        ours = darkfiber.measure(routes, ["worst", "ebb", "abb"], ["shift"], samples=500, seed=7)
        theirs = told(
            *["measure", name, "-e", "minhop", "--metric", "worst,ebb,abb,pair_share,share"],
            *["--metric", "fair_rate,finish_rate", "--pattern", "shift"],
            *["--samples", "500", "--seed", "7"],
        )
        self.assertEqual(sorted(darkfiber.measure(routes, samples=20)), sorted(USUAL))
        self.assertEqual(ours["worst"], theirs["worst"])
        for metric in ("ebb", "abb"):
            self.assertEqual(ours[metric], theirs[metric])
        shift = next(p for p in theirs["patterns"] if p["pattern"] == "shift")
        for bandwidth in ("share", "pair_share", "fair_rate", "finish_rate"):
            self.assertEqual(ours["shift"][bandwidth], shift[bandwidth])
        self.assertEqual(ours["shift"]["max_load"], shift["max_load"]["max"])

    def test_loads_of_all_shifts_are_those_of_all_pairs(self):
        fabric = darkfiber.Fabric("hyperx:dims=3x3,t=2")
        routes = darkfiber.route(fabric, "dfsssp")
        shifts = fabric.terminal_count - 1
        np.testing.assert_allclose(
            darkfiber.loads(routes, "shift") * shifts, darkfiber.check(routes).load
        )
        few = darkfiber.loads(routes, "shift", among=[0, 1, 2])
        self.assertLess(few.sum(), darkfiber.loads(routes, "shift").sum())


def breadth_first(fabric):
    """A routing engine in Python: the first shortest path."""
    starts, heads, ports = fabric.channel_starts, fabric.heads, fabric.tail_ports
    reverses, switches = fabric.reverses, fabric.switch_count
    towards = np.full((switches, switches), 255, dtype=np.uint8)
    for root in range(switches):
        seen, queue = {root}, [root]
        for at in queue:
            for channel in range(starts[at], starts[at + 1]):
                if heads[channel] not in seen:
                    seen.add(heads[channel])
                    queue.append(heads[channel])
                    towards[heads[channel], root] = ports[reverses[channel]]
    return towards[:, fabric.terminal_switches]


class OwnEngines(unittest.TestCase):
    def test_a_function_is_an_engine(self):
        fabric = darkfiber.Fabric("hyperx:dims=4x3,t=2")
        routes = darkfiber.route(fabric, breadth_first)
        proof = darkfiber.check(routes)
        self.assertEqual(routes.engine, "breadth_first")
        self.assertTrue(proof.complete)
        # Shortest paths are as long as those of minhop.
        theirs = darkfiber.check(darkfiber.route(fabric, "minhop"))
        np.testing.assert_array_equal(proof.hops, theirs.hops)
        # Its figures, counted here.
        load = np.zeros(fabric.channel_count, dtype=np.uint64)
        for source in range(fabric.terminal_count):
            for destination in range(fabric.terminal_count):
                if source != destination:
                    load[routes.path(source, destination)] += 1
        np.testing.assert_array_equal(load, proof.load)

    def test_its_paths_can_deadlock_and_layers_help(self):
        fabric = darkfiber.Fabric("torus:dims=6,t=2")
        proof = darkfiber.check(darkfiber.route(fabric, breadth_first))
        self.assertTrue(proof.complete)
        self.assertFalse(proof.deadlock_free)
        cycle = proof.cycles[0]
        # Each waits for the next: it begins where the one before ends.
        np.testing.assert_array_equal(fabric.heads[cycle], np.roll(fabric.tails[cycle], -1))
        self.assertIn("credit-loop", [finding["kind"] for finding in proof.findings])
        layered = darkfiber.route(fabric, breadth_first, layer_by="source")
        self.assertGreater(layered.layer_count, 1)
        self.assertTrue(darkfiber.check(layered).ok)

    def test_its_layers_are_taken(self):
        fabric = darkfiber.Fabric("torus:dims=6,t=2")
        reference = darkfiber.route(fabric, breadth_first, layer_by="source")
        starts = np.unique(fabric.terminal_switches, return_index=True)[1]
        layers = np.zeros((fabric.switch_count, fabric.terminal_count), dtype=int)
        for switch, terminal in enumerate(starts):
            for destination in range(fabric.terminal_count):
                if destination != terminal:
                    layers[switch, destination] = reference.layer(terminal, destination)
        ours = darkfiber.route(fabric, lambda fabric: (breadth_first(fabric), layers))
        proof, theirs = darkfiber.check(ours), darkfiber.check(reference)
        self.assertTrue(proof.ok)
        self.assertEqual(proof.layers, theirs.layers)

    def test_what_no_switch_could_have_is_refused(self):
        fabric = darkfiber.Fabric("hyperx:dims=3x3,t=2")
        good = breadth_first(fabric)
        bad = good.copy()
        away = 0 if fabric.terminal_switches[5] != 0 else 8
        bad[away, 5] = 1
        for made, words in {
            "port": (bad, f"ports[{away}, 5]"),
            "negative": (np.where(good == 255, -1, -7), "port -7"),
            "shape": (good[:, 1:], "array of 9 x 17"),
            "kind": (good.astype(float), "float64"),
            "dimensions": (good.ravel(), "1 dimensions"),
            "layers": ((good, np.full(good.shape, 15)), "layers[0, 0] is 15"),
        }.values():
            with self.assertRaises(darkfiber.Error) as raised:
                darkfiber.route(fabric, lambda _fabric, made=made: made)
            self.assertIn(words, str(raised.exception))
            self.assertTrue(raised.exception.hint)
            self.assertEqual(raised.exception.kind, "usage")

    def test_its_own_errors_come_through(self):
        def broken(_fabric):
            raise LookupError("mine")

        with self.assertRaisesRegex(LookupError, "mine"):
            darkfiber.route(darkfiber.Fabric("hyperx:dims=3x3,t=2"), broken)

    def test_lost_pairs_are_found(self):
        fabric = darkfiber.Fabric("hyperx:dims=3x3,t=2")
        ports = breadth_first(fabric)
        ports[:, 5] = 255
        proof = darkfiber.check(darkfiber.from_ports(fabric, ports, name="lossy"))
        self.assertEqual(proof.unreachable, fabric.terminal_count - 2)
        self.assertFalse(proof.ok)
        with self.assertRaises(darkfiber.Error):
            darkfiber.from_ports(fabric, ports).path(17, 5)

    def test_options_of_engines_are_refused(self):
        fabric = darkfiber.Fabric("torus:dims=6,t=2")
        for options in ({"layer_by": "pair"}, {"layer_by": "destination"}, {"lmc": 1}, {"roots": "x"}, {"jobs": [[0]]}):
            with self.subTest(options), self.assertRaises(darkfiber.Error):
                darkfiber.route(fabric, breadth_first, **options)
        layers = np.full((fabric.switch_count, fabric.terminal_count), 3)
        with self.assertRaises(darkfiber.Error):
            darkfiber.route(fabric, lambda f: (breadth_first(f), layers), lanes=3)
        self.assertEqual(darkfiber.route(fabric, lambda f: (breadth_first(f), layers)).layer_count, 4)
        with self.assertRaises(darkfiber.Error):
            darkfiber.route(fabric, breadth_first, seed=5)

        class Frame:
            """As a data frame, it has a method of that name, and is an array."""

            def mask(self):
                raise NotImplementedError

            def __array__(self, dtype=None, copy=None):
                return breadth_first(fabric)

        self.assertTrue(darkfiber.check(darkfiber.from_ports(fabric, Frame())).complete)
        masked = np.ma.masked_array(breadth_first(fabric), mask=False)
        with self.assertRaises(darkfiber.Error):
            darkfiber.from_ports(fabric, masked)

    def test_what_chains_and_readers_say_is_noted(self):
        fabric = darkfiber.Fabric("@slimfly-eth")
        self.assertIn("ftree refused, so updn routed", darkfiber.route(fabric, "ftree+updn").notes[0])
        some = fabric.switches["guid"][3]
        self.assertIn("0x1", darkfiber.route(fabric, "updn", roots=some + ",0x1").notes[0].replace("0x0000000000000001", "0x1"))

    def test_it_is_simulated(self):
        keys = {"packets.routing": "tables"}
        scenario = darkfiber.Scenario.read(ROOT / "examples/incast.toml", set=keys)
        usual = scenario.run()
        adaptive = darkfiber.Scenario.read(ROOT / "examples/incast.toml")
        with self.assertRaises(darkfiber.Error):
            adaptive.run(routes=darkfiber.route(usual.fabric, "updn"))
        routes = darkfiber.route(usual.fabric, breadth_first)
        own = scenario.run(routes=routes)
        self.assertEqual(own.engine, "breadth_first")
        self.assertEqual(own.jobs["bytes"].tolist(), usual.jobs["bytes"].tolist())
        # What comes from the same tables takes the same time.
        again = darkfiber.route(usual.fabric, usual.engine)
        self.assertEqual(scenario.run(routes=again).to_list(), usual.to_list())

    def test_routes_do_not_hide_keys_of_tables_and_hashes(self):
        job = '[[job]]\nname = "x"\ntraffic = "pattern:of=permutation,bytes=64KiB,samples=1"\nnodes = 64\n'
        routes = darkfiber.route(darkfiber.Fabric("kary:k=4,n=3"), "ar_ftree")

        def scenario(keys):
            return darkfiber.Scenario(f'fabric = "kary:k=4,n=3"\n[routes]\n{keys}\n{job}')

        self.assertEqual(scenario('engine = "minhop"').run(routes=routes).engine, "ar_ftree")
        for keys in ('engine = "ar_ftree"\necmp = "crc32"', 'engine = "minhop"\nsl = "nowhere"'):
            with self.subTest(keys), self.assertRaises(darkfiber.Error):
                scenario(keys).run(routes=routes)

    def test_layers_are_the_functions_or_found(self):
        fabric = darkfiber.Fabric("torus:dims=4x4,t=2")
        ports = darkfiber.route(fabric, "updn").ports()
        layers = np.arange(16)[:, None] % 4 + np.zeros(32, int)
        self.assertEqual(darkfiber.route(fabric, lambda _: (ports, layers)).layer_count, 4)
        self.assertEqual(darkfiber.route(fabric, lambda _: ports, lanes=2, layer_by="source").layer_count, 1)
        with self.assertRaises(darkfiber.Error):
            darkfiber.route(fabric, lambda _: (ports, layers), layer_by="source")


class Scenarios(unittest.TestCase):
    def test_keys_take_values_of_python(self):
        def read(**keys):
            return darkfiber.Scenario.read(ROOT / "examples/incast.toml", set=keys["set"])

        self.assertEqual(read(set={"title": "FDR, 4x"}).run(depth="count").title, "FDR, 4x")
        bursts = read(set=MappingProxyType({"job.2.nodes": np.int64(8)})).run(depth="count")
        self.assertEqual(bursts.jobs["ranks"].tolist()[1], 8)
        for wrong in (None, object(), [1, 2]):
            with self.subTest(wrong), self.assertRaises(darkfiber.Error):
                read(set={"job.2.nodes": wrong})
        faults = ROOT / "examples/studies/faults.toml"
        for value in ("0,10", [0, 10], (0, 10), np.array([0, 10])):
            study = darkfiber.Study.read(faults, set={"fail-percent": value})
            self.assertEqual(study.cell_count, 60)
        with self.assertRaises(darkfiber.Error):
            darkfiber.Study.read(faults, set={"fail-percent": [0, 10]}, max_cells=59).cell_count

    def test_what_readers_say_of_damaged_files_is_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            text = (ROOT / "tests/data/fabrics/stage-sx6036.topo").read_text()
            cut = pathlib.Path(folder) / "cut.topo"
            cut.write_text(text[:3000])
            self.assertTrue(darkfiber.Fabric(cut).errors)
            lines = text.splitlines(keepends=True)
            cut.write_text("".join(lines[: len(lines) // 2]))
            scenario = pathlib.Path(folder) / "s.toml"
            scenario.write_text(
                'fabric = "cut.topo"\n[routes]\nengine = "updn"\n[[job]]\n'
                'traffic = "imb:op=alltoall,bytes=1KiB,repeat=1"\nnodes = 2\n'
            )
            here = os.getcwd()
            os.chdir(folder)
            try:
                read = darkfiber.Scenario.read("s.toml")
            finally:
                os.chdir(here)
            run = read.run()
            self.assertTrue(any("cut short" in note for note in run.notes), run.notes)
            self.assertTrue(run.fabric.remarks)
            # Routes keep what was said of their fabric.
            routes = darkfiber.route(darkfiber.Fabric(cut), "updn")
            self.assertEqual(read.run(routes=routes).fabric.errors, routes.fabric.errors)

    def test_what_readers_say_of_traces_is_not_said_of_the_fabric(self):
        run = darkfiber.Scenario.read(ROOT / "examples/torch-ddp.toml").run(depth="count")
        self.assertTrue(run.notes)
        self.assertEqual(run.fabric.remarks, [])

    def test_what_engines_gave_up_is_noted(self):
        text = (
            'fabric = "cascade:groups=6,blue=8"\n[routes]\nengine = "minhop"\nlmc = 2\nlids = "random"\n'
            '[[job]]\ntraffic = "pattern:of=permutation,bytes=64KiB,samples=1"\nnodes = 64\n'
        )
        notes = darkfiber.Scenario(text).run(depth="count").notes
        self.assertTrue(any("paths of sssp" in note for note in notes), notes)

    def test_jobs_are_those_of_the_command_line(self):
        path = "examples/incast.toml"
        for depth in ("count", "loggp", "flow", "packet"):
            with self.subTest(depth):
                run = darkfiber.Scenario.read(ROOT / path).run(depth=depth)
                theirs = told("simulate", path, "--depth", depth)
                self.assertEqual(run.to_list(), theirs["jobs"])
                self.assertEqual(run.seconds, theirs["seconds"])
                self.assertEqual(int(run.channel_bytes.max()), theirs["channels"]["bytes_max"])
                self.assertEqual(run.depth, depth)
        self.assertEqual(len(run.jobs), len(theirs["jobs"]))
        self.assertEqual(run.pairs["bytes"].sum(), sum(job["bytes"] for job in theirs["jobs"]))
        self.assertTrue(ElementTree.fromstring(run._repr_html_()).tag.endswith("svg"))

    def test_keys_are_set_as_by_the_command_line(self):
        path = "examples/incast.toml"
        ours = darkfiber.Scenario.read(ROOT / path, set={"routes.engine": "dfsssp"}, seed=4)
        theirs = told("simulate", path, "--set", "routes.engine=dfsssp", "--seed", "4", "--isolated")
        run = ours.run(isolated=True)
        self.assertEqual(run.to_list(), theirs["jobs"])
        self.assertEqual(run.engine, "dfsssp")

    def test_messages_are_kept_where_a_scenario_says_so(self):
        text = """
            fabric = "kary:k=4,n=2"
            [routes]
            engine = "ftree"
            [keep]
            messages = true
            [[job]]
            traffic = "imb:op=alltoall,bytes=1KiB,repeat=1"
            nodes = 8
        """
        run = darkfiber.Scenario(text).run()
        messages = run.messages
        self.assertEqual(messages["bytes"].sum(), run.jobs["bytes"].sum())
        self.assertTrue((messages["arrived"] >= messages["departed"]).all())


class Studies(unittest.TestCase):
    def test_the_table_is_that_of_the_command_line(self):
        path = "examples/studies/faults.toml"
        study = darkfiber.Study.read(ROOT / path)
        table = study.run()
        theirs = told("study", "run", path)["rows"]
        self.assertEqual((len(table), study.cell_count), (len(theirs), len(theirs)))
        self.assertEqual(table["routes_engine"].dtype, object)
        for ours, row in zip(table.rows(), theirs):
            found = {**row.get("found", row)}
            self.assertEqual(ours["efi_max"], found["efi_max"])
            self.assertEqual(ours["hops_mean"], found["hops_mean"])
            self.assertEqual(ours["deadlock_free"], found["deadlock_free"])
            self.assertIsNone(ours["error"])

    def test_axes_are_set(self):
        study = darkfiber.Study.read(
            ROOT / "examples/incast.toml", set={"routes.engine": "minhop,dfsssp"}
        )
        self.assertEqual(study.axes, ["routes.engine"])
        table = study.run()
        self.assertEqual(set(table["routes_engine"]), {"minhop", "dfsssp"})
        self.assertIn("runs", set(table["question"]))


class Arrow(unittest.TestCase):
    def setUp(self):
        fabric = darkfiber.Fabric("@slimfly-eth")
        self.table = fabric.channels
        self.mixed = darkfiber.Study.read(ROOT / "examples/studies/faults.toml").run()

    def test_columns_are_views(self):
        column = self.table["head"]
        self.assertFalse(column.flags.writeable)
        self.assertFalse(column.flags.owndata)
        self.assertTrue(np.shares_memory(column, self.table["head"]))
        self.assertEqual(column.dtype, np.uint64)
        with self.assertRaisesRegex(KeyError, "no column nothing"):
            self.table["nothing"]
        self.assertIn("head", self.table)

    def test_whoever_reads_arrow_takes_it(self):
        taken = 0
        for table in (self.table, self.mixed):
            lists = table.to_dict()
            for take in (taken_by_pyarrow, taken_by_nanoarrow):
                try:
                    found = take(table)
                except ImportError:
                    continue
                taken += 1
                self.assertEqual(list(found), table.columns)
                for name in table.columns:
                    self.assertEqual(found[name], lists[name], name)
        if not taken:
            self.skipTest("neither pyarrow nor nanoarrow is installed")

    def test_capsules_can_be_dropped_unused(self):
        for _ in range(100):
            self.table.__arrow_c_stream__()
            self.table.__arrow_c_array__()
            self.table.__arrow_c_schema__()
        gc.collect()
        self.assertEqual(len(self.table["head"]), len(self.table))


def taken_by_pyarrow(table):
    import pyarrow

    return pyarrow.table(table).to_pydict()


def taken_by_nanoarrow(table):
    import nanoarrow

    stream = nanoarrow.ArrayStream(table)
    rows = [row for array in stream for row in array.to_pylist()]
    return {name: [row[name] for row in rows] for name in table.columns}


class Errors(unittest.TestCase):
    def failed(self, *args):
        done = subprocess.run([PROGRAM, *args], capture_output=True, text=True, cwd=ROOT)
        self.assertNotEqual(done.returncode, 0)
        return done.stderr

    def test_names_are_suggested(self):
        with self.assertRaises(darkfiber.Error) as raised:
            darkfiber.route(darkfiber.Fabric("kary:k=4,n=2"), "dfssp")
        error = raised.exception
        self.assertIn("dfsssp", str(error) + error.hint)
        told = self.failed("route", "kary:k=4,n=2", "-e", "dfssp")
        self.assertIn(str(error), told)
        self.assertIn(error.hint, told)

    def test_options_of_the_command_line_are_keyword_arguments(self):
        with self.assertRaises(darkfiber.Error) as raised:
            darkfiber.route(darkfiber.Fabric("torus:dims=5x5,t=1"), "dfsssp", lanes=1)
        self.assertIn("lanes allows 1", str(raised.exception))
        self.assertNotIn("--", str(raised.exception) + raised.exception.hint)
        with self.assertRaises(darkfiber.Error) as raised:
            darkfiber.route(darkfiber.Fabric("torus:dims=5x5,t=1"), "updn", roots="nofile")
        self.assertTrue(str(raised.exception).startswith("roots nofile"), raised.exception)

    def test_patterns_are_of_one_plane(self):
        routes = darkfiber.route(darkfiber.Fabric("kary:k=4,n=2,planes=2"), "minhop")
        for call in (lambda: darkfiber.measure(routes, ["ebb"]), lambda: darkfiber.loads(routes, "shift")):
            with self.assertRaises(darkfiber.Error) as raised:
                call()
            self.assertIn("has 2", str(raised.exception))
            self.assertIn("plane=1", raised.exception.hint)
        one = darkfiber.Fabric("kary:k=4,n=2,planes=2", plane=1)
        self.assertIn("ebb", darkfiber.measure(darkfiber.route(one, "minhop"), ["ebb"], samples=5))

    def test_standard_input_is_left_to_the_program(self):
        fabric = darkfiber.Fabric("kary:k=4,n=2")
        for call in (
            lambda: darkfiber.Fabric("-"),
            lambda: darkfiber.Fabric("kary:k=4,n=2", fail=["-"]),
            lambda: darkfiber.read_tables(fabric, "-"),
            lambda: darkfiber.Scenario.read("-"),
            lambda: darkfiber.Study.read("-"),
        ):
            with self.assertRaises(darkfiber.Error) as raised:
                call()
            self.assertIn("standard input", str(raised.exception))

    def test_files_and_lines_are_named(self):
        path = ROOT / "target" / "python-test.toml"
        path.parent.mkdir(exist_ok=True)
        path.write_text('fabric = "kary:k=4,n=2"\n[routes]\nengine = "nothing"\n')
        self.addCleanup(path.unlink)
        with self.assertRaises(darkfiber.Error) as raised:
            darkfiber.Scenario.read(path)
        error = raised.exception
        self.assertEqual((error.file, error.line, error.kind), (str(path), 3, "input"))
        self.assertIn(str(error), self.failed("simulate", str(path)))
        if sys.version_info >= (3, 11):
            self.assertIn(f"hint: {error.hint}", error.__notes__)

    def test_what_is_no_fabric_is_explained(self):
        with self.assertRaises(darkfiber.Error) as raised:
            darkfiber.Fabric(ROOT / "examples/incast.toml")
        error = raised.exception
        self.assertTrue(error.file and error.file.endswith("incast.toml"), error.file)
        self.assertIn(str(error), self.failed("fabric", str(ROOT / "examples/incast.toml")))

    def test_files_that_are_not_there_are_named(self):
        fabric = darkfiber.Fabric("kary:k=4,n=2")
        with self.assertRaises(darkfiber.Error) as raised:
            darkfiber.read_tables(fabric, "nothing.dump")
        self.assertEqual(raised.exception.file, "nothing.dump")

    def test_refusals_are_infeasible(self):
        with self.assertRaises(darkfiber.Error) as raised:
            darkfiber.route(darkfiber.Fabric("@slimfly-eth"), "torus")
        self.assertEqual(raised.exception.kind, "infeasible")

    def test_values_that_make_no_sense(self):
        fabric = darkfiber.Fabric("kary:k=4,n=2")
        routes = darkfiber.route(fabric, "ftree")
        endless = []
        endless.append(endless)
        for call in (
            lambda: darkfiber.route(fabric, "ftree", lanes=0),
            lambda: darkfiber.route(fabric, "ftree", lanes=16),
            lambda: darkfiber.route(fabric, "ftree", lmc=8),
            lambda: darkfiber.route(fabric, "ftree", layer_by="colour"),
            lambda: darkfiber.route(fabric, "sar", jobs=[[99]]),
            lambda: darkfiber.route(fabric, "ftree,minhop"),
            lambda: darkfiber.measure(routes, ["nothing"]),
            lambda: darkfiber.measure(routes, patterns=["nothing"]),
            lambda: darkfiber.measure(routes, ["ebb"], samples=0),
            lambda: darkfiber.measure(routes, ["ebb"], precision=-1),
            lambda: darkfiber.measure(routes, ["ebb"], precision=float("nan")),
            lambda: darkfiber.loads(routes, "shift", among=[0, 99]),
            lambda: darkfiber.loads(routes, "shift", among=[0, 0]),
            lambda: routes.path(0, 99),
            lambda: routes.layer(99, 0),
            lambda: darkfiber.Fabric("-"),
            lambda: darkfiber.Fabric("kary:k=4,n=2", fail_percent=float("nan")),
            lambda: darkfiber.Fabric("kary:k=4,n=2", fail_percent=101),
            lambda: darkfiber.Fabric("kary:k=4,n=2", fail_links=10_000),
            lambda: darkfiber.Fabric("kary:k=4,n=2", plane=2),
            lambda: darkfiber.Fabric("nothing-is-called-so.topo"),
            lambda: darkfiber.Scenario("fabric = 7"),
            lambda: darkfiber.Scenario("", set={"fabric": ["a", "b"]}),
            lambda: darkfiber.Scenario("", set={"fabric": None}),
            lambda: darkfiber.route(fabric, "ftree", lanes=-1),
            lambda: darkfiber.route(fabric, "ftree", lmc=10**30),
            lambda: darkfiber.Fabric("kary:k=4,n=2", hosts_per_switch=256),
            lambda: darkfiber.Fabric("kary:k=4,n=2", fail_links=1, fail_percent=5),
            lambda: darkfiber.measure(routes, ["ebb"], ["ebb"]),
            lambda: darkfiber.from_ports(fabric, [[1, 2], [3]]),
            lambda: routes.path(-1, 2),
            lambda: darkfiber.Study("fabric = [1, 2]").run(),
            lambda: darkfiber.read_tables(fabric, "nothing"),
            lambda: darkfiber.loads(routes, "shift", among=[]),
            lambda: darkfiber.Scenario("", set={"seed": endless}),
            lambda: darkfiber.Scenario("", set={"routes": {"a": endless}}),
            lambda: darkfiber.from_ports(fabric, np.full(routes.ports().shape, 2**64 - 1, np.uint64)),
        ):
            with self.assertRaises(darkfiber.Error) as raised:
                call()
            self.assertNotEqual(raised.exception.kind, "bug", raised.exception)
            self.assertTrue(str(raised.exception))
        class Three:
            def __index__(self):
                return 3

        self.assertEqual(routes.path(Three(), 0).tolist(), routes.path(3, 0).tolist())
        for call in (
            lambda: darkfiber.Fabric(7),
            lambda: darkfiber.route(fabric, 7),
            lambda: darkfiber.check(fabric),
            lambda: darkfiber.route(fabric, "ftree", lanes=1.5),
        ):
            with self.assertRaises(TypeError):
                call()


class Manners(unittest.TestCase):
    def test_nothing_prints(self):
        text = """
            import darkfiber
            fabric = darkfiber.Fabric("tests/data/fabrics/ufm_small_topo_file.txt")
            for engine in ("minhop", "dfsssp"):
                darkfiber.check(darkfiber.route(fabric, engine))
            darkfiber.Scenario.read("examples/incast.toml").run()
            darkfiber.Study.read("examples/studies/faults.toml").run()
            try:
                darkfiber.Fabric("nothing")
            except darkfiber.Error:
                pass
        """
        python = in_python(text)
        out, err = python.communicate(timeout=120)
        self.assertEqual((python.returncode, out, err), (0, "", ""))

    def test_other_threads_go_on(self):
        fabric = darkfiber.Fabric("hyperx:dims=12x10,t=6")
        counted, done = 0, threading.Event()

        def work():
            darkfiber.check(darkfiber.route(fabric, "dfsssp"))
            done.set()

        thread = threading.Thread(target=work)
        begin = time.monotonic()
        thread.start()
        while not done.is_set():
            counted += 1
            time.sleep(0.001)
        seconds = time.monotonic() - begin
        thread.join()
        # With the lock held it would count to 1 or 2.
        self.assertGreater(counted, 10 if seconds > 0.1 else 1)

    def test_ctrl_c_ends_long_calls(self):
        for call in (
            'darkfiber.route(darkfiber.Fabric("torus:dims=16x16x16,t=1"), "dfsssp")',
            'darkfiber.Scenario.read("examples/incast.toml").run(depth="packet")',
            "import os; os.path.exists(pipe) or os.mkfifo(pipe); darkfiber.Scenario.read(pipe)",
            'darkfiber.Study(open("examples/studies/faults.toml").read(), set={"fail-percent": "1,2,3,4,5,6,7,8,9"}, seed=1).run()',
        ):
            with self.subTest(call):
                python = in_python(
                    f"""
                    import os, darkfiber
                    pipe = f"target/python-test-{{os.getpid()}}"
                    print("begun", flush=True)
                    try:
                        while True:
                            {call}
                    except KeyboardInterrupt:
                        print("interrupted", flush=True)
                        os._exit(0)
                    """
                )
                self.assertEqual(python.stdout.readline(), "begun\n")
                time.sleep(0.3)
                begin = time.monotonic()
                python.send_signal(signal.SIGINT)
                out, err = python.communicate(timeout=60)
                self.assertEqual((out, err), ("interrupted\n", ""))
                self.assertLess(time.monotonic() - begin, 10)

    def test_ctrl_c_is_never_part_of_an_error(self):
        class Interrupted(collections.abc.Mapping):
            """Its items end with a signal that waits for the next look: the list is made without one."""

            __len__ = __iter__ = __getitem__ = None

            def items(self):
                return itertools.chain([("fail-percent", "1,2,3")], iter(_thread.interrupt_main, None))

        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            with self.assertRaises(KeyboardInterrupt):
                darkfiber.Study.read(ROOT / "examples/studies/faults.toml", set=Interrupted())
        finally:
            signal.signal(signal.SIGINT, before)

    def test_an_interrupted_call_stops_working(self):
        for prepare, call in (
            (
                'scenario = darkfiber.Scenario.read("examples/incast.toml", set={"job.1.traffic": "imb:op=alltoall,bytes=1MiB,repeat=100000"})',
                'scenario.run(depth="packet")',
            ),
            ('torus = darkfiber.Fabric("torus:dims=20x20x20,t=1")', 'darkfiber.route(torus, "dfsssp", lanes=15)'),
            ('routes = darkfiber.route(darkfiber.Fabric("dragonfly:p=8,a=16,h=8"), "minhop")', 'while True: darkfiber.check(routes)'),
            (
                'routes = darkfiber.route(darkfiber.Fabric("dragonfly:p=4,a=8,h=4"), "minhop")',
                'darkfiber.loads(routes, "permutation", samples=10**7)',
            ),
        ):
            with self.subTest(call):
                python = in_python(
                    f"""
                    import os, threading, time, darkfiber
                    {prepare}
                    print("begun", flush=True)
                    try:
                        {call}
                    except KeyboardInterrupt:
                        time.sleep(1)
                        before = time.process_time()
                        time.sleep(1)
                        print(time.process_time() - before < 0.5, flush=True)
                        os._exit(0)
                    """
                )
                self.assertEqual(python.stdout.readline(), "begun\n")
                time.sleep(1)
                self.assertIsNone(python.poll(), "it runs for long")
                python.send_signal(signal.SIGINT)
                out, err = python.communicate(timeout=60)
                self.assertEqual((out, err), ("True\n", ""))

    def test_stubs_name_what_there_is(self):
        stubs = ast.parse((HERE.parent / "darkfiber.pyi").read_text())
        named = {}
        for node in stubs.body:
            if isinstance(node, ast.ClassDef):
                inner = [n for n in node.body if isinstance(n, (ast.FunctionDef, ast.AnnAssign))]
                names = {n.name if isinstance(n, ast.FunctionDef) else n.target.id for n in inner}
                named[node.name] = {n for n in names if not n.startswith("_")}
            elif isinstance(node, ast.FunctionDef):
                named[node.name] = {a.arg for a in node.args.args + node.args.kwonlyargs}
        there = {name for name in vars(darkfiber) if not name.startswith("_")} - {"darkfiber"}
        self.assertEqual(set(named), there)
        for name, inner in named.items():
            of = getattr(darkfiber, name)
            if isinstance(of, type):
                own = {n for n in vars(of) if not n.startswith("_")}
                self.assertEqual(inner, own, name)
                self.assertTrue(of.__doc__, name)
                for member in own:
                    doc = getattr(getattr(of, member), "__doc__", None)
                    self.assertTrue(doc or name == "Error", f"{name}.{member}")
            else:
                text = of.__text_signature__
                for argument in inner:
                    self.assertIn(argument, text, name)
                self.assertTrue(of.__doc__, name)


if __name__ == "__main__":
    unittest.main()
