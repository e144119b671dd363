// The table of all workloads, those that need help first.

import { age, count, h, needsHelp, word } from "./dom.js";
import { sentence } from "./reasons.js";
import { idOf } from "./store.js";

const ORDER = ["updating", "starting", "leaving", "paused", "ready", "reading"];
const UNREAD = { word: "reading", reason: "", message: "", since: null };

function rank(row) {
  return needsHelp(row.health.word) ? -1 : ORDER.indexOf(row.health.word);
}

function compare(one, other) {
  const difference = rank(one) - rank(other);
  if (difference) return difference;
  if (rank(one) < 0) {
    const since = (row) => row.health.since || "9";
    if (since(one) !== since(other)) return since(one) < since(other) ? -1 : 1;
  }
  const key = (row) => [row.kind, row.namespace, row.name].join("\u0000");
  return key(one) < key(other) ? -1 : 1;
}

function matches(row, text) {
  const words = [row.kind, row.namespace, row.name, row.health.word, row.health.reason];
  const whole = words.join(" ").toLowerCase();
  return text.toLowerCase().split(/\s+/).every((part) => whole.includes(part));
}

export function hrefOf(id) {
  return `#/workload/${id.split("/").map(encodeURIComponent).join("/")}`;
}

function makeRow(row) {
  const id = idOf(row);
  const isRead = row.health !== UNREAD;
  const waits = row.health.word === "ready" || !isRead ? "" : `${row.health.reason}: ${row.health.message}`;
  return h("tr", { "data-id": id, class: needsHelp(row.health.word) ? "help" : null },
    h("td", { class: "state" }, word(row.health.word),
      h("span", { class: "since" }, " ", needsHelp(row.health.word) ? age(row.health.since) : "")),
    h("td", { class: "name" },
      h("a", { href: hrefOf(id), "data-line": id, "data-key": id }, row.name),
      h("span", { class: "quiet" }, row.namespace ? ` in ${row.namespace}` : ""),
      h("span", { class: "quiet narrow" }, `${row.namespace ? "," : ""} ${row.kind}`),
      waits && h("div", { class: "waits" }, sentence(waits))),
    h("td", { class: "wide kind" }, row.kind),
    h("td", { class: "number" }, isRead ? `${row.ready}/${row.wanted}` : "…"),
    h("td", { class: "number wide" }, isRead ? `${row.updated}/${row.wanted}` : "…"),
    h("td", { class: "wide" }, row.revision),
    h("td", { class: "wide number" }, age(row.created)));
}

export class Overview {
  constructor(view, store) {
    this.store = store;
    this.texts = new Map(); // the row that each line was made from, as text
    this.lines = new Map();
    this.summary = h("p", { class: "quiet", role: "status" });
    this.body = h("tbody");
    const names = ["State", "Workload", "Kind", "Ready", "Updated", "Revision", "Age"];
    const wide = new Set(["Kind", "Updated", "Revision", "Age"]);
    const numbers = new Set(["Ready", "Updated", "Age"]);
    const classOf = (name) => [wide.has(name) && "wide", numbers.has(name) && "number"].filter(Boolean).join(" ");
    const head = names.map((name) => h("th", { scope: "col", class: classOf(name) || null }, name));
    view.replaceChildren(h("h1", {}, "Workloads"), this.summary,
      h("table", { class: "workloads" },
        h("caption", { class: "hidden" }, "All workloads, those that need help first"),
        h("thead", {}, h("tr", {}, head)), this.body));
    this.update();
  }

  update() {
    const text = this.store.search;
    const unread = [...this.store.expected.values()].map((each) => ({ ...each, health: UNREAD, revision: "", created: null }));
    const all = [...this.store.rows.values(), ...unread];
    const rows = all.filter((row) => matches(row, text)).sort(compare);
    const wanted = new Map(rows.map((row) => [idOf(row), row]));
    for (const [id, line] of this.lines) {
      if (wanted.has(id)) continue;
      line.remove();
      this.lines.delete(id);
      this.texts.delete(id);
    }
    for (const [id, row] of wanted) this.put(id, row);
    this.order([...wanted.keys()]);
    this.tell(all, rows);
  }

  put(id, row) {
    const text = JSON.stringify(row);
    if (this.texts.get(id) === text) return;
    const line = makeRow(row);
    const old = this.lines.get(id);
    if (old) {
      const isFocused = old.contains(document.activeElement);
      old.replaceWith(line);
      if (isFocused) line.querySelector("a").focus({ preventScroll: true });
    }
    this.texts.set(id, text);
    this.lines.set(id, line);
  }

  // Lines that stand right are not moved, so that the focus stays where it is.
  order(ids) {
    let place = this.body.firstElementChild;
    for (const id of ids) {
      const line = this.lines.get(id);
      if (line === place) place = place.nextElementSibling;
      else this.body.insertBefore(line, place);
    }
  }

  tell(all, shown) {
    const help = all.filter((row) => needsHelp(row.health.word)).length;
    const moving = all.filter((row) => ["updating", "starting", "leaving"].includes(row.health.word)).length;
    const parts = [count(all.length, "workload"), help ? `${help} in need of help` : "none in need of help",
      `${moving} moving`];
    const { isComplete, listed, lists } = this.store.reading;
    if (!isComplete) parts.push(`reading the cluster: ${listed} of ${lists} lists are complete`);
    if (shown.length !== all.length) parts.push(`${shown.length} found`);
    const text = all.length || !isComplete ? parts.join(", ") : this.tellNothing();
    if (this.summary.textContent !== text) this.summary.textContent = text;
  }

  // Workloads that cannot be seen are not the same as none.
  tellNothing() {
    if (this.store.problems.length) return "No workload can be seen. What hides them stands above.";
    return "There are no workloads. Make one, for example with: kohort new lws --example | kubectl apply -f -";
  }
}
