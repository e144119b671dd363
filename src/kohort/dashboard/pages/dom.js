// Elements are made here, and nowhere from text: whatever an object is called stays a text.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "text") element.textContent = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}

export function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

// Fill an element anew, only if what it shows has changed. The focus stays with the same key.
export function show(element, value, make) {
  const text = JSON.stringify(value);
  if (element.shown === text) return false;
  element.shown = text;
  const focused = element.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  element.replaceChildren(...[make(value)].flat(Infinity).filter(Boolean));
  if (focused) {
    const found = [...element.querySelectorAll("[data-key]")].find((e) => e.dataset.key === focused);
    if (found) found.focus({ preventScroll: true });
  }
  return true;
}

const SYMBOLS = {
  ready: "✓", starting: "●", updating: "●", leaving: "●", paused: "‖",
  blocked: "!", stalled: "!", broken: "✗", waiting: "●", pulling: "●", loading: "●",
  reading: "○",
};

// A word with its symbol: no state is told by colour alone.
export function word(text) {
  return h("span", { class: `word ${SYMBOLS[text] ? text : ""}` },
    h("span", { class: "symbol", "aria-hidden": "true" }, SYMBOLS[text] || "·"), " ", text);
}

export function needsHelp(text) {
  return text === "blocked" || text === "broken" || text === "stalled";
}

const MINUTE = 60, HOUR = 3600, DAY = 86400;

export function writeSeconds(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  const join = (large, largeWord, small, smallWord) => {
    const rest = Math.floor((whole % large) / small);
    return `${Math.floor(whole / large)}${largeWord}${rest ? `${rest}${smallWord}` : ""}`;
  };
  if (whole < MINUTE) return `${whole}s`;
  if (whole < HOUR) return join(MINUTE, "m", 1, "s");
  if (whole < DAY) return join(HOUR, "h", MINUTE, "m");
  return join(DAY, "d", HOUR, "h");
}

// The cluster's time in milliseconds: it differs from this machine's, and a simulated clock stands,
// leaps, and runs at a rate of its own. The server tells it; in between it follows that rate.
let told = { now: 0, here: 0, rate: 1 };

export function setTime({ now, rate }) {
  told = { now: Date.parse(now), here: Date.now(), rate };
  refreshAges();
}

export function timeNow() {
  return told.now + (Date.now() - told.here) * told.rate;
}

function writeAge(stamp) {
  return writeSeconds((timeNow() - Date.parse(stamp)) / 1000);
}

// How long ago something was; the text follows the clock.
export function age(stamp) {
  if (!stamp) return h("span", {}, "");
  return h("time", { datetime: stamp, title: stamp, class: "age" }, writeAge(stamp));
}

export function refreshAges() {
  for (const element of document.querySelectorAll("time.age")) {
    const text = writeAge(element.dateTime);
    if (element.textContent !== text) element.textContent = text;
  }
}

export function count(number, noun) {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
