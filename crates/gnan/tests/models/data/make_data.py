"""Writes the data beside this file that the models of `../v1` were trained on, byte for byte the same each time.

| data | what is in it |
|---|---|
| `machines/` | 60 small graphs of machines: targets of the graphs, some in several parts, with types and lengths of edges |
| `people/` | one directed graph of 80 people in several components: targets of the nodes, some of them unknown |
| `molecules.csv` | molecules by their SMILES, two of them salts |

All kinds of features occur, one-hot codes and missing values too; some values occur in test items alone.
"""

import csv
import random
from pathlib import Path

HERE = Path(__file__).parent


def write(name, rows):
    path = HERE / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def part(number):
    return {3: "valid", 4: "test"}.get(number % 5, "train")


def yes(condition):
    return "yes" if condition else "no"


def machines():
    draw = random.Random(1)
    nodes = [["node_id", "graph_id", "kind", "age", "load", "faulty", "leak"]]
    edges = [["graph_id", "source", "target", "type", "metres"]]
    graphs = [["graph_id", "fails", "grade", "cost", "output", "noisy", "importance", "split"]]
    for number in range(60):
        size, wear, power = 3 + draw.randrange(6), 0.0, 0.0
        for node in range(size):
            kind = draw.choice(["pump", "valve", "tank"])
            if part(number) == "test" and node == 0 and number % 2:
                kind = "relay"
            age, load = round(draw.uniform(0, 20), 1), round(draw.gauss(5, 2), 2)
            faulty, leak = int(draw.random() < 0.25), round(draw.random() * 3, 1) if draw.random() < 0.15 else 0
            wear += age / 10 + 2 * faulty + leak - (kind == "tank")
            power += load / 5 + (kind == "pump")
            nodes.append([
                f"m{node}", f"plant{number}", "" if draw.random() < 0.05 else kind,
                "" if draw.random() < 0.08 else age, load, faulty, leak,
            ])
        for node in range(1, size):
            if node == 1 or draw.random() < 0.85:
                edges.append([
                    f"plant{number}", f"m{draw.randrange(node)}", f"m{node}",
                    draw.choice(["pipe", "pipe", "wire"]), round(draw.uniform(0.5, 9), 1),
                ])
        wear, power = wear / size + draw.gauss(0, 0.2), power / size + draw.gauss(0, 0.2)
        grade = "high" if power > 1.6 else "low" if power < 1.2 else "medium"
        graphs.append([
            f"plant{number}", yes(wear > 1.2), grade, round(wear, 2), round(power, 2), yes(wear + power > 2.8),
            1 + number % 3, part(number),
        ])
    write("machines/nodes.csv", nodes)
    write("machines/edges.csv", edges)
    write("machines/graphs.csv", graphs)
    (HERE / "machines/gnan.toml").write_text('[units]\nage = "years"\ncost = "thousands"\n')


def people():
    draw = random.Random(2)
    nodes = [["node_id", "age", "income", "owner", "region_north", "region_south", "region_east", "debts",
              "group", "trust", "late", "smokes", "split"]]
    edges = [["source", "target", "type", "days"]]
    ages = [round(draw.uniform(18, 80), 1) for _ in range(80)]
    for person in range(80):
        income, owner, region = round(draw.gauss(3, 1), 2), int(draw.random() < 0.4), draw.randrange(3)
        debts = draw.randrange(1, 6) if draw.random() < 0.15 else 0
        trust = ages[person] / 40 - debts / 3 + owner + draw.gauss(0, 0.2)
        unknown = person % 8 == 7
        nodes.append([
            f"p{person}", "" if person % 19 == 5 else ages[person], income, owner, *[int(region == r) for r in range(3)],
            debts, "" if unknown else ["a", "b", "c"][int(trust > 1) + int(trust > 2)],
            "" if unknown else round(trust, 2), "" if unknown else yes(debts > 0 or trust < 0.8),
            "" if unknown else yes(draw.random() < 0.3 + 0.3 * (region == 1)), "" if unknown else part(person),
        ])
        # The last ten know only each other, and two of them nobody.
        first, last = (0, 70) if person < 70 else (70, 78)
        for _ in range(2 if person < 78 else 0):
            other = draw.randrange(first, last)
            if other != person:
                edges.append([f"p{person}", f"p{other}", draw.choice(["friend", "work"]), draw.randrange(1, 40)])
    write("people/nodes.csv", nodes)
    write("people/edges.csv", edges)
    (HERE / "people/gnan.toml").write_text('directed = true\n[kinds]\ndebts = "sparse"\n')


SMILES = """
C CC CCC CCCC CO CCO CCCO CC(C)O CC(C)(C)O OCCO OCC(O)CO CN CCN CCCN CC(C)N NCCN NCCO COC CCOCC C1CCOC1
C=C C=CC C=CC=C C#C CC#C CC#N CC=O CCC=O CC(C)=O CCC(C)=O OC=O CC(O)=O CCC(O)=O COC=O CC(=O)OC CC(N)=O CN(C)C=O
C1CC1 C1CCC1 C1CCCC1 C1CCCCC1 CC1CCCCC1 OC1CCCCC1 C1=CCCCC1 c1ccccc1 Cc1ccccc1 Oc1ccccc1 Nc1ccccc1 Clc1ccccc1
OC(=O)c1ccccc1 O=Cc1ccccc1 c1ccncc1 c1ccoc1 c1ccsc1 CCl CCCl ClCCl CBr CS CCS CSC CS(C)=O [O-][N+](=O)C
[Na+].CC([O-])=O [K+].[O-]C=O
""".split()


def molecules():
    draw = random.Random(3)
    rows = [["name", "smiles", "solubility", "split"]]
    for number, smiles in enumerate(SMILES):
        polar, carbon = sum(smiles.count(x) for x in "ON"), smiles.upper().count("C") - 2 * smiles.count("Cl")
        rows.append([f"mol{number}", smiles, round(1.2 * polar - 0.5 * carbon + draw.gauss(0, 0.1), 2), part(number)])
    write("molecules.csv", rows)


machines()
people()
molecules()
