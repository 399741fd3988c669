"""Compare contacts of engines on one rigid body: ``treefactor check --contacts``.

``rigid`` writes a robot without moving joints, ``by_treefactor`` lets it rest and slide, ``comparison``
measures what engines make of it and finds the causes of differences.
"""

from .comparison import CONTACT_ENGINES, ContactCheck, ContactRow, check_contacts

__all__ = ["CONTACT_ENGINES", "ContactCheck", "ContactRow", "check_contacts"]
