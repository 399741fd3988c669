"""Test the drawings of trees."""

import treefactor as tf
from treefactor.report.drawings import NAME_LENGTH, tree_drawing


def test_tree_is_drawn_joint_by_joint():
    # a floating base with two legs, one joint of which has two freedoms that share no line with the base's
    parent = [-1, 0, 1, 2, 3, 4, 5, 6, 5, 8]
    names = [f"root[{d}]" for d in range(6)] + ["hip", "k" * 90, "ball[0]", "ball[1]"]
    nodes = tree_drawing(tf.Tree(parent, names))["nodes"]
    drawn = [(node["number"], node["name"]) for node in nodes]
    assert drawn == [("", "base"), ("0–5", "root"), ("6", "hip"), ("7", "k" * 90), ("8–9", "ball")]
    assert nodes[2]["x"] == nodes[3]["x"] == nodes[4]["x"] > nodes[1]["x"]
    assert len({node["y"] for node in nodes}) == 5
    assert len(nodes[3]["label"]) <= NAME_LENGTH
