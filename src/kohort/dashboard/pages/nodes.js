// The map of the cluster: domains, the nodes in them, and whose pods stand there.

import { count, h, show } from "./dom.js";
import { hrefOf } from "./overview.js";
import { read, send } from "./server.js";

const CALM_MILLISECONDS = 500;

function listAreas(area) {
  return [area, ...area.areas.flatMap(listAreas)];
}

function makeBar(host) {
  const used = host.gpus - host.gpusFree;
  const text = host.note ? `${host.gpus} GPUs` : `${used} of ${host.gpus} GPUs in use`;
  const cells = host.gpus <= 16
    ? Array.from({ length: host.gpus }, (_, place) => h("span", { class: place < used && !host.note ? "gpu used" : "gpu" }))
    : [];
  return [h("span", { class: "gpus", "aria-hidden": "true" }, cells), h("span", { class: "quiet" }, text)];
}

// The pods of a node, those of one group in one line.
function makeResidents(host, residents) {
  const lines = new Map();
  for (const pod of host.pods) {
    const found = residents.get(`${pod.namespace}/${pod.name}`);
    const key = found ? `${found.namespace}/${found.workload}/${found.group}` : `${pod.namespace}/${pod.name}`;
    const line = lines.get(key) || { found, name: pod.name, pods: 0, gpus: 0 };
    line.pods += 1;
    line.gpus += pod.gpus;
    lines.set(key, line);
  }
  return [...lines.values()].map((line) => {
    const suffix = `${count(line.pods, "pod")}, ${count(line.gpus, "GPU")}`;
    if (!line.found) return h("li", {}, `${line.name}   `, h("span", { class: "quiet" }, suffix));
    const { workload, namespace, group, gang } = line.found;
    const [resource, name] = workload.split("/");
    return h("li", {}, h("a", { href: hrefOf(`${resource}/${namespace || "_"}/${name}`) }, name), ` group ${group}   `,
      h("span", { class: "quiet" }, suffix, gang ? `, gang ${gang}` : ""));
  });
}

function matches(host, text, residents) {
  if (!text) return true;
  const names = host.pods.map((pod) => residents.get(`${pod.namespace}/${pod.name}`)?.workload || pod.name);
  return [host.name, host.note, ...names].join(" ").toLowerCase().includes(text.toLowerCase());
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
    this.status = h("p", { class: "quiet", role: "status" });
    this.body = h("div", {});
    view.replaceChildren(h("h1", {}, "Nodes"), this.status, this.body);
    this.load();
  }

  close() {
    this.isClosed = true;
  }

  update(change) {
    if (change.search) this.draw();
    if (!change.all && !change.isMapChanged && !(change.rows || []).length) return;
    if (this.timer) return;
    this.timer = setTimeout(() => {
      this.timer = null;
      this.load();
    }, CALM_MILLISECONDS);
  }

  async load() {
    try {
      this.page = await read("nodes");
      if (!this.isClosed) this.draw();
    } catch (error) {
      if (!this.isClosed) this.status.textContent = error.message;
    }
  }

  draw() {
    if (!this.page) return;
    const { map, residents, failed } = this.page;
    const owners = new Map(residents.map((each) => [`${each.namespace}/${each.pod}`, each]));
    const whole = map.cluster;
    const text = `${count(whole.nodes, "node")}, ${whole.gpus - whole.gpusFree} of ${whole.gpus} GPUs taken or unavailable`;
    if (this.status.textContent !== text) this.status.textContent = text;
    const value = { map, residents, failed, search: this.store.search };
    show(this.body, value, () => [
      map.errors.map((error) => h("p", { class: "waits" }, `! ${error}`)),
      this.makeArea(whole, owners, new Set(failed), 2),
    ]);
  }

  makeArea(area, owners, failed, level) {
    const hosts = area.hosts.filter((host) => matches(host, this.store.search, owners));
    const inner = area.areas.map((each) => this.makeArea(each, owners, failed, Math.min(6, level + 1))).filter(Boolean);
    if (!hosts.length && !inner.length) return null;
    const title = `${area.name}   `;
    return h("section", { class: "area" },
      h(`h${level}`, {}, title, h("span", { class: "quiet" },
        `${area.tierName && !area.name.startsWith(area.tierName) ? `${area.tierName}, ` : ""}${count(area.nodes, "node")}, ${area.gpusFree} of ${area.gpus} GPUs free`)),
      hosts.length ? h("ul", { class: "hosts" }, hosts.map((host) => this.makeHost(host, owners, failed))) : null,
      inner);
  }

  makeHost(host, owners, failed) {
    const isFailed = failed.has(host.name);
    const note = [host.note, isFailed && "failed by the simulation"].filter(Boolean).join(", ");
    return h("li", { class: note ? "host help" : "host", tabindex: "-1", "data-line": host.name, "data-key": host.name },
      h("div", { class: "host-name" }, h("b", {}, host.name), note ? h("span", { class: "word blocked" }, ` ! ${note}`) : null,
        this.store.cluster.isSimulated ? makeNodeButton(host.name, isFailed, (text) => { this.status.textContent = text || this.status.textContent; }) : null),
      h("div", {}, makeBar(host)),
      h("ul", { class: "residents" }, makeResidents(host, owners)));
  }
}
