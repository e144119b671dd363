// The journal: what the operator saw and decided at each moment that it remembers.
// A slider goes back to a moment; the keys , and . go one moment back and forth.

import { age, count, h, show, svg, word, writeSeconds } from "./dom.js";
import { hrefOf } from "./overview.js";
import { reason, sentence } from "./reasons.js";
import { read } from "./server.js";

const CALM_MILLISECONDS = 1000, STEPS_KEPT = 300;
const LANE = 22, LANE_NARROW = 38, TOP = 20, LANES_SHOWN = 12, NARROW = 640;

const seconds = (stamp) => Date.parse(stamp) / 1000;
const ownerOf = (moment) => `${moment.kind}/${moment.namespace}/${moment.name}`;
const nameOf = (moment) => `${moment.namespace ? `${moment.namespace}/` : ""}${moment.name}`;

function describe(moment) {
  const parts = [moment.actions ? count(moment.actions, "write") : "", moment.waits ? `waits, ${moment.waits}` : ""];
  return parts.filter(Boolean).join("; ") || count(moment.decisions, "decision");
}

// A write is a tall box, a wait a box with a mark above it, anything else a short box.
function makeTick(moment, x, bottom) {
  const height = moment.actions ? 14 : 7;
  return [
    svg("rect", { x: x - 1.5, width: 3, y: bottom - height, height, class: `tick-box ${moment.actions ? "acts" : "sees"}` },
      svg("title", {}, `${new Date(moment.at).toLocaleTimeString()} ${nameOf(moment)}: ${describe(moment)}`)),
    moment.waits ? svg("text", { x, y: bottom - height - 1, class: "mark-text", "text-anchor": "middle" }, "!") : null,
  ];
}

function makeLines(title, lines, make = (text) => text) {
  if (!lines.length) return [];
  return [h("dt", {}, title), h("dd", {}, h("ul", {}, lines.map((line) => h("li", {}, make(line)))))];
}

function nameSeen(seen, step) {
  if (step.isOneGroup) return "";
  return seen.first === seen.last ? `group ${seen.first} ` : `groups ${seen.first}–${seen.last} `;
}

function makeSeen(seen, step) {
  const revision = seen.revision ? `revision ${seen.revision}${seen.isTarget ? "" : ", old"}` : "several revisions";
  const each = seen.first === seen.last ? "" : " in each";
  return [word(seen.phase), ` ${nameSeen(seen, step)}`,
    h("span", { class: "quiet" }, `${revision}; ${seen.membersReady}/${seen.members} members ready${each}`),
    seen.roles.length
      ? h("ul", {}, seen.roles.map((role) => h("li", {},
        `${role.role}: ${role.ready}/${role.wanted} ready, ${role.updated}/${role.wanted} updated, ${role.exist} exist`)))
      : null];
}

function makeDecision(text) {
  const found = /^wait, (\w+): /.exec(text);
  return found ? ["wait, ", reason(found[1]), text.slice(6 + found[1].length)] : [text];
}

function makeStep({ step, moment, href }) {
  return [
    h("h2", { id: "step-title" }, `${step.name} `, h("span", { class: "quiet" }, step.kind)),
    h("p", { class: "facts" }, `${new Date(moment.at).toLocaleString()}   `, age(moment.at), " ago   ",
      step.isOneGroup ? `${step.ready ? "" : "not "}ready, ${step.updated ? "" : "not "}updated   `
        : `${step.ready}/${step.wanted} ready   ${step.updated}/${step.wanted} updated   ${step.groups} exist   `,
      href ? h("a", { href }, "as it is now") : h("span", { class: "quiet" }, "it does not exist any more")),
    h("dl", { class: "why" },
      h("dt", {}, "saw"), h("dd", {}, step.seen.length ? h("ul", {}, step.seen.map((seen) => h("li", {}, makeSeen(seen, step)))) : "no group"),
      step.decisions.length ? makeLines("decided", step.decisions, makeDecision) : [h("dt", {}, "decided"), h("dd", {}, "nothing")],
      makeLines("did", step.actions),
      makeLines("this version would also", step.added, makeDecision),
      makeLines("this version would not", step.dropped, makeDecision)),
  ];
}

function makeProblem(page) {
  return [h("p", {}, sentence(page.problem)), page.commands.map((text) => h("code", { class: "command" }, text))];
}

export class JournalPage {
  constructor(view, store, owner) {
    this.store = store;
    this.owner = owner; // as kind/namespace/name; empty: all workloads
    this.chosen = null; // the id of a moment; null: always the newest
    this.steps = new Map();
    this.page = { moments: [], problem: "", commands: [] };
    this.status = h("p", { class: "quiet", role: "status" }, "Loading …");
    this.choice = h("select", { "aria-label": "Workload", id: "journal-owner", onchange: () => this.choose(this.choice.value) });
    this.slider = h("input", { type: "range", id: "moment", min: "0", step: "1", "aria-label": "Moment", oninput: () => this.go(Number(this.slider.value)) });
    const button = (text, label, by) => h("button", { type: "button", "aria-label": label, onclick: () => this.move(by) }, text);
    this.controls = h("div", { hidden: true }, h("p", { class: "controls" }, "of ", this.choice,
      button("‹", "previous moment", -1), button("›", "next moment", 1),
      h("button", { type: "button", id: "newest", onclick: () => this.go(this.list.length - 1) }, "newest")), this.slider);
    this.picture = h("div", { class: "timeline" });
    this.body = h("section", { "aria-live": "polite", "aria-labelledby": "step-title", id: "step", hidden: true });
    this.problem = h("div", {});
    view.replaceChildren(h("h1", {}, "Journal"), this.status, this.problem, this.controls, this.picture, this.body);
    this.watcher = new ResizeObserver(() => this.drawTimes());
    this.watcher.observe(this.picture);
    this.load();
  }

  close() {
    this.isClosed = true;
    clearTimeout(this.timer);
    this.watcher.disconnect();
  }

  update(change) {
    if (this.timer || !(change.all || (change.touched || []).length || (change.rows || []).length)) return;
    this.timer = setTimeout(() => {
      this.timer = null;
      this.load();
    }, CALM_MILLISECONDS);
  }

  async load() {
    try {
      const page = await read("journal");
      if (!this.isClosed) this.take(page);
    } catch (error) {
      if (!this.isClosed) this.status.textContent = error.message;
    }
  }

  get list() {
    return this.owner ? this.page.moments.filter((moment) => this.isOwner(moment)) : this.page.moments;
  }

  // The address may have the kind in small letters, as a resource has it.
  isOwner(moment) {
    const [kind, ...rest] = this.owner.split("/");
    const [own, ...name] = ownerOf(moment).split("/");
    return kind.toLowerCase() === own.toLowerCase() && rest.join("/") === name.join("/");
  }

  get place() {
    const found = this.chosen === null ? -1 : this.list.findIndex((moment) => moment.id === this.chosen);
    return found < 0 ? this.list.length - 1 : found;
  }

  take(page) {
    this.page = page;
    show(this.problem, page.problem ? page : null, (value) => (value ? makeProblem(value) : []));
    const owners = [...new Set(page.moments.map(ownerOf))].sort();
    const chosen = page.moments.find((moment) => this.owner && this.isOwner(moment));
    if (chosen) this.owner = ownerOf(chosen);
    else if (this.owner) owners.push(this.owner);
    show(this.choice, [owners, this.owner], () => [h("option", { value: "", selected: !this.owner }, "all workloads"),
      owners.map((owner) => h("option", { value: owner, selected: owner === this.owner }, owner.replace("/", " ")))]);
    this.draw();
  }

  choose(owner) {
    this.owner = owner;
    this.chosen = null;
    this.draw();
  }

  move(by) {
    this.go(Math.max(0, Math.min(this.list.length - 1, this.place + by)));
  }

  // At the newest moment the page follows the operator; at any other it stays.
  go(place) {
    const list = this.list;
    this.chosen = place >= list.length - 1 ? null : list[place].id;
    this.draw();
  }

  draw() {
    const list = this.list, place = this.place, moment = list[place];
    this.controls.hidden = !this.page.moments.length;
    this.slider.max = String(Math.max(0, list.length - 1));
    this.slider.disabled = list.length < 2;
    this.slider.value = String(Math.max(0, place));
    const text = this.tell(list, place);
    if (this.status.textContent !== text) this.status.textContent = text;
    if (moment) this.slider.setAttribute("aria-valuetext", `${place + 1} of ${list.length}, ${new Date(moment.at).toLocaleTimeString()}, ${nameOf(moment)}, ${describe(moment)}`);
    this.body.hidden = !moment;
    this.drawTimes();
    if (moment) this.drawStep(moment);
  }

  tell(list, place) {
    if (this.page.problem) return "The journal cannot be shown.";
    if (!this.page.moments.length) return "The operator has decided nothing since it was started.";
    if (!list.length) return "The operator has decided nothing about this workload since it was started.";
    const span = writeSeconds(seconds(list.at(-1).at) - seconds(list[0].at));
    return `${count(list.length, "moment")} in ${span}; this is ${place + 1} of ${list.length}${this.chosen === null ? ", the newest" : ""}`;
  }

  async drawStep(moment) {
    this.wanted = moment.id;
    try {
      const step = this.steps.get(moment.id) || await read(`journal/step?id=${encodeURIComponent(moment.id)}`);
      this.steps.set(moment.id, step);
      if (this.steps.size > STEPS_KEPT) this.steps.delete(this.steps.keys().next().value);
      // A slider is faster than the server: only the last moment is shown.
      if (this.isClosed || this.wanted !== moment.id) return;
      show(this.body, { step, moment, href: this.find(moment) }, makeStep);
    } catch (error) {
      if (this.isClosed || this.wanted !== moment.id) return;
      show(this.body, error.message, (text) => [h("h2", { id: "step-title" }, "Not here"), h("p", {}, text)]);
    }
  }

  // The page of the workload, if it still exists.
  find(moment) {
    const begin = `${moment.kind.toLowerCase()}.`, end = `/${moment.namespace || "_"}/${moment.name}`;
    const id = [...this.store.rows.keys()].find((each) => each.startsWith(begin) && each.endsWith(end));
    return id ? hrefOf(id) : "";
  }

  drawTimes() {
    const list = this.list, chosen = list[this.place];
    if (!chosen || !this.picture.isConnected) {
      this.picture.replaceChildren();
      return;
    }
    const width = Math.floor(this.picture.clientWidth) || 300, left = width < NARROW ? 0 : 200;
    const from = seconds(list[0].at), length = Math.max(1, seconds(list.at(-1).at) - from);
    const scale = (stamp) => left + 8 + ((seconds(stamp) - from) / length) * (width - left - 16);
    const lanes = this.listLanes(list, chosen);
    const lane = left ? LANE : LANE_NARROW, height = TOP + lanes.length * lane + 4, x = scale(chosen.at);
    const isOfSeveral = new Set(lanes.map(([owner]) => owner.split("/")[1])).size > 1;
    const label = `Moments of ${count(lanes.length, "workload")} in ${writeSeconds(length)}; chosen: ${new Date(chosen.at).toLocaleTimeString()}`;
    const go = (event) => {
      const at = event.clientX - this.picture.getBoundingClientRect().left;
      const far = (moment) => Math.abs(scale(moment.at) - at);
      this.go(list.reduce((best, moment, place) => (far(moment) < far(list[best]) ? place : best), 0));
    };
    this.picture.replaceChildren(svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label, onclick: go },
      svg("text", { x: left + 8, y: 11, class: "tick" }, new Date(list[0].at).toLocaleTimeString()),
      svg("text", { x: width - 4, y: 11, class: "tick", "text-anchor": "end" }, new Date(list.at(-1).at).toLocaleTimeString()),
      lanes.map(([owner, moments], place) => {
        const bottom = TOP + (place + 1) * lane - 4, [kind, space, own] = owner.split("/");
        const whole = this.store.nameOf(kind, own) + (isOfSeveral && space ? ` in ${space}` : "");
        const most = left ? 28 : Math.floor(width / 8), name = whole.length > most ? `${whole.slice(0, most - 1)}…` : whole;
        // A narrow window has the name above the lane.
        return [svg("text", { x: 0, y: left ? bottom - 2 : bottom - lane + 13, class: "lane" }, name, name === whole ? null : svg("title", {}, whole)),
          svg("line", { x1: left, x2: width, y1: bottom, y2: bottom, class: "grid" }),
          moments.map((moment) => makeTick(moment, scale(moment.at), bottom))];
      }),
      svg("line", { x1: x, x2: x, y1: TOP - 4, y2: height, class: "chosen" }),
      svg("path", { d: `M ${x - 6} ${TOP - 6} L ${x + 6} ${TOP - 6} L ${x} ${TOP} z`, class: "chosen-mark" })));
  }

  // A lane for each workload, that of the chosen moment among the first.
  listLanes(list, chosen) {
    const lanes = new Map([[ownerOf(chosen), []]]);
    for (const moment of [...list].reverse()) {
      const owner = ownerOf(moment);
      if (!lanes.has(owner) && lanes.size < LANES_SHOWN) lanes.set(owner, []);
      if (lanes.has(owner)) lanes.get(owner).push(moment);
    }
    return [...lanes].sort(([one], [other]) => (one < other ? -1 : 1));
  }
}
