"""Packets compared with CAMINOS on the dragonfly of 1,056 hosts: its own adaptive routing, minimal paths only, Valiant paths only.

Its Basic router and `caminos-basic` have no router delay, 256 phits of buffer for each lane, and output buffers of 32.
"""

import re

from runs import output

CONFIG = """Configuration {{
    random_seed: 1, warmup: {warmup}, measured: {measured},
    topology: Dragonfly {{ global_ports_per_router: 4, servers_per_router: 4, group_size: 8, number_of_groups: 33,
        global_arrangement: Palmtree }},
    traffic: HomogeneousTraffic {{ pattern: Uniform, servers: 1056, load: {load}, message_size: {flits} }},
    maximum_packet_size: {flits},
    router: Basic {{ virtual_channels: 6, virtual_channel_policies: [ EnforceFlowControl, Hops, {weigh}Random ],
        delay: 0, buffer_size: 256, bubble: false, flit_size: {flits}, intransit_priority: false, allow_request_busy_port: true,
        output_buffer_size: {output}, output_prioritize_lowest_label: false }},
    routing: {routing},
    link_classes: [ LinkClass {{ delay: 10 }}, LinkClass {{ delay: 100 }}, LinkClass {{ delay: 1 }}, LinkClass {{ delay: 1 }} ],
    launch_configurations: [],
}}
"""
ROUND = "Valiant4Dragonfly { first: Shortest, second: Shortest, local_missrouting: false, dragonfly_bypass: true }"
ADAPTIVE = ("Sum {{ policy: Stubborn, first_routing: Shortest, second_routing: " + ROUND.replace("{", "{{").replace("}", "}}") +
            ", first_allowed_virtual_channels: [0,1,2,3,4,5], second_allowed_virtual_channels: [0,1,2,3,4,5], "
            "first_extra_label: 0, second_extra_label: {extra} }}")


def theirs(runs, caminos, name, routing, weigh, load, flits, output_buffer=32, cycles=(1500, 1500)):
    config = CONFIG.format(warmup=cycles[0], measured=cycles[1], load=load, flits=flits, routing=routing, weigh=weigh,
                           output=output_buffer)

    def run():
        said = output([caminos, runs.file("caminos.cfg", config)], cwd=runs.work)
        said = re.sub(r"[\n\t]+", " ", said)

        def value(what):
            found = re.findall(rf"{what}\"?: *([0-9.e+-]+)", said)
            return float(found[-1]) if found else None

        return {"mean": value("average_message_delay"), "network": value("average_packet_network_delay"),
                "hops": value("average_packet_hops"), "accepted": value("accepted_load")}

    return runs.once(f"CAMINOS {name} {load} {flits}", config, run)


# Name, routing of CAMINOS, its weighing of candidates, routing of darkfiber.
def cases():
    def weigh(more, extra=0):
        return (f"LowestSinghWeight {{ extra_congestion: {extra}, extra_distance: 0, aggregate: true, use_internal_space: true, "
                f"use_neighbour_space: {more} }}, ")

    adaptive = ADAPTIVE.format(extra=0)
    return [
        ("`Shortest`, `minimal`", "Shortest", "", "minimal"),
        ("`Valiant4Dragonfly`, `valiant`", ROUND, "", "valiant"),
        ("UGAL as given, `ugal`", adaptive, weigh("true"), "ugal"),
        ("UGAL with 16 phits more, `ugal`", adaptive, weigh("true", 16), "ugal"),
        ("UGAL without what the next switch has not acknowledged, `ugal`", adaptive, weigh("false"), "ugal"),
    ]


def rows(runs, peer):
    """A row for each routing, load and length: results of CAMINOS and of darkfiber."""
    for name, routing, weigh, mine in cases():
        for flits, load in ((1, 0.5), (16, 0.2), (16, 0.5)):
            if mine == "valiant" and load > 0.4:
                load = 0.3
            them = theirs(runs, peer, name, routing, weigh, load, flits)
            us = runs.saturate(f"dragonfly:p=4,a=8,h=4 -r {mine} --switches caminos-basic --vcs 6 --cable 10ns --global-cable 100ns "
                               f"--packet {flits} --loads {load} --warmup 3000ns --measure 3000ns")
            yield name, load, flits, them, us
