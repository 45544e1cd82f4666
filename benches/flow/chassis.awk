# Edges of a dragonfly wired as SimGrid's own of 20 groups of 5 chassis of 20 routers of 5 hosts: routers of a chassis, and those of
# one place in all chassis of a group, are all joined; one cable joins two groups, at their first chassis.
BEGIN {
    for (g = 0; g < 20; g++) for (c = 0; c < 5; c++) for (r = 0; r < 20; r++) {
        me = g "-" c "-" r
        for (n = 0; n < 5; n++) print "host h" me "-" n " " me
        for (q = r + 1; q < 20; q++) print me " " g "-" c "-" q
        for (d = c + 1; d < 5; d++) print me " " g "-" d "-" r
        if (c == 0 && r > g) print me " " r "-0-" g
    }
}
