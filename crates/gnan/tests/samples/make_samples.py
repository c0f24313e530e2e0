"""Writes the samples beside this file: one tiny data set per format, byte for byte the same each time.

Only the standard library is used, so arrays and pickles are put together by hand.
"""

import gzip
import io
import struct
import zipfile
from pathlib import Path

HERE = Path(__file__).parent


def write(name, content):
    path = HERE / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)


def gz(text):
    return gzip.compress(text.encode(), mtime=0)


def archive(members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


CODES = {"<f4": "f", "<f8": "d", "<i4": "i", "<i8": "q", "|i1": "b", "|u1": "B", "|b1": "?"}


def npy(kind, shape, values):
    if kind.startswith("<U"):
        width = int(kind[2:])
        data = b"".join(value.ljust(width, "\0").encode("utf-32-le") for value in values)
    else:
        data = struct.pack(f"<{len(values)}{CODES[kind]}", *values)
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\0" + struct.pack("<H", len(header)) + header + data


def npz(arrays):
    return archive({f"{name}.npy": npy(*array) for name, array in arrays.items()})


# Pickles of protocol 2, as Python 2 wrote them.

def integer(number):
    return b"K" + bytes([number]) if number < 256 else b"M" + struct.pack("<H", number)


def string(value):
    return b"U" + bytes([len(value)]) + value


def pickled_array(kind, shape, values):
    data = struct.pack(f"<{len(values)}{CODES['<' + kind]}", *values)
    made = b"cnumpy.core.multiarray\n_reconstruct\n" + b"cnumpy\nndarray\n" + b"K\0\x85" + string(b"b") + b"\x87R"
    element = b"cnumpy\ndtype\n" + string(kind.encode()) + b"K\0K\x01\x87R"
    element += b"(K\x03" + string(b"<") + b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\0tb"
    sides = b"".join(integer(side) for side in shape) + (b"\x85" if len(shape) == 1 else b"\x86")
    return made + b"(K\x01" + sides + element + b"\x89" + string(data) + b"tb"


def pickled_matrix(shape, rows):
    """Rows are dictionaries from column to value."""
    pointers, indices, values = [0], [], []
    for row in rows:
        indices += row.keys()
        values += row.values()
        pointers.append(len(indices))
    entries = b"(" + string(b"_shape") + integer(shape[0]) + integer(shape[1]) + b"\x86"
    for name, kind, array in [("data", "f4", values), ("indices", "i4", indices), ("indptr", "i4", pointers)]:
        entries += string(name.encode()) + pickled_array(kind, [len(array)], array)
    return b"\x80\x02cscipy.sparse.csr\ncsr_matrix\nq\0)\x81q\x01}q\x02" + entries + b"ub."


def pickled_classes(classes, count):
    marks = [int(place == label) for label in classes for place in range(count)]
    return b"\x80\x02" + pickled_array("i4", [len(classes), count], marks) + b"."


def pickled_graph(neighbours):
    entries = b""
    for node, others in enumerate(neighbours):
        entries += integer(node) + b"](" + b"".join(integer(other) for other in others) + b"e"
    return b"\x80\x02ccollections\ndefaultdict\nq\0c__builtin__\nlist\nq\x01\x85q\x02Rq\x03(" + entries + b"u."


# Formats that were there first.
tu = {
    "TINY_A.txt": "1, 2\n2, 1\n3, 4\n",
    "TINY_graph_indicator.txt": "1\n1\n2\n2\n",
    "TINY_graph_labels.txt": "0\n1\n",
    "TINY_node_labels.txt": "0\n1\n0\n1\n",
    "TINY_node_attributes.txt": "0.5, 1\n1, 2\n2, 3\n3, 4\n",
}
for name, text in tu.items():
    write(f"tu/{name}", text)
write("tu_zip/TINY.zip", archive({f"TINY//{name}": text for name, text in tu.items()}))
write("smiles/molecules.csv", "smiles,active\nCCO,yes\nc1ccccc1,no\n")

# Five papers: 0 - 1 - 2 - 3, 4 alone. Words of each, classes, and the split.
words = [{0: 1}, {1: 1}, {0: 1, 2: 1}, {2: 1}, {}]
columns = [column for row in words for column in row]
write("planetoid/tiny.npz", npz({
    "feat_data": ("<f4", (5,), [1] * 5),
    "feat_indices": ("<i4", (5,), columns),
    "feat_indptr": ("<i8", (6,), [0, 1, 2, 4, 5, 5]),
    "feat_shape": ("<i8", (2,), [5, 3]),
    "labels": ("<i8", (5,), [0, 1, 0, 1, -1]),
    "edges": ("<i4", (3, 2), [0, 1, 1, 2, 2, 3]),
    "train_idx": ("<i8", (2,), [0, 1]),
    "val_idx": ("<i8", (1,), [2]),
    "test_idx": ("<i8", (1,), [3]),
}))
# The same, but for a fifth node that exists, and test nodes in disorder: row 0 of tx is node 4.
write("planetoid_pickles/ind.tiny.x", pickled_matrix([1, 3], words[:1]))
write("planetoid_pickles/ind.tiny.y", pickled_classes([0], 2))
write("planetoid_pickles/ind.tiny.allx", pickled_matrix([2, 3], words[:2]))
write("planetoid_pickles/ind.tiny.ally", pickled_classes([0, 1], 2))
write("planetoid_pickles/ind.tiny.tx", pickled_matrix([2, 3], [{1: 1}, {0: 1, 2: 1}]))
write("planetoid_pickles/ind.tiny.ty", pickled_classes([1, 0], 2))
write("planetoid_pickles/ind.tiny.graph", pickled_graph([[1], [0, 2, 2], [1, 3, 2], [2], []]))
write("planetoid_pickles/ind.tiny.test.index", "4\n2\n")

write("heterophilous/tolokers.npz", npz({
    "node_features": ("<f4", (3, 3), [0.5, 1, 0, 0.25, 0, 1, 0.75, 1, 0]),
    "node_labels": ("<i8", (3,), [0, 1, 0]),
    "edges": ("<i8", (2, 2), [0, 1, 1, 2]),
    "train_masks": ("|b1", (2, 3), [1, 0, 0, 0, 1, 0]),
    "val_masks": ("|b1", (2, 3), [0, 1, 0, 0, 0, 1]),
    "test_masks": ("|b1", (2, 3), [0, 0, 1, 1, 0, 0]),
}))
write("heterophilous/tolokers_feature_names.txt", "rate\neducation=none\neducation=high\n")

write("geom/out1_node_feature_label.txt", "node_id\tfeature\tlabel\n1\t0,1,1\t1\n0\t1,0,0\t0\n2\t0,0,0\t1\n")
write("geom/out1_graph_edges.txt", "node_id\tnode_id\n0\t1\n1\t0\n2\t2\n1\t2\n")
for number, kind, train in [(10, "|b1", [0, 0, 1]), (2, "|u1", [1, 0, 0])]:
    write(f"geom/splits/tiny_split_0.6_0.2_{number}.npz", npz({
        "train_mask": (kind, (3,), train),
        "val_mask": (kind, (3,), [0, 1, 0]),
        "test_mask": (kind, (3,), train[::-1]),
    }))

write("citation/tiny.npz", npz({
    "adj_data": ("<f4", (3,), [1, 1, 1]),
    "adj_indices": ("<i4", (3,), [1, 2, 0]),
    "adj_indptr": ("<i4", (4,), [0, 1, 2, 3]),
    "adj_shape": ("<i8", (2,), [3, 3]),
    "attr_data": ("<f4", (3,), [1, 1, 0.5]),
    "attr_indices": ("<i4", (3,), [0, 1, 1]),
    "attr_indptr": ("<i4", (4,), [0, 1, 2, 3]),
    "attr_shape": ("<i8", (2,), [3, 2]),
    "labels": ("|i1", (3,), [1, 0, 1]),
    "node_names": ("<U2", (3,), ["p1", "p2", "p3"]),
    "class_names": ("<U3", (2,), ["old", "n\u00e9w"]),
}))

write("linqs/tiny.content.gz", gz("p1\t0\t1\tTheory\np2\t1\t1\tPractice\np3\t0\t0\tTheory\n"))
write("linqs/tiny.cites", "p1\tp2\np2\tp3\np1\tp2\nelsewhere\tp1\n")

write("pubmed/tiny.NODE.paper.tab", "NODE\tpaper\ncat=1,2:label\tnumeric:w-rat:0.0\tnumeric:w-common:0.0\tstring:summary\n"
      "11\tlabel=1\tw-rat=0.09\tsummary=w-rat\n12\tlabel=2\tw-common=0.5\tw-rat=0.1\tsummary=w-common,w-rat\n")
write("pubmed/tiny.DIRECTED.cites.tab", "DIRECTED\tcites\nNO_FEATURES\n1\tpaper:11\t|\tpaper:12\n")

write("ogb/raw/edge.csv.gz", gz("0,1\n1,2\n"))
write("ogb/raw/num-node-list.csv.gz", gz("3\n"))
write("ogb/raw/num-edge-list.csv.gz", gz("2\n"))
write("ogb/raw/node-label.csv.gz", gz("0\n1\n0\n"))
write("ogb/raw/node_year.csv", "2017\n2018\n2019\n")
for part, node in [("train", 0), ("valid", 1), ("test", 2)]:
    write(f"ogb/split/time/{part}.csv.gz", gz(f"{node}\n"))
write("ogb/mapping/labelidx2category.csv.gz", gz("label idx,category\n0,cs na\n1,cs mm\n"))
write("ogb_features/raw/edge.csv", "0,1\n")
write("ogb_features/raw/num-node-list.csv", "2\n")
write("ogb_features/raw/node-label.csv", "0,1\n1,nan\n")
write("ogb_features/raw/node-feat.csv", "0.5,1e-3\n-1,2\n")

# Splits of the two graphs of csv_tables.
write("splits/errica.json", '[{"test": [0], "model_selection": [{"train": [1], "validation": []}]}]')
