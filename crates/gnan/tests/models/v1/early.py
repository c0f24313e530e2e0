"""Makes an early model file of version 1 out of a later one: without what was not yet written down then.

    python3 v1/early.py v1/graph-binary.gnan v1/graph-binary-early.gnan
"""

import json
import struct
import sys

LATER = ["items_checksum", "epoch_limit", "patience", "output_bias"]

source, target = sys.argv[1:]
with open(source, "rb") as file:
    content = file.read()
length = struct.unpack("<Q", content[:8])[0]
header = json.loads(content[8 : 8 + length])
model = json.loads(header["__metadata__"]["gnan"])
for name in LATER:
    del model["description"]["record"][name]
header["__metadata__"]["gnan"] = json.dumps(model, separators=(",", ":"), ensure_ascii=False)
text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
text += b" " * (-len(text) % 8)  # tensors begin at a multiple of 8
with open(target, "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text + content[8 + length :])
