//! A fabric on ibsim, and OpenSM's `file` engine on it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{self, Command, Stdio};
use std::time::Duration;

use crate::process::{Guarded, finish, wait_for};
use crate::text;
use crate::tools::Tools;

const START: Duration = Duration::from_secs(10);
const SWEEP: Duration = Duration::from_secs(20);

/// ibsim with a fabric that darkfiber wrote; ends with this value.
pub(crate) struct Simulation<'a> {
    tools: &'a Tools,
    /// Folder of scratch files.
    dir: PathBuf,
    /// Name of the private socket.
    socket: String,
    /// ibsim ends when its console does.
    server: Guarded,
}

impl<'a> Simulation<'a> {
    /// Starts ibsim with `routes/fabric.topo`. `name` is unique among the tests of this program.
    pub(crate) fn start(tools: &'a Tools, routes: &Path, dir: PathBuf, name: &str) -> Self {
        fs::create_dir_all(&dir).expect("a directory");
        let topology = text(routes, "fabric.topo");
        let size = Size::of(&topology);
        let socket = format!("darkfiber-{}-{name}", process::id());
        let out = File::create(dir.join("ibsim.out")).expect("a file");
        let mut command = Command::new(&tools.ibsim);
        command
            .args(["-s", "-N", &size.nodes.to_string(), "-S", &size.switches.to_string()])
            .args(["-P", &size.ports.to_string(), "-L", "49151"])
            .arg(routes.join("fabric.topo"))
            .env("IBSIM_SOCKNAME", &socket)
            .stdin(Stdio::piped())
            .stderr(out.try_clone().expect("a handle"))
            .stdout(out);
        let mut server = Guarded::start(&mut command);
        let ready = wait_for(START, || {
            text(&dir, "ibsim.out").contains("simulator ready") || server.ended().is_some()
        });
        let said = text(&dir, "ibsim.out");
        assert!(ready && server.ended().is_none(), "ibsim does not start: {said}");
        Self { tools, dir, socket, server }
    }

    /// A line for the simulator's console.
    pub(crate) fn console(&mut self, line: &str) {
        self.server.say(line);
    }

    /// The words of a command that takes the simulated fabric for a real one.
    pub(crate) fn words(&self, program: &Path) -> [String; 4] {
        [
            "env".to_owned(),
            format!("IBSIM_SOCKNAME={}", self.socket),
            format!("LD_PRELOAD={}", self.tools.umad2sim.display()),
            program.display().to_string(),
        ]
    }

    /// OpenSM as a daemon, with its engine `file` on a file next to the simulation; its log and dumps are in `opensm`.
    pub(crate) fn manage(&self, routes: &Path, lfts: &Path) -> Guarded {
        fs::copy(routes.join("lfts.dump"), lfts).expect("a copy");
        let mut command = self.opensm("opensm", routes);
        command.args(["-R", "file,no_fallback", "-s", "2", "-U"]).arg(lfts);
        self.up(&mut command)
    }

    /// OpenSM as a daemon, with the plugin in a folder and one engine behind it; its log and dumps are in `opensm`.
    pub(crate) fn manage_with_plugin(&self, routes: &Path, plugin: &Path, state: &Path) -> Guarded {
        let conf = format!(
            "event_plugin_name dfosm\nevent_plugin_options socket={0}/plugin.sock,plan={0}/plan,wait_ms=2000\n\
             routing_engine dfosm,updn,no_fallback\nqos TRUE\nsweep_interval 2\n",
            state.display()
        );
        self.manage_with(routes, &conf, plugin)
    }

    /// OpenSM as a daemon, with a configuration and LIDs of `routes`; it finds plugins in a folder.
    pub(crate) fn manage_with(&self, routes: &Path, conf: &str, plugins: &Path) -> Guarded {
        let mut command = self.manager("opensm", routes, conf, plugins);
        self.up(&mut command)
    }

    /// A standby OpenSM on another host; its log is in the folder of that name.
    pub(crate) fn stand_by(
        &self,
        (name, host): (&str, &str),
        routes: &Path,
        conf: &str,
        plugins: &Path,
    ) -> Guarded {
        let mut manager =
            Guarded::start(self.manager(name, routes, conf, plugins).env("SIM_HOST", host));
        let log = self.dir.join(name).join("opensm.log");
        let stands = wait_for(SWEEP, || {
            let log = fs::read_to_string(&log).unwrap_or_default();
            log.contains("Entering STANDBY state") || manager.ended().is_some()
        });
        let log = fs::read_to_string(&log).unwrap_or_default();
        assert!(stands && manager.ended().is_none(), "it does not stand by:\n{log}");
        manager
    }

    /// The command of a configured OpenSM, whose log and dumps are in a folder.
    fn manager(&self, name: &str, routes: &Path, conf: &str, plugins: &Path) -> Command {
        let mut command = self.opensm(name, routes);
        let file = self.dir.join(name).join("opensm.conf");
        fs::write(&file, conf).expect("a file");
        command.env("LD_LIBRARY_PATH", plugins).arg("-F").arg(file);
        command
    }

    /// The command of an OpenSM with LIDs of `routes`, whose log and dumps are in a folder.
    fn opensm(&self, name: &str, routes: &Path) -> Command {
        let cache = self.dir.join(name);
        fs::create_dir_all(&cache).expect("a directory");
        fs::copy(routes.join("guid2lid"), cache.join("guid2lid")).expect("a copy");
        let out = File::create(cache.join("out")).expect("a file");
        let mut command = self.client(&self.tools.opensm);
        command
            .env("OSM_TMP_DIR", &cache)
            .env("OSM_CACHE_DIR", &cache)
            .args(["-e", "-x", "-d", "2"])
            .arg("-f")
            .arg(cache.join("opensm.log"))
            .arg("--dump_files_dir")
            .arg(&cache)
            .stderr(out.try_clone().expect("a handle"))
            .stdout(out);
        command
    }

    /// Starts an OpenSM and waits until the subnet is up.
    fn up(&self, command: &mut Command) -> Guarded {
        let log = self.dir.join("opensm/opensm.log");
        // The log of an earlier one is no answer; it may not exist.
        fs::remove_file(&log).ok();
        let mut manager = Guarded::start(command);
        let up = wait_for(SWEEP, || {
            let log = fs::read_to_string(&log).unwrap_or_default();
            log.contains("SUBNET UP") || manager.ended().is_some()
        });
        let log = fs::read_to_string(&log).unwrap_or_default();
        assert!(up && manager.ended().is_none(), "OpenSM does not start:\n{log}");
        manager
    }

    /// A program that takes the simulated fabric for a real one.
    fn client(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        // A killed process leaves a folder where it ran.
        command
            .current_dir(&self.dir)
            .env("IBSIM_SOCKNAME", &self.socket)
            .env("LD_PRELOAD", &self.tools.umad2sim)
            .stdin(Stdio::null());
        command
    }

    /// One sweep of OpenSM with the tables and LIDs of `routes`; returns the guid2lid that it leaves.
    pub(crate) fn load(&self, routes: &Path, lmc: u8) -> String {
        let cache = self.dir.join("opensm");
        fs::create_dir_all(&cache).expect("a directory");
        fs::copy(routes.join("guid2lid"), cache.join("guid2lid")).expect("a copy");
        let out = File::create(cache.join("out")).expect("a file");
        let mut command = self.client(&self.tools.opensm);
        command
            .env("OSM_TMP_DIR", &cache)
            .env("OSM_CACHE_DIR", &cache)
            // One sweep, LIDs as in guid2lid, and no other engine if the tables are refused.
            .args(["-e", "-o", "-x", "-R", "file,no_fallback", "-l", &lmc.to_string()])
            .arg("-U")
            .arg(routes.join("lfts.dump"))
            .arg("-f")
            .arg(cache.join("opensm.log"))
            .arg("--dump_files_dir")
            .arg(&cache)
            .stderr(out.try_clone().expect("a handle"))
            .stdout(out);
        let mut manager = Guarded::start(&mut command);
        let ended = wait_for(SWEEP, || manager.ended().is_some());
        let log = text(&cache, "opensm.log");
        assert!(
            ended && log.contains("file tables configured") && log.contains("SUBNET UP"),
            "OpenSM does not take the tables:\n{log}"
        );
        text(&cache, "guid2lid")
    }

    /// The forwarding tables of all switches, read from them.
    pub(crate) fn read_back(&self) -> String {
        let out = File::create(self.dir.join("tables")).expect("a file");
        let mut command = self.client(&self.tools.dump_fts);
        command.stdout(out).stderr(Stdio::null());
        assert_eq!(finish(&mut command, SWEEP), Some(0), "dump_fts");
        text(&self.dir, "tables")
    }
}

/// Sizes that ibsim needs in advance, with some headroom.
struct Size {
    nodes: usize,
    switches: usize,
    ports: usize,
}

impl Size {
    fn of(topology: &str) -> Self {
        let mut size = Self { nodes: 16, switches: 16, ports: 64 };
        for line in topology.lines() {
            let switch = line.starts_with("Switch");
            if switch || line.starts_with("Ca") {
                let ports: usize =
                    line.split_whitespace().nth(1).and_then(|n| n.parse().ok()).expect("ports");
                size.nodes += 1;
                size.switches += usize::from(switch);
                size.ports += ports + 1;
            }
        }
        size
    }
}
