// The map of the cluster: domains, the nodes in them, and whose pods stand there.
// The server sends at most so many nodes, and so many lines for each; buttons ask for more.

import { count, h, show } from "./dom.js";
import { hrefOf } from "./overview.js";
import { read, send } from "./server.js";

const CALM_MILLISECONDS = 500;
const TYPING_MILLISECONDS = 150;
const MORE = 100;

// What a page of nodes asks for; it grows with its buttons.
export class NodesQuery {
  constructor() {
    this.hosts = MORE;
    this.whole = new Set();
  }

  read(search) {
    const asked = new URLSearchParams({ hosts: this.hosts, whole: [...this.whole].join(","), search });
    return read(`nodes?${asked}`);
  }

  // A button for the nodes that were left out, if there are any.
  makeButton(page, load) {
    const left = page.matching - page.shown;
    if (!left) return null;
    const more = () => {
      this.hosts += MORE;
      load();
    };
    return h("p", {}, h("span", { class: "quiet" }, `${page.shown} of ${count(page.matching, "node")} are shown.   `),
      h("button", { type: "button", "data-key": "more-nodes", onclick: more }, `show ${Math.min(left, MORE)} more`));
  }
}

function makeBar(host) {
  const used = host.gpus - host.gpusFree;
  const text = host.note ? `${host.gpus} GPUs` : `${used} of ${host.gpus} GPUs in use`;
  const cells = host.gpus <= 16
    ? Array.from({ length: host.gpus }, (_, place) => h("span", { class: place < used && !host.note ? "gpu used" : "gpu" }))
    : [];
  return [h("span", { class: "gpus", "aria-hidden": "true" }, cells), h("span", { class: "quiet" }, text)];
}

function makeLine({ namespace, workload, name, group, gang, pods, gpus }, store) {
  const suffix = `${count(pods, "pod")}, ${count(gpus, "GPU")}`;
  if (!workload) return h("li", {}, `${name}   `, h("span", { class: "quiet" }, suffix));
  const [resource, own] = workload.split("/"), told = store.nameOf(resource.split(".")[0], own);
  return h("li", {}, h("a", { href: hrefOf(`${resource}/${namespace || "_"}/${own}`) }, told), group === null ? "   " : ` group ${group}   `,
    h("span", { class: "quiet" }, suffix, gang ? `, gang ${gang}` : ""));
}

export function makeNodeButton(name, isFailed, tell) {
  const verb = isFailed ? "recover" : "fail";
  const act = async () => {
    try {
      await send(`nodes/${encodeURIComponent(name)}/${verb}`, {});
      tell("");
    } catch (error) {
      tell(error.message);
    }
  };
  return h("button", { type: "button", onclick: act, "aria-label": `${verb} node ${name}` }, verb);
}

export class NodesPage {
  constructor(view, store) {
    this.store = store;
    this.query = new NodesQuery();
    this.status = h("p", { class: "quiet", role: "status" });
    this.body = h("div", {});
    view.replaceChildren(h("h1", {}, "Nodes"), this.status, this.body);
    this.load();
  }

  close() {
    this.isClosed = true;
    clearTimeout(this.timer);
  }

  update(change) {
    if (!change.search && !change.all && !change.isMapChanged && !(change.rows || []).length) return;
    if (this.timer && !change.search) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.timer = null;
      this.load();
    }, change.search ? TYPING_MILLISECONDS : CALM_MILLISECONDS);
  }

  async load() {
    const asked = this.asked = Symbol("the last question; answers to others come too late");
    try {
      const page = await this.query.read(this.store.search);
      if (!this.isClosed && asked === this.asked) this.draw(page);
    } catch (error) {
      if (!this.isClosed) this.status.textContent = error.message;
    }
  }

  draw(page) {
    const whole = page.cluster;
    const text = `${count(whole.nodes, "node")}, ${whole.gpus - whole.gpusFree} of ${whole.gpus} GPUs taken or unavailable`;
    if (this.status.textContent !== text) this.status.textContent = text;
    show(this.body, page, () => [
      page.errors.map((error) => h("p", { class: "waits" }, `! ${error}`)),
      page.shown ? this.makeArea(whole, 2) : h("p", { class: "quiet" }, "No node matches."),
      this.query.makeButton(page, () => this.load()),
    ]);
  }

  makeArea(area, level) {
    return h("section", { class: "area" },
      h(`h${level}`, {}, `${area.name}   `, h("span", { class: "quiet" },
        `${area.tierName && !area.name.startsWith(area.tierName) ? `${area.tierName}, ` : ""}${count(area.nodes, "node")}, ${area.gpusFree} of ${area.gpus} GPUs free`)),
      area.hosts.length ? h("ul", { class: "hosts" }, area.hosts.map((host) => this.makeHost(host))) : null,
      area.areas.map((each) => this.makeArea(each, Math.min(6, level + 1))));
  }

  makeHost(host) {
    const note = [host.note, host.isFailed && "failed by the simulation"].filter(Boolean).join(", ");
    return h("li", { class: note ? "host help" : "host", tabindex: "-1", "data-line": host.name, "data-key": host.name },
      h("div", { class: "host-name" }, h("b", {}, host.name), note ? h("span", { class: "word blocked" }, ` ! ${note}`) : null,
        this.store.cluster.isSimulated ? makeNodeButton(host.name, host.isFailed, (text) => { this.status.textContent = text || this.status.textContent; }) : null),
      h("div", {}, makeBar(host)),
      h("ul", { class: "residents" }, host.lines.map((line) => makeLine(line, this.store))),
      host.linesLeftOut ? h("button", { type: "button", "data-key": `all ${host.name}`, onclick: () => this.showWhole(host.name) },
        `and ${host.linesLeftOut} more on ${host.name}`) : null);
  }

  showWhole(name) {
    this.query.whole.add(name);
    this.load();
  }
}
