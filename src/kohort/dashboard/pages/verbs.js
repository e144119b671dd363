// Verbs on a workload: each shows its plan, and is carried out only when the user says so then.

import { h } from "./dom.js";
import { pathOf, send } from "./server.js";
import { makePlan } from "./steps.js";

const dialog = document.getElementById("turn");
const title = document.getElementById("turn-title");
const body = document.getElementById("turn-body");
const yes = document.getElementById("turn-yes");

async function propose(id, wish) {
  title.textContent = wish.verb;
  yes.hidden = true;
  body.replaceChildren(h("p", { class: "quiet" }, "Planning …"));
  dialog.showModal();
  try {
    const plan = await send(`${pathOf(id)}/plan`, wish);
    title.textContent = plan.text;
    body.replaceChildren(...[
      plan.details.length ? h("ul", {}, plan.details.map((text) => h("li", {}, text))) : null,
      plan.forecast ? makePlan(plan.forecast) : h("p", {}, "It cannot be planned."),
    ].flat(Infinity).filter(Boolean));
    yes.hidden = !plan.isChange;
    yes.onclick = () => carryOut(id, { ...wish, version: plan.version });
  } catch (error) {
    body.replaceChildren(h("p", { class: "waits", role: "alert" }, error.message));
  }
}

async function carryOut(id, wish) {
  yes.hidden = true;
  try {
    await send(`${pathOf(id)}/turn`, wish);
    dialog.close();
  } catch (error) {
    body.replaceChildren(h("p", { class: "waits", role: "alert" }, error.message));
  }
}

export function makeVerbs(id, { isWritable, isHeld, history }) {
  if (!isWritable || !history.length) return [];
  const button = (name, wish) => h("button", { type: "button", "data-key": name, onclick: () => propose(id, wish) }, `${name} …`);
  return [
    button("restart", { verb: "restart" }),
    isHeld ? button("resume", { verb: "resume" }) : button("pause", { verb: "pause" }),
    history.length > 1 ? button("undo", { verb: "undo" }) : null,
  ].filter(Boolean);
}
