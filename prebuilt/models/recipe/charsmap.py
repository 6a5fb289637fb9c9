"""Writes a normalisation table as SentencePiece's precompiled charsmap.

Layout: u32 bytes of the trie, the trie, then the replacement strings, each ended by NUL. The trie is a Darts double
array of u32 units: bits 0-7 the label, bit 8 "a key ends here", bits 10-30 the xor distance to the children's base.
The child of a node with base b for byte c sits at b ^ c; the value of a key that ends at the node sits at b itself
(bit 31 set, the rest an offset into the strings).
"""

import struct

HAS_LEAF = 1 << 8
IS_LEAF = 1 << 31
PAGE = 256  # readers index base ^ byte unchecked, so the array ends on a full page


def compile_charsmap(table):
    """Bytes of the charsmap for a dict from single characters to replacement strings."""
    strings, offsets = bytearray(), {}
    root = {}
    for key, value in sorted(table.items()):
        if value not in offsets:
            offsets[value] = len(strings)
            strings += value.encode() + b"\0"
        node = root
        for byte in key.encode():
            node = node.setdefault(byte, {})
        node[None] = offsets[value]
    units = _double_array(root)
    trie = struct.pack(f"<{len(units)}I", *units)
    return struct.pack("<I", len(trie)) + trie + bytes(strings)


def _double_array(root):
    units = {0: 0}
    bases = {0}
    first_free = 1
    queue = [(root, 0)]
    for node, position in queue:
        labels = sorted(0 if byte is None else byte for byte in node)
        while first_free in units:
            first_free += 1
        base = _find_base(units, bases, labels, first_free)
        bases.add(base)
        distance = base ^ position
        if distance >= 1 << 21:
            raise ValueError("the table is too large for offsets without extension")
        units[position] |= distance << 10
        for byte, child in node.items():
            if byte is None:
                units[base] = IS_LEAF | child
                units[position] |= HAS_LEAF
            else:
                units[base ^ byte] = byte
                queue.append((child, base ^ byte))
    size = (max(units) // PAGE + 1) * PAGE
    return [units.get(i, 0) for i in range(size)]


def _find_base(units, bases, labels, first_free):
    """The lowest base, not used before, whose places for all labels are free."""
    position = first_free
    while True:
        base = position ^ labels[0]
        if base not in bases and all(base ^ label not in units for label in labels):
            return base
        position += 1
