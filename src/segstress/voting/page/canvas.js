// Pictures: fetched ahead, painted over the image, zoomed and moved in step.
"use strict";
const waiting = new Map(); // picture -> what to call when its script has run

segstress.receive = (name, url) => waiting.get(name)?.(url);

segstress.Pictures = class {
  constructor() {
    this.found = new Map();
  }

  get(name) {
    if (!this.found.has(name)) this.found.set(name, this.fetch(name));
    return this.found.get(name);
  }

  fetch(name) {
    return new Promise((resolve, reject) => {
      const script = document.createElement("script");
      waiting.set(name, (url) => {
        const image = new Image();
        image.onload = () => resolve(image);
        image.onerror = reject;
        image.src = url;
        script.remove();
      });
      script.onerror = () => { this.found.delete(name); script.remove(); reject(new Error("a picture did not arrive")); };
      script.src = `pictures/${name}.js`;
      document.head.append(script);
    });
  }

  async labels(name) {
    const image = await this.get(name);
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [image.width, image.height];
    const context = canvas.getContext("2d", { willReadFrequently: true });
    context.drawImage(image, 0, 0);
    const bytes = context.getImageData(0, 0, image.width, image.height).data;
    const labels = new Uint16Array(image.width * image.height);
    for (let place = 0; place < labels.length; place += 1) labels[place] = bytes[4 * place] + 256 * bytes[4 * place + 1];
    return labels;
  }
};

// The image with colours over it; `different` leaves colours only where two maps disagree.
segstress.paint = (canvas, image, labels, trial_list, opacity, different) => {
  [canvas.width, canvas.height] = [image.width, image.height];
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.drawImage(image, 0, 0);
  if (!labels) return;
  const picture = context.getImageData(0, 0, image.width, image.height);
  for (let place = 0; place < labels.length; place += 1) {
    if (labels[place] === trial_list.void || (different && labels[place] === different[place])) continue;
    const colour = trial_list.palette[labels[place]];
    for (let channel = 0; channel < 3; channel += 1) {
      const under = picture.data[4 * place + channel];
      picture.data[4 * place + channel] = under + (colour[channel] - under) * opacity;
    }
  }
  context.putImageData(picture, 0, 0);
};

segstress.View = class {
  constructor() {
    this.reset();
  }

  reset() {
    [this.scale, this.x, this.y] = [1, 0, 0];
  }

  zoom(factor) {
    this.scale = Math.min(16, Math.max(1, this.scale * factor));
    if (this.scale === 1) [this.x, this.y] = [0, 0];
  }

  apply(panels) {
    for (const canvas of panels.querySelectorAll("canvas")) {
      canvas.style.transform = `translate(${this.x}px, ${this.y}px) scale(${this.scale})`;
    }
  }

  follow(panels) {
    let held = null;
    panels.addEventListener("pointerdown", (event) => { held = [event.clientX - this.x, event.clientY - this.y]; });
    panels.addEventListener("pointermove", (event) => {
      if (!held || this.scale === 1) return;
      [this.x, this.y] = [event.clientX - held[0], event.clientY - held[1]];
      this.apply(panels);
    });
    addEventListener("pointerup", () => { held = null; });
    panels.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(event.deltaY < 0 ? 1.25 : 0.8);
      this.apply(panels);
    }, { passive: false });
  }
};
