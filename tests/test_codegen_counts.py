"""Operations of generated programs: exact, fewer than Pinocchio's on CasADi, no more than the best known."""

from statistics import median

import pytest
from codegen_models import model

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
        "crba": (71, 61, 0, 10),
        "rnea": (151, 123, 0, 10),
        "bias": (142, 102, 0, 10),
        "aba": (270, 206, 5, 10),
        "forward_dynamics": (270, 206, 5, 10),
        "minv": (154, 140, 5, 10),
    },
    "panda7": {
        "crba": (165, 148, 0, 12),
        "rnea": (291, 269, 0, 12),
        "bias": (284, 253, 0, 12),
        "aba": (580, 532, 6, 12),
        "forward_dynamics": (575, 506, 6, 12),
        "minv": (354, 295, 6, 12),
    },
    "panda9": {
        "crba": (213, 190, 0, 12),
        "rnea": (327, 306, 0, 12),
        "bias": (320, 288, 0, 12),
        "aba": (647, 604, 7, 12),
        "forward_dynamics": (647, 604, 7, 12),
        "minv": (477, 425, 7, 12),
    },
    "solo12": {
        "crba": (272, 244, 0, 24),
        "rnea": (587, 530, 0, 24),
        "bias": (556, 470, 0, 24),
        "aba": (1266, 1149, 14, 24),
        "forward_dynamics": (1266, 1149, 14, 24),
        "minv": (1748, 1485, 14, 24),
    },
    "anymal_b": {
        "crba": (284, 282, 0, 24),
        "rnea": (679, 658, 0, 24),
        "bias": (655, 605, 0, 24),
        "aba": (1404, 1350, 14, 24),
        "forward_dynamics": (1404, 1350, 14, 24),
        "minv": (1776, 1552, 14, 24),
    },
    "g1": {
        "crba": (1840, 1435, 0, 58),
        "rnea": (1707, 1628, 0, 58),
        "bias": (1687, 1564, 0, 58),
        "aba": (3909, 3786, 31, 58),
        "forward_dynamics": (3909, 3786, 31, 58),
        "minv": (8170, 7040, 31, 58),
    },
    "icub": {
        "crba": (2504, 2018, 0, 58),
        "rnea": (1835, 1712, 0, 58),
        "bias": (1813, 1648, 0, 58),
        "aba": (4268, 4135, 31, 58),
        "forward_dynamics": (4268, 4135, 31, 58),
        "minv": (9212, 8052, 31, 58),
    },
    "talos32": {
        "crba": (1713, 1348, 0, 64),
        "rnea": (1808, 1736, 0, 64),
        "bias": (1790, 1671, 0, 64),
        "aba": (4006, 3885, 33, 64),
        "forward_dynamics": (4006, 3885, 33, 64),
        "minv": (8764, 7526, 33, 64),
    },
    "talos50": {
        "crba": (3060, 2303, 0, 88),
        "rnea": (2445, 2359, 0, 88),
        "bias": (2427, 2282, 0, 88),
        "aba": (5219, 5148, 37, 88),
        "forward_dynamics": (5219, 5148, 37, 88),
        "minv": (15797, 13644, 37, 88),
    },
    "puma": {
        "crba": (132, 117, 0, 10),
        "rnea": (245, 226, 0, 10),
        "bias": (238, 209, 0, 10),
        "aba": (500, 453, 5, 10),
        "forward_dynamics": (456, 397, 5, 10),
        "minv": (252, 207, 5, 10),
    },
    "rx90": {
        "crba": (113, 102, 0, 10),
        "rnea": (235, 215, 0, 10),
        "bias": (228, 198, 0, 10),
        "aba": (465, 412, 5, 10),
        "forward_dynamics": (427, 370, 5, 10),
        "minv": (233, 192, 5, 10),
    },
    "stanford": {
        "crba": (87, 84, 0, 8),
        "rnea": (208, 192, 0, 8),
        "bias": (198, 173, 0, 8),
        "aba": (404, 364, 5, 8),
        "forward_dynamics": (371, 325, 5, 8),
        "minv": (207, 173, 5, 8),
    },
    "wam": {
        "crba": (143, 123, 0, 12),
        "rnea": (274, 252, 0, 12),
        "bias": (267, 236, 0, 12),
        "aba": (523, 470, 6, 12),
        "forward_dynamics": (523, 470, 6, 12),
        "minv": (332, 270, 6, 12),
    },
    "ssrms6": {
        "crba": (125, 113, 0, 10),
        "rnea": (245, 226, 0, 10),
        "bias": (236, 209, 0, 10),
        "aba": (495, 448, 5, 10),
        "forward_dynamics": (447, 392, 5, 10),
        "minv": (245, 203, 5, 10),
    },
    "ssrms7": {
        "crba": (179, 157, 0, 12),
        "rnea": (301, 280, 0, 12),
        "bias": (292, 262, 0, 12),
        "aba": (623, 572, 6, 12),
        "forward_dynamics": (597, 523, 6, 12),
        "minv": (368, 304, 6, 12),
    },
    "gen6": {
        "crba": (326, 255, 0, 10),
        "rnea": (383, 321, 0, 12),
        "bias": (374, 308, 0, 12),
        "aba": (867, 773, 5, 12),
        "forward_dynamics": (786, 633, 5, 12),
        "minv": (446, 345, 5, 10),
    },
    "gen7": {
        "crba": (458, 349, 0, 12),
        "rnea": (464, 390, 0, 14),
        "bias": (455, 376, 0, 14),
        "aba": (1065, 955, 6, 14),
        "forward_dynamics": (1039, 829, 6, 14),
        "minv": (647, 496, 6, 12),
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
        found = COUNTS[name][function]
        assert found[0] <= mul
        assert found[1] <= add
        assert found[2] <= div


def test_named_targets():
    assert total("panda7", "forward_dynamics") <= 1172
    assert total("solo12", "forward_dynamics") <= 2910
    assert total("talos32", "aba") <= 8871
    assert sum(COUNTS["ssrms6"]["crba"][:2]) <= 286
