// The time line: a lane for each group or instance, above them the ready units and their budget.
// Phases differ in height and have their names written in them, so that no colour is needed.

import { h, svg, timeNow, writeSeconds } from "./dom.js";
import { reason } from "./reasons.js";

const LANE = 24, LANE_NARROW = 36, CHART = 70, TOP = 18, NARROW = 640;
const HEIGHTS = { waiting: 3, pulling: 8, loading: 14, ready: 18, leaving: 18 };
const WINDOWS = [["5 minutes", 300], ["15 minutes", 900], ["1 hour", 3600], ["6 hours", 21600]];
const LANES_SHOWN = 40, LEAST = 30;

const seconds = (stamp) => Date.parse(stamp) / 1000;

function makeScale(from, to, left, width) {
  const factor = (width - left) / Math.max(1, to - from);
  return (moment) => left + (Math.min(to, Math.max(from, moment)) - from) * factor;
}

function chooseTick(length) {
  return [10, 30, 60, 120, 300, 600, 1800, 3600, 7200].find((tick) => length / tick <= 6) || 14400;
}

function makeAxis(from, to, scale, height) {
  const tick = chooseTick(to - from);
  const marks = [];
  for (let ago = 0; ago < to - from; ago += tick) {
    const x = scale(to - ago);
    marks.push(svg("line", { x1: x, x2: x, y1: TOP - 4, y2: height, class: "grid" }),
      svg("text", { x, y: 11, class: "tick", "text-anchor": ago ? "middle" : "end" }, ago ? `-${writeSeconds(ago)}` : "now"));
  }
  return marks;
}

// The bottom is that of the lane.
function makeSpan(span, bottom, from, to, scale) {
  const start = seconds(span.start), end = span.end ? seconds(span.end) : to;
  if (end < from || start > to) return null;
  const x = scale(start), width = Math.max(1.5, scale(end) - x), height = HEIGHTS[span.phase];
  const name = svg("title", {}, `${span.phase}, revision ${span.revision}, ${writeSeconds(end - start)}${span.end ? "" : " so far"}`);
  const box = svg("rect", { x, width, y: bottom - height, height, class: `span ${span.phase}` }, name);
  const label = `${span.phase} ${span.revision ? `r${span.revision}` : ""}`;
  const fits = width > label.length * 6.5 && height >= 14;
  return [box, fits ? svg("text", { x: x + 3, y: bottom - 3, class: `span-text ${span.phase}` }, label) : null];
}

function makeLane(lane, place, shape) {
  const bottom = shape.top + (place + 1) * shape.lane - 4;
  // A narrow window has the name above the lane.
  const y = shape.isNarrow ? bottom - shape.lane + 13 : bottom - 3, most = shape.isNarrow ? Math.floor(shape.width / 8) : 24;
  const name = lane.name.length > most ? `${lane.name.slice(0, most - 1)}…` : lane.name;
  return [svg("text", { x: 0, y, class: "lane" }, name),
    svg("line", { x1: shape.left, x2: shape.width, y1: bottom, y2: bottom, class: "grid" }),
    lane.spans.map((span) => makeSpan(span, bottom, shape.from, shape.to, shape.scale))];
}

function makeSteps(levels, field, shape, y) {
  const points = [];
  levels.forEach((level, place) => {
    const start = Math.max(shape.from, seconds(level.at));
    const end = place + 1 < levels.length ? seconds(levels[place + 1].at) : shape.to;
    if (end < shape.from) return;
    points.push([shape.scale(start), y(level[field])], [shape.scale(end), y(level[field])]);
  });
  return points;
}

const join = (points) => points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ");

// The band is what the budget allows; the line is how many units were ready.
function makeBand(band, place, shape) {
  const top = TOP + place * CHART;
  const most = Math.max(1, ...band.levels.map((level) => Math.max(level.most, level.ready)));
  const y = (value) => top + CHART - 10 - (value / most) * (CHART - 24);
  const upper = makeSteps(band.levels, "most", shape, y), lower = makeSteps(band.levels, "least", shape, y);
  const ready = makeSteps(band.levels, "ready", shape, y);
  const last = band.levels.at(-1);
  const title = `${band.role || "groups"}: ${last.ready} ready of ${last.wanted}; a rollout keeps at least ${last.least} and makes at most ${last.most}`;
  return [
    svg("polygon", { points: join([...upper, ...lower.reverse()]), class: "budget" }, svg("title", {}, title)),
    svg("polyline", { points: join(ready), class: "level" }),
    svg("text", { x: shape.isNarrow ? shape.left : 0, y: top + 12, class: "lane" }, band.role || "ready groups"),
    shape.isNarrow ? null : svg("text", { x: 0, y: top + 26, class: "tick" }, `${last.ready}/${last.wanted}, budget ${last.least} to ${last.most}`),
  ];
}

function makeMark(mark, shape, height) {
  const at = seconds(mark.at);
  if (at > shape.to) return null;
  const x = shape.scale(at);
  return [svg("line", { x1: x, x2: x, y1: TOP, y2: height, class: "mark" }),
    svg("text", { x: x + 3, y: TOP + 10, class: "mark-text" }, `! ${mark.reason}`, svg("title", {}, mark.message))];
}

export class TimelineSection {
  constructor(body) {
    this.length = WINDOWS[1][1];
    this.all = false;
    const choice = h("select", { "aria-label": "Length of the time line" },
      WINDOWS.map(([name, value]) => h("option", { value, selected: value === this.length }, name)));
    choice.addEventListener("change", () => {
      this.length = Number(choice.value);
      this.redraw();
    });
    this.choice = choice;
    this.picture = h("div", { class: "timeline" });
    this.list = h("ul", { class: "marks" });
    this.more = h("button", { type: "button", hidden: true, onclick: () => { this.all = !this.all; this.redraw(); } });
    body.append(h("p", {}, "the last ", choice), this.picture, this.more, this.list);
    this.watcher = new ResizeObserver(() => this.redraw());
    this.watcher.observe(this.picture);
    this.timer = setInterval(() => this.redraw(), 2000);
  }

  close() {
    this.watcher.disconnect();
    clearInterval(this.timer);
  }

  draw(timeline) {
    this.timeline = timeline;
    this.redraw();
    this.list.replaceChildren(...timeline.marks.map((mark) =>
      h("li", {}, "! ", reason(mark.reason), `: ${mark.message} (${new Date(mark.at).toLocaleTimeString()})`)));
  }

  // A workload that is younger than the chosen length has the whole width for itself.
  shape(width, bands) {
    const to = timeNow() / 1000, isNarrow = width < NARROW;
    const starts = this.timeline.lanes.flatMap((lane) => lane.spans.map((span) => seconds(span.start)));
    const first = Math.min(to - LEAST, ...starts);
    const left = isNarrow ? 0 : 170, lane = isNarrow ? LANE_NARROW : LANE, from = Math.max(to - this.length, first);
    const top = TOP + bands * CHART;
    return { from, to, left, width, top, lane, isNarrow, scale: makeScale(from, to, left, width) };
  }

  redraw() {
    if (!this.timeline || !this.picture.isConnected) return;
    const { lanes, bands, marks } = this.timeline;
    const width = Math.floor(this.picture.clientWidth) || 300;
    const drawn = bands.filter((band) => band.levels.length);
    const shape = this.shape(width, drawn.length);
    const live = lanes.filter((lane) => !lane.spans.length || !lane.spans.at(-1).end || seconds(lane.spans.at(-1).end) > shape.from);
    const shown = this.all ? live : live.slice(0, LANES_SHOWN);
    const height = shape.top + shown.length * shape.lane + 4;
    this.more.hidden = live.length <= LANES_SHOWN;
    this.more.textContent = this.all ? "show fewer lanes" : `show all ${live.length} lanes`;
    const label = `Time line of ${live.length} lanes: ${live.slice(0, 8).map((lane) => `${lane.name} ${lane.spans.at(-1)?.phase || "gone"}`).join(", ")}`;
    this.picture.replaceChildren(svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label },
      makeAxis(shape.from, shape.to, shape.scale, height),
      drawn.map((band, place) => makeBand(band, place, shape)),
      shown.map((lane, place) => makeLane(lane, place, shape)),
      marks.map((mark) => makeMark(mark, shape, height))));
  }
}
