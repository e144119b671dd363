// The server of the page: reading, writing, and the stream of changes. All addresses are relative.

const API = "api/v1";
const AGAIN_MILLISECONDS = 1500;

export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

async function call(path, options) {
  const answer = await fetch(`${API}/${path}`, { credentials: "same-origin", ...options });
  const text = await answer.text();
  let value = null;
  try {
    value = text ? JSON.parse(text) : null;
  } catch {
    throw new Refused(answer.status, `the server sent no JSON (${answer.status})`);
  }
  if (!answer.ok) throw new Refused(answer.status, (value && value.message) || answer.statusText);
  return value;
}

export function read(path) {
  return call(path, {});
}

export function send(path, body) {
  const headers = { "Content-Type": "application/json" };
  return call(path, { method: "POST", headers, body: JSON.stringify(body || {}) });
}

export function pathOf(id) {
  return `workloads/${id.split("/").map(encodeURIComponent).join("/")}`;
}

// Listens to changes. A browser resumes by itself after a broken connection, with the id of the
// last change; after a refusal it gives up, and then this goes on.
export class Stream {
  constructor(handlers) {
    this.handlers = handlers;
    this.lastId = "";
    this.open();
  }

  open() {
    const query = this.lastId ? `?lastEventId=${encodeURIComponent(this.lastId)}` : "";
    this.source = new EventSource(`${API}/stream${query}`);
    this.source.onopen = () => this.handlers.status("live");
    this.source.onerror = () => this.fail();
    for (const name of ["reset", "change", "reading", "clock"]) {
      this.source.addEventListener(name, (event) => {
        this.lastId = event.lastEventId;
        this.handlers[name](JSON.parse(event.data));
      });
    }
  }

  fail() {
    this.handlers.status("reconnecting");
    if (this.source.readyState !== EventSource.CLOSED) return;
    this.source.close();
    setTimeout(() => this.retry(), AGAIN_MILLISECONDS);
  }

  async retry() {
    try {
      await read("cluster");
    } catch (error) {
      if (error.status === 401 || error.status === 403) {
        this.handlers.status("refused", error.message);
        return;
      }
      setTimeout(() => this.retry(), AGAIN_MILLISECONDS);
      return;
    }
    this.open();
  }
}
