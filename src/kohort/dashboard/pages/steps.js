// The steps to come, as the planner itself takes them in thought.

import { count, h, show, writeSeconds } from "./dom.js";

function list(names) {
  if (names.length <= 4) return names.join(", ");
  return `${names.slice(0, 3).join(", ")} and ${names.length - 3} more`;
}

function makeStep(step) {
  const parts = [step.goes.length && `goes: ${list(step.goes)}`, step.comes.length && `comes: ${list(step.comes)}`,
    step.updates.length && `updates in place: ${list(step.updates)}`].filter(Boolean);
  const least = Object.entries(step.readyLeast).map(([role, number]) => `${role ? `${role} ` : ""}${number}`).join(", ");
  const time = step.beginsSeconds === null ? "" : `after ${writeSeconds(step.beginsSeconds)}`;
  return h("tr", {}, h("td", { class: "number" }, step.number), h("td", {}, parts.join("; ")),
    h("td", { class: "number" }, least), h("td", { class: "number wide" }, step.pods),
    h("td", { class: "number wide" }, step.gpus), h("td", { class: "number" }, time));
}

function describeTime(plan) {
  if (plan.seconds === null || plan.seconds === undefined) return "no start was measured, so the time is not known";
  return `about ${writeSeconds(plan.seconds)}`;
}

// All that changes stands above already.
function describeRestart(restart, changes) {
  const why = restart.why.length === changes.length && changes.length > 1 ? "these changes" : restart.why.join(", ");
  return `${restart.isInPlace ? "updated in place" : "made anew"}: ${restart.what}${why && `, because of ${why}`}`;
}

export function makePlan(plan) {
  if (!plan.steps.length) return [h("p", { class: "quiet" }, "There is nothing to do."), makeBlockers(plan)];
  const least = plan.lines.map((line) => `never below ${line.readyLeast} of ${line.wanted} ${line.role || "groups"}`).join("; ");
  const head = [["Step"], ["What"], ["Least ready"], ["Pods", "wide"], ["GPUs", "wide"], ["Begins"]]
    .map(([name, kind]) => h("th", { scope: "col", class: kind || null }, name));
  return [
    plan.changes.length ? h("ul", { class: "marks" }, plan.changes.map((each) =>
      h("li", {}, `${each.path}: ${each.old || "(none)"} → ${each.new || "(none)"}`))) : null,
    h("p", {}, `${count(plan.steps.length, "step")}; ${least}; ${plan.gpus.extra ? `${plan.gpus.extra} extra GPUs` : "no extra GPUs"}; ${describeTime(plan)}`),
    plan.restarts.length ? h("ul", { class: "marks" }, plan.restarts.map((each) =>
      h("li", {}, describeRestart(each, plan.changes)))) : null,
    h("div", { class: "scrolls" }, h("table", {}, h("caption", { class: "hidden" }, "Steps to come"),
      h("thead", {}, h("tr", {}, head)), h("tbody", {}, plan.steps.slice(0, 50).map(makeStep)))),
    plan.steps.length > 50 ? h("p", { class: "quiet" }, `and ${plan.steps.length - 50} more steps`) : null,
    makeBlockers(plan),
  ];
}

function makeBlockers(plan) {
  const lines = [...plan.blockers.map((each) => `! ${each.reason}: ${each.message}`), ...plan.notes];
  return lines.length ? h("ul", { class: "marks" }, lines.map((text) => h("li", {}, text))) : null;
}

export class StepsSection {
  constructor(part) {
    this.part = part;
  }

  draw(page) {
    this.part.element.hidden = !page.steps;
    if (page.steps) show(this.part.body, page.steps, makePlan);
  }
}
