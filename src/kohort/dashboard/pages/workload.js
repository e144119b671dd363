// The page of one workload: why it waits, its time line, its tree, what changed, and its events.

import { age, count, h, needsHelp, show, word } from "./dom.js";
import { reason, sentence } from "./reasons.js";
import { pathOf, read } from "./server.js";
import { StepsSection } from "./steps.js";
import { TimelineSection } from "./timeline.js";
import { makeVerbs } from "./verbs.js";

const CALM_MILLISECONDS = 250;

function section(title, id) {
  const body = h("div", { class: "body" });
  const element = h("section", { id, "aria-labelledby": `${id}-title` },
    h("h2", { id: `${id}-title` }, title), body);
  return { element, body };
}

function journalOf(row) {
  return `#/journal/${[row.kind, row.namespace, row.name].map(encodeURIComponent).join("/")}`;
}

function makeHead({ row, gpus }) {
  const role = row.roles.map((each) =>
    h("li", {}, `${each.name}: ${each.ready}/${each.wanted} ready, ${each.updated}/${each.wanted} updated`,
      each.isPaused ? ", paused" : "", each.reasons.map((why) => [", ", reason(why.reason)])));
  return [
    h("h1", {}, row.name, " ", h("span", { class: "quiet" }, row.kind)),
    h("p", { class: "facts" }, word(row.health.word), "   ",
      row.health.since ? ["since ", age(row.health.since), "   "] : "",
      `${row.ready}/${row.wanted} ready   ${row.updated}/${row.wanted} updated   `,
      row.revision ? `revision ${row.revision}   ` : "",
      `${gpus.inUse} of ${gpus.asked} GPUs in use   `,
      row.namespace ? `namespace ${row.namespace}   ` : "",
      "age ", age(row.created)),
    role.length ? h("ul", { class: "roles" }, role) : null,
    h("p", {}, h("a", { href: journalOf(row) }, "Journal of its decisions")),
  ];
}

function makeWhy(why) {
  const rules = [["strategy", why.rules.strategy], ["carrier", why.rules.carrier],
    ["maxUnavailable", why.rules.maxUnavailable], ["maxSurge", why.rules.maxSurge],
    ["partition", why.rules.partition]].filter(([, value]) => value !== null && value !== "" && value !== undefined);
  return [
    h("dl", { class: "why" },
      h("dt", {}, "waits for"), h("dd", {}, sentence(why.waits)),
      why.on.length ? [h("dt", {}, "on"), h("dd", {}, h("ul", {}, why.on.map(makeFinding)))] : null,
      why.gangs.length ? [h("dt", {}, "gang"), h("dd", {}, h("ul", {}, why.gangs.map((text) => h("li", {}, text))))] : null,
      h("dt", {}, "since"), h("dd", {}, age(why.since)),
      why.commands.length ? [h("dt", {}, "next"), h("dd", {}, why.commands.map((text) => h("code", { class: "command" }, text)))] : null,
      why.decisions.length ? [h("dt", {}, "decided"), h("dd", {}, h("ul", {}, why.decisions.map((text) => h("li", {}, text))))] : null,
      rules.length ? [h("dt", {}, "rules"), h("dd", {}, rules.map(([name, value]) => `${name} ${value}`).join(", "))] : null,
      why.notes.length ? [h("dt", {}, "notes"), h("dd", {}, h("ul", {}, why.notes.map((text) => h("li", {}, text))))] : null),
  ];
}

function makeFinding(finding) {
  return h("li", {}, h("b", {}, finding.about), " ", reason(finding.reason), `: ${finding.message}`,
    finding.node ? ` (on ${finding.node})` : "",
    finding.same.length ? ` and ${count(finding.same.length, "other")} alike` : "",
    finding.events.length
      ? h("ul", {}, finding.events.map((event) => h("li", {}, `${event.reason}: ${event.message} `, age(event.seen))))
      : null);
}

// Members by role and instance: a workload without roles has its members in the group itself.
function groupMembers(lines) {
  const roles = new Map();
  for (const line of lines) {
    const instances = roles.get(line.line) || new Map();
    roles.set(line.line, instances);
    const members = instances.get(line.instance) || [];
    instances.set(line.instance, members);
    members.push(line);
  }
  return roles;
}

function makeMember(member, unit) {
  const trouble = member.trouble;
  return h("li", { class: "member", tabindex: "-1", "data-line": member.name, "data-key": member.name },
    word(member.phase), " ", h("span", { class: "member-name" }, member.name), " ",
    h("span", { class: "quiet" }, `${member.role}   ${member.node || "no node"}   `, age(member.created)),
    member.isCurrent ? null : h("span", { class: "quiet" }, `   a leftover of an earlier ${unit}`),
    trouble ? h("div", { class: "waits" }, reason(trouble.reason), `: ${trouble.message}`) : null);
}

function summarize(members) {
  const ready = members.filter((member) => member.phase === "ready").length;
  return `${count(members.length, "member")}, ${ready} ready`;
}

// The instances of one role, each with its members.
function makeInstances(role, instances, folds, group, unit) {
  return [...instances].map(([ordinal, members]) => makeInstance(role, ordinal, members, folds, group, unit));
}

function makeInstance(role, ordinal, members, folds, group, unit) {
  const phase = members.find((member) => member.phase !== "ready")?.phase || "ready";
  const key = `${group}/${role}/${ordinal}`;
  return h("li", {}, folds.make(key, phase !== "ready",
    [word(phase), ` ${role} ${ordinal}   `, h("span", { class: "quiet" }, summarize(members))],
    h("ul", {}, members.map((member) => makeMember(member, unit)))));
}

// A role that has the name of its workload was named by nobody.
function makeRoles(group, lines, folds, row) {
  const roles = groupMembers(lines), unit = row.isOneGroup ? "instance" : "group";
  if (roles.size === 1 && roles.has("")) return h("ul", {}, lines.map((line) => makeMember(line, unit)));
  if (row.isOneGroup && roles.size === 1 && roles.has(row.name)) {
    return h("ul", {}, makeInstances("instance", roles.get(row.name), folds, group, unit));
  }
  return h("ul", {}, [...roles].map(([role, instances]) => {
    const all = [...instances.values()].flat();
    const isMoving = all.some((member) => member.phase !== "ready");
    return h("li", {}, folds.make(`${group}/${role}`, isMoving,
      [`role ${role}   `, h("span", { class: "quiet" }, `${count(instances.size, "instance")}, ${summarize(all)}`)],
      h("ul", {}, makeInstances(role, instances, folds, group, unit))));
  }));
}

// What the user has folded or unfolded stays so when the tree is drawn again.
class Folds {
  constructor() {
    this.chosen = new Map();
  }

  make(key, isOpen, title, body) {
    const choose = () => this.chosen.set(key, !details.open);
    const details = h("details", {}, h("summary", { "data-line": key, "data-key": key, onclick: choose }, title), body);
    details.open = this.chosen.get(key) ?? isOpen;
    return details;
  }
}

function makeTree(tree, folds) {
  if (!tree.groups.length) return [h("p", { class: "quiet" }, "It has no groups.")];
  if (tree.row.isOneGroup) return tree.groups.map((group) => makeOnlyGroup(group, folds, tree.row));
  return [h("ul", { class: "tree" }, tree.groups.map((group) => {
    const name = group.first === group.last ? `group ${group.first}` : `groups ${group.first}–${group.last}`;
    return h("li", {}, folds.make(name, group.phase !== "ready" || tree.groups.length === 1,
      makeGroupTitle(group, ` ${name}   `), makeRoles(name, group.lines, folds, tree.row)));
  }))];
}

function makeGroupTitle(group, name) {
  return [word(group.phase), name,
    h("span", { class: "quiet" }, `revision ${group.revision}   ${group.membersReady}/${group.members} members ready`),
    group.isStuck ? h("span", { class: "word blocked" }, " ! stuck") : null];
}

// The roles of a workload that is its only group stand under it themselves.
function makeOnlyGroup(group, folds, row) {
  const roles = makeRoles("", group.lines, folds, row);
  roles.classList.add("tree");
  return [h("p", {}, makeGroupTitle(group, "   ")), roles];
}

function makeManifest(change) {
  if (!change) return [h("p", { class: "quiet" }, "There is no other revision to compare with.")];
  const names = { "+": "ins", "-": "del" };
  const lines = change.lines.map((line) =>
    h(names[line.sign] || "span", { class: "line" }, line.sign === "@" ? "…" : `${line.sign} ${line.text}`));
  return [
    h("p", { class: "quiet" }, `from revision ${change.old} to revision ${change.new}`),
    h("pre", { class: "manifest", tabindex: "0", role: "region", "aria-label": "Changed lines of the manifest" }, lines),
  ];
}

function makeHistory(history) {
  if (!history.length) return [];
  const cells = (line) => [h("td", { class: "number" }, line.number), h("td", { class: "number wide" }, line.groups),
    h("td", { class: "words" }, [line.isTarget && "target", line.hasServed && "has served"].filter(Boolean).join(", ")),
    h("td", { class: "number wide" }, age(line.created)),
    h("td", {}, line.changes.slice(0, 4).map((each) =>
      h("div", {}, `${each.path}: ${each.old || "(none)"} → ${each.new || "(none)"}`)))];
  const head = [["Revision"], ["Groups", "wide"], ["State"], ["Age", "wide"], ["Changes"]]
    .map(([name, kind]) => h("th", { scope: "col", class: kind || null }, name));
  return [h("div", { class: "scrolls" }, h("table", {}, h("caption", { class: "hidden" }, "Revisions"),
    h("thead", {}, h("tr", {}, head)),
    h("tbody", {}, [...history].reverse().map((line) => h("tr", {}, cells(line))))))];
}

function makeEvents(events) {
  if (!events.length) return [h("p", { class: "quiet" }, "There are no events.")];
  return [h("ul", { class: "events" }, events.map((event) => h("li", {},
    h("span", { class: "quiet" }, age(event.seen), event.count > 1 ? ` ×${event.count}` : "", "   "),
    h("b", {}, event.type === "Warning" ? `! ${event.reason}` : event.reason),
    h("span", { class: "quiet" }, `   ${event.object}   `), event.message)))];
}

export class WorkloadPage {
  constructor(view, store, id, anchor) {
    this.store = store;
    this.id = id;
    this.anchor = anchor;
    this.folds = new Folds();
    this.head = h("div", {});
    this.verbs = h("p", { class: "controls" });
    this.parts = {
      why: section("Why", "why"), time: section("Time line", "time"), steps: section("Steps to come", "steps"),
      tree: section("Groups", "tree"), manifest: section("Changed lines", "manifest"),
      history: section("Revisions", "history"), events: section("Events", "events"),
    };
    this.parts.why.element.tabIndex = -1;
    this.timeline = new TimelineSection(this.parts.time.body);
    this.steps = new StepsSection(this.parts.steps);
    const { why, time, steps, tree, manifest, history, events } = this.parts;
    view.replaceChildren(h("p", { class: "quiet" }, "Loading …"));
    this.put = () => view.replaceChildren(this.head, this.verbs, why.element, time.element, steps.element, tree.element,
      manifest.element, history.element, events.element);
    this.view = view;
    this.load();
  }

  close() {
    this.isClosed = true;
    this.timeline.close();
  }

  update(change) {
    if (!change.all && !(change.touched || []).includes(this.id) && !(change.gone || []).includes(this.id)) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.load(), CALM_MILLISECONDS);
  }

  async load() {
    if (this.isLoading) {
      this.isStale = true;
      return;
    }
    this.isLoading = true;
    try {
      const page = await read(`${pathOf(this.id)}/page`);
      if (!this.isClosed) this.draw(page);
    } catch (error) {
      if (!this.isClosed) this.fail(error);
    } finally {
      this.isLoading = false;
      if (this.isStale && !this.isClosed) {
        this.isStale = false;
        this.load();
      }
    }
  }

  fail(error) {
    this.put = this.put || (() => {});
    this.isShown = false;
    this.view.replaceChildren(h("h1", {}, "Not here"), h("p", {}, `${error.message}. `, h("a", { href: "#/" }, "All workloads")));
  }

  draw(page) {
    if (!this.isShown) this.put();
    const { why, tree, manifest, history, events } = this.parts;
    show(this.head, { row: page.tree.row, gpus: page.gpus }, makeHead);
    const held = { isWritable: this.store.cluster.allowsWrites, isHeld: page.held.length > 0, history: page.history };
    show(this.verbs, held, () => makeVerbs(this.id, held));
    show(why.body, page.why, makeWhy);
    why.element.classList.toggle("help", needsHelp(page.tree.row.health.word));
    this.timeline.draw(page.timeline);
    this.steps.draw(page);
    tree.element.querySelector("h2").textContent = page.tree.row.isOneGroup ? "Roles" : "Groups";
    show(tree.body, page.tree, (value) => makeTree(value, this.folds));
    show(manifest.body, page.manifest, makeManifest);
    show(history.body, page.history, makeHistory);
    show(events.body, page.events, makeEvents);
    if (!this.isShown && this.anchor === "why") this.focusWhy();
    this.isShown = true;
  }

  focusWhy() {
    this.parts.why.element.focus();
    this.parts.why.element.scrollIntoView({ block: "start" });
  }
}
