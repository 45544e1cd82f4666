//! `darkfiber framing`, and frames in `darkfiber load` and scenarios.

use insta::assert_snapshot;

use crate::{folder, run, run_in};

#[test]
fn headers_and_what_they_leave() {
    let found = run("framing -q");
    assert_eq!(found.code, 0);
    assert_snapshot!(found.out, @r"
    bytes                        ethernet  roce  slingshot  slingshot-ip  slingshot-ethernet
    ---------------------------- --------- ----- ---------- ------------- -------------------
    preamble and start of frame         8     8          8             8                   8
    Ethernet addresses and type        14    14         14             -                  14
    IPv4                                -    20         20            20                   -
    UDP                                 -     8          8             8                   -
    InfiniBand transport                -    14         14            14                   -
    RoCEv2 CRC                          -     4          4             4                   -
    Ethernet frame check                4     4          4             4                   4
    headers in all                     26    72         72            58                  26
      as printed                        -    62         62             -                   -
    minimum frame                      64    64         32            32                  32
    gap                                12    12          0             0                   0

    What of a channel carries data, in %, in packets with at most 4.00 KiB of it:
    message               ethernet   roce  slingshot  slingshot-ip  slingshot-ethernet
    --------------------- --------- ------ ---------- ------------- -------------------
    8.00 B                    9.52   8.70      10.00         12.12               20.00
    64.0 B                   62.75  43.24      47.06         52.46               71.11
    256 B                    87.07  75.29      78.05         81.53               90.78
    1.00 KiB                 96.42  92.42      93.43         94.64               97.52
    4.00 KiB                 99.08  97.99      98.27         98.60               99.37
      by the printed sum         -  98.23      98.51             -                   -
    64.0 KiB                 99.08  97.99      98.27         98.60               99.37
    1.00 MiB                 99.08  97.99      98.27         98.60               99.37
    ");
}

#[test]
fn names_and_sizes_are_checked() {
    let wrong = |line: &str| {
        let run = run(line);
        assert_eq!(run.code, 2, "{line}");
        run.err
    };
    assert_snapshot!(wrong("framing rose"), @"
    error: no framing is called 'rose'
    hint: did you mean roce?
    ");
    assert_snapshot!(wrong("framing --packet 0"), @"
    error: --packet: no data goes into packets of 0 B
    hint: 4KiB is what RoCE sends at most
    ");
    assert!(wrong("framing -b many").contains("--bytes"));
    let load = "load hyperx:dims=1,t=2 --switches rosetta --framing roece";
    assert!(wrong(load).contains("did you mean roce?"));
}

/// The throughput of a full load agrees with the calculator.
#[test]
fn a_full_load_is_as_efficient_as_its_frames() {
    let line = "load hyperx:dims=1,t=2,gbps=200 -r minimal --pattern shift:by=1 --switches rosetta --packet 512 --loads 1.0 \
                --warmup 50us --measure 100us --framing roce --format json -q";
    let found = run_in(folder(&[]).path(), line).json();
    let accepted = found["curves"][0]["points"][0]["accepted"].as_f64().expect("a number");
    let framing = run("framing roce -b 512 --format json").json();
    let efficiency = framing["framings"][0]["messages"][0]["efficiency"].as_f64().expect("one");
    assert!((efficiency - 512.0 / 596.0).abs() < 1e-12);
    assert!((accepted / efficiency - 1.0).abs() < 0.005, "{accepted}, not {efficiency}");
}

/// A scenario with frames takes longer by them; hosts' efficiency does not count twice.
#[test]
fn scenarios_have_frames() {
    let scenario = |framing: &str| {
        format!(
            "fabric = \"hyperx:dims=1,t=2,gbps=100\"\ndepth = \"packet\"\nhosts = \"slingshot\"\n[routes]\nengine = \"minhop\"\n\
             [packets]\nswitches = \"rosetta\"\nsize = \"4KiB\"\nrouting = \"minimal\"\n{framing}\n[[job]]\n\
             traffic = \"mpigraph:bytes=4MiB\"\n"
        )
    };
    let files = [("roce", scenario("framing = \"roce\"")), ("wrong", scenario("framing = \"x\""))];
    let files = files.each_ref().map(|(name, text)| (*name, text.as_str()));
    let dir = folder(&files);
    let found = run_in(dir.path(), "simulate roce --format json -q");
    assert_eq!(found.code, 0, "{}", found.err);
    let seconds = found.json()["seconds"].as_f64().expect("seconds");
    // 1,024 packets of 4,180 B at 12.5 GB/s, and a few microseconds.
    let frames = 1024.0 * 4180.0 / 12.5e9;
    assert!(seconds > frames && seconds < frames + 5e-6, "{seconds}, not {frames}");
    let wrong = run_in(dir.path(), "simulate wrong -q");
    assert_eq!(wrong.code, 3, "the scenario is what is wrong");
    assert!(wrong.err.contains("no framing is called 'x'"), "{}", wrong.err);
}
