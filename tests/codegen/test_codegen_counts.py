"""Check operation counts of programs: exact values, below Pinocchio + CasADi, within published counts."""

from statistics import median

import pytest
from helpers.codegen_models import model

from treefactor import OperationCount
from treefactor.codegen import generate

COUNTS = {  # mul, add, div, trig
    "dpend": {
        "crba": (2, 3, 0, 1),
        "rnea": (18, 12, 0, 4),
        "bias": (13, 7, 0, 4),
        "aba": (23, 14, 1, 4),
        "forward_dynamics": (21, 14, 1, 4),
        "minv": (6, 5, 1, 1),
    },
    "ur5": {
        "crba": (70, 61, 0, 10),
        "rnea": (149, 122, 0, 10),
        "bias": (140, 101, 0, 10),
        "aba": (267, 205, 5, 10),
        "forward_dynamics": (267, 205, 5, 10),
        "minv": (143, 136, 5, 10),
    },
    "panda7": {
        "crba": (165, 148, 0, 12),
        "rnea": (291, 269, 0, 12),
        "bias": (283, 252, 0, 12),
        "aba": (580, 528, 6, 12),
        "forward_dynamics": (574, 505, 6, 12),
        "minv": (354, 295, 6, 12),
    },
    "panda9": {
        "crba": (214, 188, 0, 12),
        "rnea": (325, 306, 0, 12),
        "bias": (317, 287, 0, 12),
        "aba": (645, 601, 7, 12),
        "forward_dynamics": (645, 601, 7, 12),
        "minv": (478, 423, 7, 12),
    },
    "solo12": {
        "crba": (260, 238, 0, 24),
        "rnea": (571, 530, 0, 24),
        "bias": (540, 470, 0, 24),
        "aba": (1232, 1145, 14, 24),
        "forward_dynamics": (1232, 1145, 14, 24),
        "minv": (1724, 1481, 14, 24),
    },
    "anymal_b": {
        "crba": (272, 274, 0, 24),
        "rnea": (667, 658, 0, 24),
        "bias": (636, 598, 0, 24),
        "aba": (1351, 1315, 14, 24),
        "forward_dynamics": (1351, 1315, 14, 24),
        "minv": (1740, 1526, 14, 24),
    },
    "g1": {
        "crba": (1824, 1414, 0, 58),
        "rnea": (1704, 1628, 0, 58),
        "bias": (1680, 1560, 0, 58),
        "aba": (3875, 3753, 31, 58),
        "forward_dynamics": (3875, 3753, 31, 58),
        "minv": (7991, 6877, 31, 58),
    },
    "icub": {
        "crba": (2508, 1921, 0, 58),
        "rnea": (1829, 1685, 0, 58),
        "bias": (1802, 1614, 0, 58),
        "aba": (4206, 3998, 31, 58),
        "forward_dynamics": (4206, 3998, 31, 58),
        "minv": (9179, 7896, 31, 58),
    },
    "talos32": {
        "crba": (1701, 1344, 0, 64),
        "rnea": (1800, 1735, 0, 64),
        "bias": (1776, 1662, 0, 64),
        "aba": (3961, 3864, 33, 64),
        "forward_dynamics": (3961, 3864, 33, 64),
        "minv": (8526, 7326, 33, 64),
    },
    "talos50": {
        "crba": (3005, 2260, 0, 88),
        "rnea": (2379, 2318, 0, 88),
        "bias": (2355, 2237, 0, 88),
        "aba": (5013, 5010, 37, 88),
        "forward_dynamics": (5013, 5010, 37, 88),
        "minv": (15135, 13055, 37, 88),
    },
    "puma": {
        "crba": (132, 117, 0, 10),
        "rnea": (245, 226, 0, 10),
        "bias": (236, 207, 0, 10),
        "aba": (499, 450, 5, 10),
        "forward_dynamics": (454, 395, 5, 10),
        "minv": (252, 207, 5, 10),
    },
    "rx90": {
        "crba": (113, 102, 0, 10),
        "rnea": (234, 215, 0, 10),
        "bias": (226, 196, 0, 10),
        "aba": (464, 409, 5, 10),
        "forward_dynamics": (425, 368, 5, 10),
        "minv": (233, 192, 5, 10),
    },
    "stanford": {
        "crba": (87, 84, 0, 8),
        "rnea": (208, 192, 0, 8),
        "bias": (197, 172, 0, 8),
        "aba": (404, 362, 5, 8),
        "forward_dynamics": (370, 324, 5, 8),
        "minv": (207, 173, 5, 8),
    },
    "wam": {
        "crba": (143, 123, 0, 12),
        "rnea": (274, 252, 0, 12),
        "bias": (266, 235, 0, 12),
        "aba": (523, 468, 6, 12),
        "forward_dynamics": (523, 468, 6, 12),
        "minv": (332, 270, 6, 12),
    },
    "ssrms6": {
        "crba": (124, 112, 0, 10),
        "rnea": (245, 226, 0, 10),
        "bias": (235, 208, 0, 10),
        "aba": (494, 444, 5, 10),
        "forward_dynamics": (445, 390, 5, 10),
        "minv": (244, 202, 5, 10),
    },
    "ssrms7": {
        "crba": (178, 156, 0, 12),
        "rnea": (301, 280, 0, 12),
        "bias": (291, 261, 0, 12),
        "aba": (622, 568, 6, 12),
        "forward_dynamics": (595, 521, 6, 12),
        "minv": (367, 303, 6, 12),
    },
    "gen6": {
        "crba": (323, 252, 0, 10),
        "rnea": (378, 316, 0, 12),
        "bias": (368, 302, 0, 12),
        "aba": (852, 752, 5, 12),
        "forward_dynamics": (777, 624, 5, 12),
        "minv": (443, 342, 5, 10),
    },
    "gen7": {
        "crba": (452, 343, 0, 12),
        "rnea": (459, 385, 0, 14),
        "bias": (449, 370, 0, 14),
        "aba": (1048, 931, 6, 14),
        "forward_dynamics": (1027, 817, 6, 14),
        "minv": (641, 490, 6, 12),
    },
}
CASADI = {  # crba, rnea, forward dynamics by the cheaper method, dense inverse
    "dpend": (42, 63, 83, 107),
    "ur5": (296, 574, 893, 1451),
    "panda7": (1061, 1230, 2470, 2390),
    "panda9": (1407, 1467, 2983, 3282),
    "ssrms6": (559, 869, 1555, 1708),
    "ssrms7": (734, 1055, 1990, 2231),
    "gen6": (1099, 1358, 2489, 2600),
    "gen7": (1462, 1640, 3190, 3233),
    "solo12": (1157, 2075, 4350, 8085),
    "anymal_b": (1286, 2515, 4924, 8415),
    "g1": (5467, 5869, 13838, 25973),
    "icub": (9071, 7236, 18760, 26827),
    "talos32": (5067, 6125, 13599, 29169),
    "talos50": (8144, 8565, 18517, 45825),
}
SAVED = {  # share of operations: on each model, and in the median
    "crba": (0.30, 0.45),
    "rnea": (0.33, 0.42),
    "forward_dynamics": (0.32, 0.38),
    "minv": (0.30, 0.30),
}
BEST = {  # mul, add, div of the best exact programs known so far for arms with general inertias
    "puma": {"crba": (147, 131, 0), "rnea": (265, 247, 0), "forward_dynamics": (486, 423, 5)},
    "rx90": {"crba": (114, 105, 0), "rnea": (244, 228, 0)},
    "stanford": {"crba": (95, 89, 0), "rnea": (224, 210, 0), "forward_dynamics": (392, 344, 5)},
    "wam": {"crba": (164, 137, 0), "rnea": (294, 275, 0), "forward_dynamics": (576, 496, 6)},
    "ssrms6": {"crba": (151, 135, 0), "rnea": (275, 254, 0), "forward_dynamics": (501, 441, 5)},
    "ssrms7": {"crba": (211, 182, 0), "rnea": (332, 308, 0), "forward_dynamics": (658, 575, 6)},
    "gen6": {"crba": (371, 301, 0), "rnea": (413, 348, 0), "forward_dynamics": (860, 704, 5)},
    "gen7": {"crba": (516, 409, 0), "rnea": (500, 423, 0), "forward_dynamics": (1132, 920, 6)},
}


def total(name, function):
    return sum(COUNTS[name][function])


@pytest.mark.parametrize("name", COUNTS)
def test_counts(name):
    expected = {
        function: OperationCount(mul=mul, add=add, div=div, trig=trig)
        for function, (mul, add, div, trig) in COUNTS[name].items()
    }
    assert generate(model(name)).operations == expected


@pytest.mark.parametrize(("place", "function"), list(enumerate(SAVED)))
def test_fewer_than_pinocchio_on_casadi(place, function):
    saved = [1 - total(name, function) / theirs[place] for name, theirs in CASADI.items()]
    least, middle = SAVED[function]
    assert min(saved) >= least
    assert median(saved) >= middle


@pytest.mark.parametrize("name", BEST)
def test_no_more_than_the_best_known(name):
    for function, (mul, add, div) in BEST[name].items():
        counts = COUNTS[name][function]
        assert counts[0] <= mul
        assert counts[1] <= add
        assert counts[2] <= div


def test_named_targets():
    assert total("panda7", "forward_dynamics") <= 1172
    assert total("solo12", "forward_dynamics") <= 2910
    assert total("talos32", "aba") <= 8871
    assert sum(COUNTS["ssrms6"]["crba"][:2]) <= 286
