"""Shortest paths of the dragonfly of 1,056 hosts by number of channels only: hops and latency of a lone packet.

A router draws one of the ports from which the destination is nearer in channels. Paths of three channels may then cross two global
cables: CAMINOS takes them, whereas darkfiber's shortest paths of a dragonfly have one global cable.

    benches/truth/shortest.py
"""

A, H, P = 8, 4, 4
GROUPS = A * H + 1
LOCAL, GLOBAL, HOST = 10, 100, 1


def neighbours():
    """By router, its neighbours and the latency to each: groups are full meshes, with the palm-tree arrangement of global cables."""
    all_ = [[] for _ in range(GROUPS * A)]
    for s, near in enumerate(all_):
        group, r = divmod(s, A)
        near += [(group * A + q, LOCAL) for q in range(A) if q != r]
        for j in range(H):
            cable = r * H + j
            other = A * H - 1 - cable
            near.append(((group + cable + 1) % GROUPS * A + other // H, GLOBAL))
    return all_


def means(near, weight):
    """Mean channels between routers and mean latency of a lone packet of one flit, over paths of the least sum of channel weights."""
    n = len(near)
    channels = latency = 0.0
    # All groups are alike.
    for to in range(A):
        far, order, ring = {to: 0}, [], {0: [to]}
        while ring:
            d = min(ring)
            for s in ring.pop(d):
                if far[s] == d:
                    order.append(s)
                    for t, long in near[s]:
                        if d + weight(long) < far.get(t, 1 << 30):
                            far[t] = d + weight(long)
                            ring.setdefault(far[t], []).append(t)
        found = {to: (0.0, 0.0)}
        for s in dict.fromkeys(order):
            if s != to:
                ways = [(found[t], long) for t, long in near[s] if far[t] + weight(long) == far[s]]
                found[s] = tuple(sum(x) / len(ways) for x in zip(*((c + 1, l + long) for (c, l), long in ways)))
        channels += sum(c for c, _ in found.values())
        latency += sum(l for _, l in found.values())
    return channels / (A * n), latency / (A * n) + 2 * HOST


if __name__ == "__main__":
    for what, weight in (("channels", lambda long: 1), ("cables between groups first", lambda long: 8 if long == GLOBAL else 1)):
        print("shortest by %s: %.4f channels, %.2f cycles" % (what, *means(neighbours(), weight)))
