"""Track the distribution of the ratios over robots of all kinds, as `treefactor bench --all` has them."""

from __future__ import annotations

from itertools import product

from treefactor.bench.comparisons import all_robots

ROBOTS = (  # arm, hand, mobile manipulators, quadrupeds, humanoids without and with hands
    *("ur5_robot", "panda", "allegro_right_hand", "tiago", "tiago_dual", "solo12", "anymal-kinova"),
    *("talos_reduced", "talos_full_v2", "g1_29dof_with_hand_rev_1_0"),
)
WHICH = ("median robot", "slowest robot")


class SeveralRobots:
    params = ([f"{what}: {which}" for what, which in product(all_robots.TITLES, WHICH)],)
    param_names = ("combination",)

    def setup_cache(self):
        shares = {}
        for one in all_robots.distributions(all_robots.measure(ROBOTS)):
            shares[f"{one.what}: {WHICH[0]}"] = 1.0 / one.median
            shares[f"{one.what}: {WHICH[1]}"] = 1.0 / one.least
        return shares

    def track_share(self, shares, name):
        return shares[name]

    track_share.pretty_name = f"Distribution over {len(ROBOTS)} robots"
    track_share.unit = "of Pinocchio's time"
