// The controls of a simulated cluster: its clock, and nodes that fail and recover.

import { h, show, writeSeconds } from "./dom.js";
import { makeNodeButton, NodesQuery } from "./nodes.js";
import { read, send } from "./server.js";

const POLL_MILLISECONDS = 2000;

function listHosts(area) {
  return [...area.hosts, ...area.areas.flatMap(listHosts)];
}

export class SimulationPage {
  constructor(view, store) {
    this.store = store;
    this.query = new NodesQuery();
    this.clock = h("p", { class: "facts", id: "clock", role: "status" });
    this.fault = h("p", { class: "waits", role: "alert" });
    this.nodes = h("div", {});
    const speed = h("input", { type: "number", id: "speed", min: "0.1", max: "1000", step: "any", value: "1" });
    const button = (text, body) => h("button", { type: "button", onclick: () => this.act(body()) }, text);
    this.pause = button("pause", () => ({ action: "pause" }));
    this.resume = button("resume", () => ({ action: "resume" }));
    view.replaceChildren(h("h1", {}, "Simulation"), this.fault,
      h("section", { "aria-labelledby": "clock-title" }, h("h2", { id: "clock-title" }, "Clock"), this.clock,
        h("p", { class: "controls" },
          this.pause, this.resume,
          button("step 1 minute", () => ({ action: "step", seconds: 60 })),
          button("step 5 minutes", () => ({ action: "step", seconds: 300 })),
          h("label", { for: "speed" }, "speed "), speed,
          button("set speed", () => ({ action: "speed", speed: Number(speed.value) })))),
      h("section", { "aria-labelledby": "nodes-title" }, h("h2", { id: "nodes-title" }, "Nodes"), this.nodes));
    this.load();
    this.timer = setInterval(() => this.loadClock(), POLL_MILLISECONDS);
  }

  close() {
    clearInterval(this.timer);
    this.isClosed = true;
  }

  update(change) {
    if (change.all || change.isMapChanged || change.search) this.load();
  }

  async act(body) {
    try {
      this.tellClock(await send("clock", body));
      this.fault.textContent = "";
    } catch (error) {
      this.fault.textContent = error.message;
    }
  }

  async load() {
    await this.loadClock();
    try {
      const page = await this.query.read(this.store.search);
      if (!this.isClosed) this.draw(page);
    } catch (error) {
      this.fault.textContent = error.message;
    }
  }

  async loadClock() {
    try {
      this.tellClock(await read("clock"));
    } catch (error) {
      this.fault.textContent = error.message;
    }
  }

  tellClock(clock) {
    if (!clock || this.isClosed) return;
    const text = `${clock.isPaused ? "paused" : "running"} at speed ${clock.speed}, ${writeSeconds(clock.elapsedSeconds)} since the start`;
    if (this.clock.textContent !== text) this.clock.textContent = text;
    this.pause.disabled = clock.isPaused;
    this.resume.disabled = !clock.isPaused;
  }

  draw(page) {
    const value = listHosts(page.cluster).map(({ name, note, isFailed, pods }) => ({ name, note, isFailed, pods }));
    const head = ["Node", "State", "Pods", "Control"].map((name) => h("th", { scope: "col" }, name));
    show(this.nodes, [value, page.matching], () => [h("table", { class: "controlled" }, h("caption", { class: "hidden" }, "Nodes of the simulation"),
      h("thead", {}, h("tr", {}, head)), h("tbody", {}, value.map((host) => h("tr", {},
        h("td", {}, host.name), h("td", {}, [host.isFailed && "failed", host.note].filter(Boolean).join(", ") || "ready"),
        h("td", { class: "number" }, host.pods),
        h("td", {}, makeNodeButton(host.name, host.isFailed, (text) => { this.fault.textContent = text; })))))),
      this.query.makeButton(page, () => this.load())]);
  }
}
