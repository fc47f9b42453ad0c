// Decisions of one person: kept in the browser until the server has them on its disk, or for good without a server.
"use strict";
const segstress = {};

segstress.DecisionLog = class {
  constructor(trial_list, changed, refused) {
    this.trial_list = trial_list;
    this.changed = changed;
    this.refused = refused;
    this.key = `segstress ${trial_list.mode} ${trial_list.rater} ${location.pathname}`;
    const kept = JSON.parse(localStorage.getItem(this.key) || "[]");
    const known = new Set(trial_list.done.map((decision) => decision.id));
    this.waiting = kept.filter((event) => !known.has(event.id)); // not acknowledged yet; without a server: all
    this.sending = false;
    this.history = this.current([...trial_list.done, ...this.waiting]);
    this.flush();
  }

  current(events) {
    const undone = new Set(events.map((event) => event.undo).filter(Boolean));
    return events.filter((event) => event.trial && !undone.has(event.id));
  }

  answered() {
    return new Set(this.history.map((event) => event.trial));
  }

  decide(trial, choice, reason, milliseconds) {
    const sequence = this.history.length ? this.history[this.history.length - 1].sequence + 1 : 0;
    const session = Math.floor(this.history.length / this.trial_list.session);
    const event = this.stamp({ trial, choice, reason, milliseconds, sequence, session });
    this.history.push(event);
    this.send(event);
  }

  undo() {
    const last = this.history.pop();
    if (last) this.send(this.stamp({ undo: last.id }));
    return last;
  }

  stamp(event) {
    const random = crypto.getRandomValues(new Uint32Array(2));
    return { id: `${Date.now().toString(36)}-${random[0].toString(36)}${random[1].toString(36)}`, time: new Date().toISOString(), ...event };
  }

  send(event) {
    this.waiting.push(event);
    this.keep();
    this.flush();
  }

  keep() {
    localStorage.setItem(this.key, JSON.stringify(this.waiting));
    this.changed(this.trial_list.server ? this.waiting.length : 0);
  }

  // One at a time and in order; what fails is tried again, so a server that comes back loses nothing.
  async flush() {
    if (!this.trial_list.server || this.sending) return;
    this.sending = true;
    while (this.waiting.length) {
      if (!(await this.post(this.waiting[0]))) {
        setTimeout(() => this.flush(), 1000);
        break;
      }
      this.waiting.shift();
      this.keep();
    }
    this.sending = false;
  }

  async post(event) {
    try {
      const answer = await fetch("decisions", { method: "POST", body: JSON.stringify(event) });
      if (answer.status === 400 || answer.status === 409) { // for good, as when another window has answered already
        this.history = this.history.filter((each) => each.id !== event.id);
        this.refused(await answer.text());
        return true;
      }
      return answer.ok;
    } catch {
      return false;
    }
  }

  file() {
    const events = this.trial_list.server ? this.history : this.waiting;
    return JSON.stringify({ mode: this.trial_list.mode, rater: this.trial_list.rater, signature: this.trial_list.signature, events }, null, 1);
  }
};
