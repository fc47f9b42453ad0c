// The page: shows one trial after the other, and makes of keys and clicks decisions.
"use strict";
const at = (id) => document.getElementById(id);
const UNFIT = ["not a natural image", "does not show the class", "cannot be told", "other"];
const MODES = {
  choose: { task: (classes) => `Which prediction is better (look at: ${classes})?`, panels: ["A", "image", "B"],
    without: [], actions: [
    ["left", "A is better", ["ArrowLeft", "1"]], ["right", "B is better", ["ArrowRight", "2"]],
    ["tie", "No difference", ["ArrowDown"]], ["reject", "Reject the image", ["x"]]],
    why: "Why is this image not to be used?", reasons: UNFIT },
  screen: { task: (classes) => `Is this a natural image that shows ${classes}?`, panels: ["image"],
    without: ["flicker", "opacity", "difference", "bare", "legend"], actions: [
    ["keep", "Keep", ["ArrowRight", "1"]], ["reject", "Reject", ["ArrowLeft", "x"]]],
    why: "Why is this image not to be used?", reasons: UNFIT },
  review: { task: (classes) => `Are these labels right (look at: ${classes})?`, panels: ["image", "labels"],
    without: ["flicker", "difference"], actions: [
    ["keep", "Right", ["ArrowRight", "1"]], ["reject", "Not right", ["ArrowLeft", "x"]]],
    why: "What is wrong with the labels?",
    reasons: ["an outline is off", "a class is wrong", "something is missing", "other"] },
};
const TOOLS = { " ": "flicker", o: "opacity", d: "difference", g: "bare", h: "legend", "+": "closer", "=": "closer",
  "-": "farther", 0: "whole", e: "export", "?": "help", z: "undo", Backspace: "undo" };
const NAMES = { ArrowLeft: "←", ArrowRight: "→", ArrowDown: "↓", " ": "space" };
const look = { opacity: 0.6, difference: false, bare: false, legend: true, flicker: 0 };
const view = new segstress.View();
const pictures = new segstress.Pictures();
let trial_list, mode, decision_log, trial, shown, since;

segstress.deal = (dealt) => {
  trial_list = dealt;
  mode = MODES[trial_list.mode];
  decision_log = new segstress.DecisionLog(trial_list, tell, refused);
  at("welcome").hidden = true;
  build();
  next();
};

function build() {
  for (const name of mode.panels) {
    const figure = document.createElement("figure");
    figure.id = `panel-${name}`;
    figure.innerHTML = `<figcaption>${name}</figcaption><div class="view"><canvas></canvas></div>`;
    at("panels").append(figure);
  }
  const undo = ["undo", "Undo", ["z"]];
  for (const [choice, words, keys] of [...mode.actions, undo]) {
    const button = document.createElement("button");
    button.id = `do-${choice}`;
    button.textContent = `${words} (${NAMES[keys[0]] || keys[0]})`;
    button.onclick = () => (choice === "undo" ? undone() : choose(choice));
    at("actions").append(button);
  }
  at("why").textContent = mode.why;
  for (const [number, reason] of mode.reasons.entries()) {
    const button = document.createElement("button");
    button.textContent = `${number + 1} ${reason}`;
    button.onclick = () => decide("reject", reason);
    at("reason-list").append(button);
  }
  at("go-on").onclick = next;
  offer();
  view.follow(at("panels"));
}

// The tools that make sense in this mode, as buttons and in the list of keys.
function offer() {
  for (const button of document.querySelectorAll("[data-tool]")) button.onclick = () => use(button.dataset.tool);
  at("opacity").oninput = (event) => { look.opacity = event.target.value / 100; draw(); };
  for (const name of mode.without) document.querySelector(`[data-tool=${name}], [data-slider=${name}]`).hidden = true;
  const tools = [["undo", "z, Backspace", "undo, as often as you like"],
    ["flicker", "space", "show A and B in the middle by turns"], ["opacity", "o", "opacity"],
    ["difference", "d", "colours only where A and B differ"], ["bare", "g", "image only"], ["legend", "h", "legend"],
    ["closer", "+, -, 0, wheel, drag", "zoom and move"], ["export", "e", "save decisions to a file"]];
  const keys = [...mode.actions.map(([, words, list]) => [list.map((key) => NAMES[key] || key).join(", "), words]),
    ...tools.filter(([name]) => !mode.without.includes(name)).map(([, key, words]) => [key, words])];
  at("key-list").innerHTML = keys.map(([key, words]) => `<dt>${key}</dt><dd>${words}</dd>`).join("");
}

async function next() {
  const answered = decision_log.answered();
  const left = trial_list.trials.filter((each) => !answered.has(each.id));
  const done = trial_list.trials.length - left.length;
  at("rest").hidden = true;
  at("work").hidden = false;
  [at("bar").max, at("bar").value] = [trial_list.trials.length, done];
  at("progress").textContent = `${done} of ${trial_list.trials.length} done`;
  trial = left[0];
  document.body.dataset.ready = "false";
  if (!trial) return rest("All done", "Thank you. Your decisions are kept; e saves them to a file.");
  at("task").textContent = mode.task(trial.classes.join(", "));
  const wanted = trial;
  const found = await Promise.all([pictures.get(trial.image), ...trial.maps.map((name) => pictures.labels(name))]).catch(() => null);
  if (wanted !== trial) return;
  if (!found) return setTimeout(() => wanted === trial && next(), 1000); // the server may come back
  const [image, ...maps] = found;
  shown = { image, maps };
  look.flicker = 0;
  draw();
  since = performance.now();
  document.body.dataset.ready = "true";
  for (const soon of left.slice(1, 3)) [soon.image, ...soon.maps].forEach((name) => pictures.get(name).catch(() => {}));
}

function draw() {
  if (!shown) return;
  const { image, maps } = shown;
  const middle = [null, maps[0], maps[1]][look.flicker];
  const content = { image: middle, A: maps[0], B: maps[1], labels: maps[0] };
  const other = { A: maps[1], B: maps[0] };
  for (const name of mode.panels) {
    const labels = look.bare && name !== "image" ? null : content[name];
    const canvas = at(`panel-${name}`).querySelector("canvas");
    segstress.paint(canvas, image, labels, trial_list, look.opacity, look.difference ? other[name] : null);
  }
  const title = at("panel-image").querySelector("figcaption");
  title.textContent = ["image", "image with A", "image with B"][look.flicker];
  view.apply(at("panels"));
  legend(maps);
}

function legend(maps) {
  const present = [...new Set(maps.flatMap((labels) => [...new Set(labels)]))].filter((label) => label !== trial_list.void).sort((a, b) => a - b);
  at("legend").replaceChildren(...(look.legend ? present : []).map((label) => {
    const entry = document.createElement("span");
    entry.textContent = trial_list.classes[label];
    entry.style.setProperty("--colour", `rgb(${trial_list.palette[label].join(",")})`);
    entry.classList.toggle("wanted", trial.classes.includes(trial_list.classes[label]));
    return entry;
  }));
}

function choose(choice) {
  if (document.body.dataset.ready !== "true") return;
  if (choice === "reject") at("reasons").showModal();
  else decide(choice, "");
}

function decide(choice, reason) {
  at("reasons").close();
  if (document.body.dataset.ready !== "true") return;
  decision_log.decide(trial.id, choice, reason, Math.round(performance.now() - since));
  const count = decision_log.history.length;
  if (count % trial_list.session === 0 && count < trial_list.trials.length) rest("Time for a break", `You have decided ${count} times. Rest your eyes.`);
  else next();
}

function undone() {
  if (decision_log.undo()) next();
}

function rest(title, text) {
  document.body.dataset.ready = "false";
  [at("rest-title").textContent, at("rest-text").textContent] = [title, text];
  at("go-on").hidden = !trial;
  at("rest").hidden = false;
  at("work").hidden = Boolean(trial);
}

function tell(waiting) {
  at("saved").dataset.waiting = waiting > 0;
  at("saved").textContent = waiting ? `${waiting} not saved yet, trying again` : "all saved";
}

// The other window knows more: this one shows why, and begins again from what the server has.
function refused(text) {
  document.body.dataset.ready = "false";
  trial = null;
  rest("Not taken", text);
  at("work").hidden = true;
  at("go-on").hidden = false;
  at("go-on").onclick = () => location.reload();
}

function use(tool) {
  if (mode.without.includes(tool)) return;
  if (tool === "undo") return undone();
  if (tool === "help") return at("help").showModal();
  if (tool === "export") return save();
  if (tool === "closer" || tool === "farther") view.zoom(tool === "closer" ? 1.5 : 1 / 1.5);
  else if (tool === "whole") view.reset();
  else if (tool === "flicker") look.flicker = (look.flicker % 2) + 1;
  else if (tool === "opacity") { look.opacity = (Math.round(look.opacity * 10) % 10 + 2) / 10; at("opacity").value = 100 * look.opacity; }
  else look[tool] = !look[tool];
  return draw();
}

function save() {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([decision_log.file()], { type: "application/json" }));
  link.download = `decisions-${trial_list.mode}-${trial_list.rater}.json`;
  link.click();
}

addEventListener("keydown", (event) => {
  if (!trial_list || event.ctrlKey || event.metaKey || event.altKey || at("help").open) return;
  if (at("reasons").open) {
    const reason = mode.reasons[Number(event.key) - 1];
    if (reason) decide("reject", reason);
    return;
  }
  if (!at("rest").hidden && trial) { if (event.key === "Enter") next(); return; }
  const action = mode.actions.find(([, , keys]) => keys.includes(event.key));
  const tool = TOOLS[event.key];
  if (!action && !tool) return;
  event.preventDefault();
  if (action && trial) choose(action[0]);
  else if (tool) use(tool);
});

// The trial list lies beside the page, dealt to one person.
function ask() {
  const script = document.createElement("script");
  script.src = "trials.js";
  script.onerror = () => { at("welcome").hidden = false; };
  document.head.append(script);
}
ask();
