"""Writes the results as markdown."""

import datetime

import booksim
import caminos
import collectives
import flows
import schedules


def sections(runs, args):
    """Title and lines of each section of docs/validation.md."""
    today = f"{datetime.date.today():%d %B %Y}".lstrip("0")
    yield "booksim", table(args.booksim, "BookSim2", today, lambda: beside_booksim(runs, args.booksim))
    yield "caminos", table(args.caminos, "CAMINOS", today, lambda: beside_caminos(runs, args.caminos))
    ready = args.simgrid and args.examples
    yield "simgrid", table(ready, "SimGrid", today,
                           lambda: beside_simgrid(runs, f"{args.examples}/flow_problem", args.simgrid))
    ready = args.loggopsim and args.examples
    yield "loggopsim", table(ready, "LogGOPSim", today,
                             lambda: beside_loggopsim(runs, f"{args.examples}/play", args.loggopsim))
    yield "astrasim", table(args.astrasim, "ASTRA-sim", today, lambda: beside_astrasim(runs, args.astrasim))


def table(is_here, peer, today, lines):
    if not is_here:
        return [f"**{peer} was not there on {today}: its rows are missing.**"]
    return [f"{today}:", "", *lines()]


def off(us, them):
    """The relative difference of ours from theirs, in percent."""
    return f"{100 * (us / them - 1):+.1f} %" if them else "?"


def number(x):
    return "?" if x is None else f"{x:.3g}" if x < 1 else f"{x:,.1f}"


def beside_booksim(runs, peer):
    yield "| network, routing | flits | load | BookSim2: latency, switches, accepted | whole packets | off | `--interleave flits` | off |"
    yield "|---|--:|--:|---|---|--:|---|--:|"
    for case, load, flits, them, us in booksim.rows(runs, peer, ("", " --interleave flits")):
        cells = [case.name, str(flits), str(load), triple(them, "") if them["mean"] else "saturated"]
        for i, ours in enumerate(us):
            if i and flits == 1:
                cells += ["", ""]
                continue
            cells += [triple(ours, " (saturated)" if ours["saturated"] else ""), off(ours["mean"], them["mean"])]
        yield f"| {' | '.join(cells)} |"


def triple(result, more):
    return f"{number(result['mean'])}, {result['hops']:.3f}, {result['accepted']:.3f}{more}"


def beside_caminos(runs, peer):
    yield "| routing: theirs, ours | flits | load | CAMINOS: latency, switches, accepted | darkfiber | off |"
    yield "|---|--:|--:|---|---|--:|"
    for name, load, flits, them, us in caminos.rows(runs, peer):
        them = {**them, "hops": them["hops"] + 1}
        yield f"| {name} | {flits} | {load} | {triple(them, '')} | {triple(us, '')} | {off(us['mean'], them['mean'])} |"


def beside_simgrid(runs, problem, peer):
    yield "| fabric, engine | traffic | flows | SimGrid: last end, s | darkfiber | ends differ at most, by the longer |"
    yield "|---|---|--:|--:|--:|--:|"
    for fabric, engine, traffic, found in flows.rows(runs, problem, peer):
        yield (f"| `{fabric}`, {engine} | {traffic} | {found['flows']:,} | {found['theirs']:.6f} | {found['ours']:.6f} | "
               f"{found['most']:.1e} |")


def beside_loggopsim(runs, play, tools):
    yield "| schedule | ranks | LogGOPSim: end, us | darkfiber | off | LogGOPSim with G = 0 | darkfiber | off |"
    yield "|---|--:|--:|--:|--:|--:|--:|--:|"
    for kind, ranks, rounds, found in schedules.rows(runs, play, tools):
        more = f", {rounds} rounds" if rounds > 1 else ""
        cells = []
        for f in found:
            cells += [f"{f['theirs'] / 1000:,.3f}", f"{f['ours'] / 1000:,.3f}", off(f["ours"], f["theirs"])]
        yield f"| `{kind}`{more} | {ranks} | {' | '.join(cells)} |"


def beside_astrasim(runs, folder):
    yield "| network | collective, algorithm | NPUs | ASTRA-sim, congestion aware: end, ns | unaware | darkfiber | off, aware | off, unaware |"
    yield "|---|---|--:|--:|--:|--:|--:|--:|"
    for network, collective, algorithm, n, aware, unaware, ours in collectives.rows(runs, folder):
        more = [f"{100 * (ours / them - 1):+.2f} %" for them in (aware, unaware)]
        yield f"| {network} | {collective}, {algorithm} | {n} | {aware:,} | {unaware:,} | {ours:,.1f} | {' | '.join(more)} |"
