//! Fabrics: read from a file, or made from a preset or a spec.

use std::path::PathBuf;
use std::sync::Arc;

use darkfiber_fabric::{AtPort, ChannelId, Fabric as Network, Role, Shape, SwitchId, TerminalId};
use darkfiber_scenario::fabric::{FabricSource, load};
use darkfiber_scenario::{Error as ScenarioError, Loaded};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::columns::Columns;
use crate::error::raised;
use crate::long::long;
use crate::map;
use crate::numbers::Whole;
use crate::remarks::Remarks;
use crate::standard_input;
use crate::table::Table;
use crate::text::printable;
use crate::view::view;

/// A network: switches, hosts, cables.
///
/// `name` is a file (whose format is recognised), a preset (`@t2hx-hyperx`) or a generator's spec (`kary:k=4,n=2`), as on the
/// command line.
/// Switches, terminals (ports of hosts) and channels (directions of cables between switches) are numbered from 0.
#[pyclass(frozen, module = "darkfiber")]
pub(crate) struct Fabric {
    pub(crate) loaded: Arc<Loaded>,
    remarks: Vec<String>,
    errors: Vec<String>,
}

impl Fabric {
    /// A fabric that was loaded already.
    pub(crate) fn of(loaded: Arc<Loaded>, remarks: Remarks) -> Self {
        Self { loaded, remarks: remarks.read, errors: remarks.errors }
    }

    /// The network as data.
    pub(crate) fn network(&self) -> &Network {
        &self.loaded.topology.fabric
    }

    fn shape_of(&self) -> Option<&Shape> {
        self.loaded.topology.shape.as_ref()
    }
}

#[pymethods]
impl Fabric {
    #[new]
    #[pyo3(signature = (name, *, node_name_map = None, compute = None, storage = None, plane = None, fail_links = None,
        fail_percent = None, fail = None, hosts_per_switch = Whole(1), seed = Whole(1)),
        text_signature = "(name, *, node_name_map=None, compute=None, storage=None, plane=None, fail_links=None, fail_percent=None, \
            fail=None, hosts_per_switch=1, seed=1)")]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn new(
        py: Python<'_>,
        name: PathBuf,
        node_name_map: Option<PathBuf>,
        compute: Option<PathBuf>,
        storage: Option<PathBuf>,
        plane: Option<Whole<usize>>,
        fail_links: Option<Whole<usize>>,
        fail_percent: Option<f64>,
        fail: Option<Vec<PathBuf>>,
        hosts_per_switch: Whole<u8>,
        seed: Whole<u64>,
    ) -> PyResult<Self> {
        let lists = [&node_name_map, &compute, &storage].into_iter().flatten();
        let failed = fail.iter().flatten();
        standard_input::refuse_any(std::iter::once(&name).chain(lists).chain(failed))
            .map_err(|error| raised(py, &error))?;
        let text = |path: PathBuf| path.to_string_lossy().into_owned();
        let name = text(name);
        if let Some(percent) = fail_percent.filter(|p| !(0.0..=100.0).contains(p)) {
            let error = ScenarioError::usage(format!("fail_percent is {percent}"));
            return Err(raised(py, &error.hint("expected 0 to 100")));
        }
        if fail_links.is_some() && fail_percent.is_some() {
            let error = ScenarioError::usage("fail_links and fail_percent cannot be used together");
            return Err(raised(py, &error.hint("give one of them")));
        }
        let source = FabricSource {
            name,
            node_name_map,
            compute: compute.map(text),
            storage: storage.map(text),
            plane: plane.map(|plane| plane.0),
            fail_links: fail_links.map(|links| links.0),
            fail_percent,
            fail: fail.unwrap_or_default().into_iter().map(text).collect(),
            symbol_errors: None,
            hosts_per_switch: hosts_per_switch.0,
            seed: seed.0,
        };
        long(py, move |_| {
            let mut remarks = Remarks::default();
            let loaded = Arc::new(load(&source, &mut remarks)?);
            Ok(Self::of(loaded, remarks))
        })
    }

    /// What it is called.
    #[getter]
    fn name(&self) -> &str {
        self.network().name()
    }

    /// What it is (a tree of levels, a HyperX, ...), or None where nobody knows.
    #[getter]
    fn shape(&self) -> Option<String> {
        self.shape_of().map(Shape::summary)
    }

    /// What readers had to say about the input, a line each.
    #[getter]
    fn remarks(&self) -> Vec<String> {
        self.remarks.clone()
    }

    /// Those of the remarks that are errors: the input contradicts itself, or was cut short, so that something may be missing.
    #[getter]
    fn errors(&self) -> Vec<String> {
        self.errors.clone()
    }

    /// Switches.
    #[getter]
    fn switch_count(&self) -> usize {
        self.network().switch_count()
    }

    /// Hosts.
    #[getter]
    fn host_count(&self) -> usize {
        self.network().host_count()
    }

    /// Terminals: ports of hosts that are linked.
    #[getter]
    fn terminal_count(&self) -> usize {
        self.network().terminal_count()
    }

    /// Channels between switches, two for each cable.
    #[getter]
    fn channel_count(&self) -> usize {
        self.network().channel_count()
    }

    /// Cables between switches.
    #[getter]
    fn switch_link_count(&self) -> usize {
        self.network().switch_link_count()
    }

    /// Counts of `darkfiber fabric --format json`, with the same keys; that has roles, link classes and findings, too.
    fn facts<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyDict>> {
        let py = slf.py();
        let loaded = Arc::clone(&slf.get().loaded);
        let (components, diameter) = long(py, move |_| {
            let network = &loaded.topology.fabric;
            Ok((network.components().len(), darkfiber_analysis::diameter(network)))
        })?;
        let network = slf.get().network();
        let facts = PyDict::new(py);
        facts.set_item("name", network.name())?;
        facts.set_item("shape", slf.get().shape())?;
        facts.set_item("switches", network.switch_count())?;
        facts.set_item("terminals", network.terminal_count())?;
        facts.set_item("compute_terminals", network.compute_terminal_count())?;
        facts.set_item("hosts", network.host_count())?;
        facts.set_item("switch_links", network.switch_link_count())?;
        facts.set_item("links", network.link_count())?;
        facts.set_item("components", components)?;
        facts.set_item("diameter", diameter)?;
        Ok(facts)
    }

    /// Names of the hosts.
    #[getter]
    fn hosts(&self) -> Vec<&str> {
        self.network().hosts().iter().map(|host| host.name.as_str()).collect()
    }

    /// Names of the switches, each once: descriptions, or GUIDs where these are shared.
    #[getter]
    fn switch_names(&self) -> Vec<String> {
        let names = darkfiber_analysis::Names::new(self.network());
        (0..self.network().switch_count()).map(|s| names.switch(SwitchId::new(s))).collect()
    }

    /// The switches: name, GUID, number of ports.
    #[getter]
    fn switches(&self, py: Python<'_>) -> PyResult<Table> {
        let all = self.network().switches();
        let columns = Columns::default()
            .text("name", self.switch_names())
            .text("guid", all.iter().map(|s| s.guid.to_string()))
            .whole("ports", all.iter().map(|s| u64::from(s.ports)));
        Table::of(py, columns)
    }

    /// The terminals: host, switch, port of the switch, GUID, what it is for.
    #[getter]
    fn terminals(&self, py: Python<'_>) -> PyResult<Table> {
        let network = self.network();
        let (all, hosts) = (network.terminals(), network.hosts());
        let host = |t: usize| hosts[network.host_of(TerminalId::new(t)).index()].name.as_str();
        let role = |role: Role| match role {
            Role::Compute => "compute",
            Role::Storage => "storage",
            Role::Other => "other",
            Role::Aggregation => "aggregation",
        };
        let columns = Columns::default()
            .text("host", (0..all.len()).map(host))
            .whole("switch", all.iter().map(|t| u64::from(t.switch.0)))
            .whole("switch_port", all.iter().map(|t| u64::from(t.switch_port)))
            .text("guid", all.iter().map(|t| t.guid.to_string()))
            .text("role", all.iter().map(|t| role(t.role)));
        Table::of(py, columns)
    }

    /// The channels between switches: both ends, the opposite channel, bytes a second.
    #[getter]
    fn channels(&self, py: Python<'_>) -> PyResult<Table> {
        let network = self.network();
        let all = || (0..network.channel_count()).map(ChannelId::new);
        let columns = Columns::default()
            .whole("tail", network.tails().iter().map(|&s| u64::from(s)))
            .whole("tail_port", network.tail_ports().iter().map(|&p| u64::from(p)))
            .whole("head", network.heads().iter().map(|&s| u64::from(s)))
            .whole("head_port", all().map(|c| u64::from(network.head_port(c))))
            .whole("reverse", network.reverses().iter().map(|&c| u64::from(c)))
            .whole("bytes_per_second", all().map(|c| network.class_of(c).bytes_per_second));
        Table::of(py, columns)
    }

    /// The switch that each channel leaves, a view.
    #[getter]
    fn tails<'py>(slf: &Bound<'py, Self>) -> Bound<'py, PyArray1<u32>> {
        view(slf, |fabric| fabric.network().tails())
    }

    /// The switch that each channel leads to, a view.
    #[getter]
    fn heads<'py>(slf: &Bound<'py, Self>) -> Bound<'py, PyArray1<u32>> {
        view(slf, |fabric| fabric.network().heads())
    }

    /// The port by which each channel leaves its switch, a view.
    #[getter]
    fn tail_ports<'py>(slf: &Bound<'py, Self>) -> Bound<'py, PyArray1<u8>> {
        view(slf, |fabric| fabric.network().tail_ports())
    }

    /// The opposite direction of each channel, a view.
    #[getter]
    fn reverses<'py>(slf: &Bound<'py, Self>) -> Bound<'py, PyArray1<u32>> {
        view(slf, |fabric| fabric.network().reverses())
    }

    /// Channels of switch `s` are `channel_starts[s]` to `channel_starts[s + 1]`, a view.
    #[getter]
    fn channel_starts<'py>(slf: &Bound<'py, Self>) -> Bound<'py, PyArray1<u32>> {
        view(slf, |fabric| fabric.network().channel_starts())
    }

    /// The switch of each terminal.
    #[getter]
    fn terminal_switches<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        let switches = self.network().terminals().iter().map(|t| t.switch.0).collect();
        PyArray1::from_vec(py, switches)
    }

    /// The channel that leaves a port of a switch, or None.
    fn channel_at(&self, switch: Whole<u64>, port: Whole<u64>) -> Option<u32> {
        let switch = usize::try_from(switch.0).ok()?;
        let port = u8::try_from(port.0).ok()?;
        if switch >= self.network().switch_count() {
            return None;
        }
        match self.network().at_port(SwitchId::new(switch), port) {
            AtPort::Switch(channel, _) => Some(channel.0),
            _ => None,
        }
    }

    /// The map as a picture (SVG).
    fn map(slf: &Bound<'_, Self>) -> PyResult<String> {
        map::of_fabric(slf.py(), &slf.get().loaded)
    }

    fn _repr_html_(slf: &Bound<'_, Self>) -> PyResult<String> {
        Self::map(slf)
    }

    fn __repr__(&self) -> String {
        let network = self.network();
        printable(&format!(
            "<darkfiber.Fabric {}: {} switches, {} hosts, {} cables between switches>",
            network.name(),
            network.switch_count(),
            network.host_count(),
            network.switch_link_count()
        ))
    }
}
