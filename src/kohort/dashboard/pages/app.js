// The page begins here: it follows the address, the keys and the stream of changes.

import { h, refreshAges, setTime, show } from "./dom.js";
import { JournalPage } from "./journal.js";
import { NodesPage } from "./nodes.js";
import { Overview } from "./overview.js";
import { ReasonPage, fillReasons } from "./reasons.js";
import { Stream, read } from "./server.js";
import { SimulationPage } from "./simulation.js";
import { Store } from "./store.js";
import { WorkloadPage } from "./workload.js";

const PROBLEMS_SHOWN = 3;
const store = new Store();
const view = document.getElementById("view");
const search = document.getElementById("search");
const connection = document.getElementById("connection");
let page = null;
let isLoaded = false;

// The token has done its work: it stays neither in the address bar nor in the history.
if (new URLSearchParams(location.search).has("token")) {
  history.replaceState(null, "", `${location.pathname}${location.hash}`);
}

function open() {
  const [name, ...rest] = location.hash.replace(/^#\/?/, "").split("/").map(decodeURIComponent);
  if (!isLoaded) return;
  if (page && page.close) page.close();
  const names = { nodes: "nodes", simulation: "simulation", journal: "journal", reason: "" };
  for (const link of document.querySelectorAll("nav a[data-page]")) {
    const isHere = link.dataset.page === (names[name] ?? "workloads");
    if (isHere) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (name === "workload") page = new WorkloadPage(view, store, rest.slice(0, 3).join("/"), rest[3]);
  else if (name === "nodes") page = new NodesPage(view, store);
  else if (name === "journal") page = new JournalPage(view, store, rest.join("/"));
  else if (name === "reason") page = new ReasonPage(view, store, rest[0] || "");
  else if (name === "simulation" && store.cluster.isSimulated) page = new SimulationPage(view, store);
  else page = new Overview(view, store);
  const titles = { workload: rest[2], nodes: "Nodes", journal: "Journal", reason: rest[0] || "Reasons", simulation: "Simulation" };
  document.title = titles[name] ? `${titles[name]} - Kohort` : "Kohort";
  scrollTo(0, 0);
}

async function load() {
  try {
    const [cluster, rows, reasons] = await Promise.all([read("cluster"), read("workloads?soon"), read("reasons")]);
    fillReasons(reasons);
    store.cluster = cluster;
    setTime(cluster.time);
    store.fill(rows);
    store.expect(cluster.reading);
    isLoaded = true;
    tellCluster();
    tellProblems(cluster.problems);
    if (page) page.update({ all: true });
    else open();
  } catch (error) {
    tellProblems([error.message]);
  }
}

// A clock that was stepped, paused or sped up: its event may be old, so the time is asked for.
async function readTime() {
  try {
    setTime((await read("cluster")).time);
  } catch {
    // The stream has ended as well, or will soon: then everything is loaded again.
  }
}

function tellCluster() {
  const { context, server, version, isSimulated, allowsWrites, namespace } = store.cluster;
  document.getElementById("to-simulation").hidden = !isSimulated;
  const parts = [`Kohort ${version}`, context && `context ${context}`, server,
    namespace && `namespace ${namespace}`, isSimulated && "simulated", allowsWrites ? "may write" : "read-only"];
  document.getElementById("footer").textContent = parts.filter(Boolean).join("   ");
}

// A user who may list nothing has a problem with each kind: the first are shown, the rest is folded.
function tellProblems(problems) {
  const box = document.getElementById("problems");
  store.problems = problems;
  box.hidden = !problems.length;
  const lines = (texts) => texts.map((text) => h("p", {}, text));
  const rest = problems.length - PROBLEMS_SHOWN;
  show(box, problems, () => rest < 2 ? lines(problems) : [...lines(problems.slice(0, PROBLEMS_SHOWN)),
    h("details", {}, h("summary", {}, `and ${rest} more`), lines(problems.slice(PROBLEMS_SHOWN)))]);
}

function tellStatus(status, message) {
  connection.textContent = status;
  connection.className = status;
  document.body.dataset.connection = status;
  if (status === "refused") tellProblems([message]);
}

new Stream({
  status: tellStatus,
  reset: load,
  clock: readTime,
  // Pages show what is there already; when all is read, they ask again for what they missed.
  reading(reading) {
    const wasComplete = store.reading.isComplete;
    store.expect(reading);
    tellProblems(reading.problems);
    if (reading.isComplete && !wasComplete) load();
    else if (page) page.update({ reading: true });
  },
  change(change) {
    const begun = performance.now();
    store.apply(change);
    tellProblems(change.problems);
    if (page) page.update(change);
    document.body.dataset.updateMilliseconds = (performance.now() - begun).toFixed(1);
    document.body.dataset.updates = Number(document.body.dataset.updates || 0) + 1;
  },
});

addEventListener("hashchange", open);
setInterval(refreshAges, 1000);

search.addEventListener("input", () => {
  store.search = search.value.trim();
  if (page instanceof Overview || page instanceof NodesPage || page instanceof SimulationPage) page.update({ search: true });
  else if (store.search) location.hash = "#/";
});
search.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    search.value = "";
    search.dispatchEvent(new Event("input"));
    search.blur();
  }
  if (event.key === "Enter") move(1);
});

const help = document.getElementById("help");
document.getElementById("help-button").addEventListener("click", () => help.showModal());
document.getElementById("to-reasons").addEventListener("click", () => help.close());

function move(by) {
  const lines = [...view.querySelectorAll("[data-line]")].filter((line) => line.checkVisibility());
  if (!lines.length) return;
  const here = lines.indexOf(document.activeElement);
  const next = here < 0 ? (by > 0 ? 0 : lines.length - 1) : Math.min(lines.length - 1, Math.max(0, here + by));
  lines[next].focus();
  lines[next].scrollIntoView({ block: "nearest" });
}

function askWhy() {
  if (page instanceof WorkloadPage) {
    page.focusWhy();
    return;
  }
  const line = document.activeElement.closest("[data-line]");
  if (line && line.hash && line.hash.startsWith("#/workload/")) location.hash = `${line.hash}/why`;
}

const KEYS = {
  "/": () => search.focus(),
  j: () => move(1),
  k: () => move(-1),
  w: askWhy,
  h: () => { location.hash = "#/"; },
  n: () => { location.hash = "#/nodes"; },
  t: () => { location.hash = "#/journal"; },
  ",": () => { if (page instanceof JournalPage) page.move(-1); },
  ".": () => { if (page instanceof JournalPage) page.move(1); },
  "?": () => help.showModal(),
};

addEventListener("keydown", (event) => {
  const isTyping = event.target.closest && event.target.closest("input, select, textarea");
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const action = KEYS[event.key];
  if (!action) return;
  event.preventDefault();
  action();
});
