// What each reason means: links to it from wherever a reason stands, and the page that explains it.

import { h } from "./dom.js";

let known = {};

export function fillReasons(reasons) {
  known = reasons;
}

// A reason as a link to its explanation; a reason of another program has no page and stays text.
export function reason(name) {
  if (!Object.hasOwn(known, name)) return name;
  return h("a", { href: `#/reason/${encodeURIComponent(name)}`, class: "reason" }, name);
}

// A sentence that begins with a reason and a colon, as "WaitingForReady: 3 of 6 groups wait".
export function sentence(text) {
  const found = /^(\w+): /.exec(text);
  return found ? [reason(found[1]), text.slice(found[1].length)] : [text];
}

// Text with `commands` in it: what stands between backquotes is code.
function prose(text) {
  return text.split("`").map((part, place) => (place % 2 ? h("code", {}, part) : part));
}

function explain(name) {
  const { meaning, cause, action } = known[name];
  return h("dl", { class: "why" }, h("dt", {}, "means"), h("dd", {}, prose(meaning)),
    h("dt", {}, "cause"), h("dd", {}, prose(cause)), h("dt", {}, "what to do"), h("dd", {}, prose(action)));
}

export class ReasonPage {
  constructor(view, store, name) {
    this.view = view;
    this.store = store;
    this.name = name;
    this.draw();
  }

  update(change) {
    if (change.all || (change.rows || []).length) this.draw();
  }

  draw() {
    const names = Object.keys(known).sort();
    const isKnown = Object.hasOwn(known, this.name);
    const head = this.name || "Reasons";
    const unknown = this.name ? [h("p", {}, "No page is about this word.")] : [];
    this.view.replaceChildren(h("h1", {}, head), ...(isKnown ? [explain(this.name)] : unknown),
      h("h2", {}, "All reasons"),
      h("ul", { class: "columns" }, names.map((name) =>
        h("li", {}, h("a", { href: `#/reason/${name}`, "data-line": name, "aria-current": name === this.name ? "page" : null }, name)))));
  }
}
