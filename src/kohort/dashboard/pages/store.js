// What the page knows: the rows of all workloads, the cluster, and what is searched for.

export function idOf(row) {
  return `${row.resource}/${row.namespace || "_"}/${row.name}`;
}

export class Store {
  constructor() {
    this.rows = new Map();
    this.expected = new Map(); // workloads that exist and are not read yet
    this.reading = { listed: 0, lists: 0, isComplete: true };
    this.cluster = null;
    this.problems = []; // what the server cannot see, one sentence for each
    this.search = "";
  }

  // A workload as commands name it: namesakes of several kinds are told apart.
  nameOf(kind, name) {
    return `${this.cluster.shortNames[kind.toLowerCase()] || kind}/${name}`;
  }

  fill(rows) {
    this.rows = new Map(rows.map((row) => [idOf(row), row]));
  }

  // How much of the cluster the server has read; it names only workloads without a row.
  expect({ expected, ...reading }) {
    this.reading = reading;
    if (reading.isComplete) this.expected.clear();
    for (const each of expected) if (!this.rows.has(idOf(each))) this.expected.set(idOf(each), each);
  }

  apply(change) {
    for (const row of change.rows) this.rows.set(idOf(row), row);
    for (const row of change.rows) this.expected.delete(idOf(row));
    for (const id of change.gone) this.rows.delete(id);
  }
}
