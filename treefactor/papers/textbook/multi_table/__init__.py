"""Mirror the multi-table coding of Golubev & Yaskevich (2020), sections 2 to 5, in the paper's own names.

``tables`` has IDT, SET, MPT and MET; ``scalars`` the scalar processor of section 3; ``systems`` BDT and LDT;
``recursions`` AMT and SAS, and the recursions written as loops over them; ``stages`` MMT, and the procedures
of a tree and of a mechanism with loops; ``source`` the final passes of section 5. `scalars.Readings` lists
the steps that the paper leaves open or prints in two ways.
"""
