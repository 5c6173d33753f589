// Draws the trace that widget.py packed. It needs no network.
const LEFT = 150, TOP = 26, HEAD = 22, GAP = 3, MARK = 65535;
const FONT = "system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif";
const THEMED = { range: "csRange", call: "csCall", wait: "csHatchB", stall: "csHatchB", graph: "csGraph" };

function unpack(about, view) {
  const n = about.counts.reduce((a, b) => a + b, 0);
  let at = view.byteOffset + about.offset;
  const column = (type) => {
    const bytes = n * type.BYTES_PER_ELEMENT;
    const values = new type(view.buffer.slice(at, at + bytes));
    at += bytes;
    return values;
  };
  const columns = {
    start: column(Float64Array), length: column(Float64Array), name: column(Uint32Array),
    count: column(Uint32Array), lane: column(Uint16Array), colour: column(Uint16Array),
  };
  let first = 0;
  const rows = [];
  for (let i = 0; i < about.counts.length; i += 2) {
    const middle = first + about.counts[i], last = middle + about.counts[i + 1];
    rows.push([first, middle, last]);
    first = last;
  }
  return { ...about, ...columns, rows };
}

function layOut(head) {
  let y = TOP, group = null, section = null;
  const places = head.rows.map((row) => {
    const place = { row, headed: row.group !== group, top: 0 };
    if (place.headed) y += HEAD;
    else if (section === "streams" && row.section === "engines") y += 8;
    [group, section] = [row.group, row.section];
    place.lane = row.lanes === 1 ? 20 : row.lanes <= 8 ? 16 : Math.max(6, Math.floor(128 / row.lanes));
    place.top = y;
    place.height = row.lanes * place.lane + 2;
    y += place.height + GAP;
    return place;
  });
  return { places, height: y + 6 };
}

function time(ns) {
  for (const [size, unit] of [[1e9, "s"], [1e6, "ms"], [1e3, "us"]])
    if (Math.abs(ns) >= size) return `${+(ns / size).toPrecision(4)} ${unit}`;
  return `${+ns.toPrecision(4)} ns`;
}

function tickStep(least) {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  return [1, 2, 5, 10].map((m) => m * power).find((step) => step >= least) ?? power;
}

function render({ model, el }) {
  const head = model.get("head"), data = model.get("data");
  const levels = head.levels.map((about) => unpack(about, data));
  const { places, height } = layOut(head), extent = head.end - head.begin;
  const frame = document.createElement("div"), canvas = document.createElement("canvas");
  const tip = document.createElement("div");
  frame.style.cssText = "position:relative;width:100%";
  canvas.style.cssText = `display:block;width:100%;height:${height}px;cursor:grab;touch-action:none`;
  canvas.tabIndex = 0;
  canvas.setAttribute("aria-label", "Timeline of a trace. Arrow keys pan, plus and minus zoom, 0 shows all.");
  canvas.dataset.lmSuppressShortcuts = "true"; // JupyterLab's own keys
  tip.style.cssText = "position:absolute;display:none;pointer-events:none;white-space:pre-line;max-width:360px;" +
    `padding:5px 8px;border-radius:5px;font:11px/1.45 ${FONT};z-index:9;box-shadow:0 1px 6px rgba(0,0,0,.35)`;
  frame.append(canvas, tip);
  el.append(frame);

  let from = 0, to = extent, width = 0, theme = head.themes.light, waiting = false;
  const plot = () => Math.max(width - LEFT - 12, 50);
  const x = (t) => LEFT + ((t - from) / (to - from)) * plot();
  const at = (px) => from + ((px - LEFT) / plot()) * (to - from);

  let detail = null, asking = null;

  function level() {
    const pixel = (to - from) / plot();
    const one = levels.find((some) => some.resolution <= pixel);
    if (one) return one;
    const inside = detail && detail.from <= from && detail.to >= to;
    if (!inside || detail.resolution > pixel) ask();
    return inside ? detail : levels[levels.length - 1];
  }

  function ask() {
    // The finer levels are in Python. Without it, as in a saved notebook, the picture stays coarse.
    clearTimeout(asking);
    const more = (to - from) / 2, resolution = (to - from) / plot() / 2;
    asking = setTimeout(() => model.send?.({ from: from - more, to: to + more, resolution }), 120);
  }

  const receive = (about, buffers) => {
    const some = buffers[0];
    detail = unpack(about, some instanceof DataView ? some : new DataView(some));
    show(from, to);
  };
  model.on?.("msg:custom", receive);

  function show(a, b) {
    const least = Math.min(10, extent), span = Math.min(Math.max(b - a, least), extent);
    const middle = (a + b) / 2;
    from = Math.min(Math.max(middle - span / 2, 0), extent - span);
    to = from + span;
    if (!waiting) requestAnimationFrame(draw);
    waiting = true;
  }
  const zoom = (factor, around = (from + to) / 2) =>
    show(around - (around - from) * factor, around + (to - around) * factor);
  const pan = (share) => show(from + (to - from) * share, to + (to - from) * share);

  function chooseTheme() {
    const [r, g, b] = (getComputedStyle(el).color.match(/[\d.]+/g) ?? [0, 0, 0]).map(Number);
    theme = r + g + b > 384 ? head.themes.dark : head.themes.light;
  }

  function fill(colour) {
    return colour.fill || theme[THEMED[colour.key] ?? "csMark"];
  }

  function draw() {
    waiting = false;
    chooseTheme();
    const scale = window.devicePixelRatio || 1;
    width = canvas.clientWidth;
    canvas.width = width * scale;
    canvas.height = height * scale;
    const c = canvas.getContext("2d");
    c.scale(scale, scale);
    c.fillStyle = theme.csPaper;
    c.fillRect(0, 0, width, height);
    c.textBaseline = "middle";
    places.forEach((place) => {
      c.fillStyle = theme.csBand;
      c.fillRect(LEFT, place.top, plot(), place.height);
    });
    drawAxis(c);
    const one = level();
    c.save();
    c.beginPath();
    c.rect(LEFT, 0, plot(), height);
    c.clip();
    places.forEach((place, i) => drawRow(c, one, place, one.rows[i]));
    c.restore();
    places.forEach((place) => {
      c.textAlign = "left";
      c.fillStyle = theme.csInk;
      if (place.headed) {
        c.font = `600 12px ${FONT}`;
        c.fillText(place.row.group, 12, place.top - 10);
      }
      c.font = `11px ${FONT}`;
      c.fillText(shortened(c, place.row.label, LEFT - 30), 22, place.top + place.height / 2);
    });
    if (!places.length) {
      c.textAlign = "center";
      c.fillText("This trace has no spans.", width / 2, height / 2);
    }
  }

  function drawAxis(c) {
    const step = tickStep((to - from) / Math.max(plot() / 95, 2));
    const begin = head.begin; // ticks stand at round times of the trace
    c.font = `11px ${FONT}`;
    c.textAlign = "center";
    for (let t = Math.ceil((begin + from) / step) * step; t <= begin + to; t += step) {
      const px = x(t - begin);
      c.fillStyle = theme.csGrid;
      c.fillRect(Math.round(px), 22, 1, height - 28);
      c.fillStyle = theme.csSoft;
      c.fillText(tickLabel(t, step), Math.min(px, width - 24), 13);
    }
  }

  function tickLabel(t, step) {
    const [size, unit] = [[1e9, "s"], [1e6, "ms"], [1e3, "us"]].find(([s]) => step * 2 >= s || to - from >= s * 2) ?? [1, "ns"];
    const digits = Math.max(0, Math.ceil(-Math.log10(step / size) - 1e-9));
    return `${(t / size).toFixed(digits)} ${unit}`;
  }

  function shortened(c, text, room) {
    if (c.measureText(text).width <= room) return text;
    let n = text.length;
    while (n > 3 && c.measureText(text.slice(0, n) + "\u2026").width > room) n -= 1;
    return n > 3 ? text.slice(0, n) + "\u2026" : "";
  }

  function firstInView(one, a, b) {
    // Bars of a lane do not overlap, so their ends are sorted as well.
    let low = a, high = b;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (one.start[middle] + one.length[middle] < from) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  function* lanes(one, a, b) {
    // Bars are sorted by lane, then by start.
    while (a < b) {
      let low = a, high = b;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (one.lane[middle] <= one.lane[a]) low = middle + 1;
        else high = middle;
      }
      yield [a, low];
      a = low;
    }
  }

  function drawRow(c, one, place, [first, middle, last]) {
    for (const [a, b] of lanes(one, first, middle))
      for (let i = firstInView(one, a, b); i < b && one.start[i] <= to; i += 1) drawBar(c, one, place, i);
    c.fillStyle = theme.csMark;
    for (let i = firstInView(one, middle, last); i < last && one.start[i] <= to; i += 1) {
      const px = x(one.start[i]);
      c.fillRect(px - 0.5, place.top + 1, 1, place.height - 2);
      c.beginPath();
      c.moveTo(px - 3.5, place.top + 1);
      c.lineTo(px + 3.5, place.top + 1);
      c.lineTo(px, place.top + 7);
      c.fill();
    }
  }

  function drawBar(c, one, place, i) {
    const x0 = Math.max(x(one.start[i]), LEFT - 5), x1 = Math.min(x(one.start[i] + one.length[i]), width + 5);
    const wide = Math.max(x1 - x0 - (x1 - x0 > 3 ? 0.6 : 0), 0.8), colour = head.colours[one.colour[i]];
    const y = place.top + 1 + one.lane[i] * place.lane, high = place.lane - 1;
    c.fillStyle = fill(colour);
    c.beginPath();
    if (wide > 5 && c.roundRect) c.roundRect(x0, y, wide, high, 2);
    else c.rect(x0, y, wide, high);
    c.fill();
    if (wide > 5 && fill(colour) === theme.csHatchB) stripes(c, x0, y, wide, high);
    if (one.count[i] > 1 && wide > 6) {
      c.fillStyle = theme.csPaper;
      c.globalAlpha = 0.4;
      for (let px = x0 + 3; px < x0 + wide; px += 3) c.fillRect(px, y, 0.7, high);
      c.globalAlpha = 1;
    }
    if (wide < 24 || high < 12) return;
    const left = Math.max(x0, LEFT), right = Math.min(x0 + wide, LEFT + plot());
    c.font = `${high >= 17 ? 11 : 9.5}px ${FONT}`;
    c.textAlign = "center";
    c.fillStyle = colour.fill ? colour.ink : theme.csInk;
    const name = one.count[i] > 1 ? `${one.count[i]} \u00d7` : head.names[one.name[i]];
    c.fillText(shortened(c, name, right - left - 6), (left + right) / 2, y + high / 2 + 0.5);
  }

  function stripes(c, x0, y, wide, high) {
    c.save();
    c.clip();
    c.strokeStyle = theme.csHatchA;
    c.lineWidth = 2;
    c.beginPath();
    for (let px = x0 - high; px < x0 + wide; px += 7) {
      c.moveTo(px, y + high);
      c.lineTo(px + high, y);
    }
    c.stroke();
    c.restore();
  }

  function found(px, py) {
    const one = level(), slack = ((to - from) / plot()) * 2, t = at(px);
    for (let r = 0; r < places.length; r += 1) {
      const place = places[r];
      if (py < place.top || py > place.top + place.height || px < LEFT) continue;
      const [first, middle, last] = one.rows[r];
      for (let i = middle; i < last; i += 1)
        if (Math.abs(one.start[i] - t) <= slack * 2 && py < place.top + 8) return [one, i];
      const lane = Math.floor((py - place.top - 1) / place.lane);
      let best = -1, nearest = slack;
      for (let i = first; i < middle; i += 1) {
        if (one.lane[i] !== lane) continue;
        const away = Math.max(one.start[i] - t, t - one.start[i] - one.length[i], 0);
        if (away <= nearest) [best, nearest] = [i, away];
      }
      if (best >= 0) return [one, best];
    }
    return null;
  }

  function describe([one, i]) {
    if (one.texts.length) return one.texts[i];
    const name = one.count[i] > 1 ? `${one.count[i]} spans, the first: ${head.names[one.name[i]]}` : head.names[one.name[i]];
    return `${name}: ${time(one.length[i])}\nstarts at ${time(head.begin + one.start[i])}`;
  }

  let grabbed = null;
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
      pan((event.deltaX || event.deltaY) / plot());
    else zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 400))), at(event.offsetX));
  }, { passive: false });
  canvas.addEventListener("pointerdown", (event) => {
    grabbed = { px: event.offsetX, from, to };
    canvas.setPointerCapture(event.pointerId);
    canvas.style.cursor = "grabbing";
    canvas.focus({ preventScroll: true });
  });
  canvas.addEventListener("pointerup", () => {
    grabbed = null;
    canvas.style.cursor = "grab";
  });
  canvas.addEventListener("pointermove", (event) => {
    if (grabbed) {
      const moved = ((event.offsetX - grabbed.px) / plot()) * (grabbed.to - grabbed.from);
      show(grabbed.from - moved, grabbed.to - moved);
    }
    const one = grabbed ? null : found(event.offsetX, event.offsetY);
    tip.style.display = one ? "block" : "none";
    if (!one) return;
    tip.textContent = describe(one);
    tip.style.background = theme.csInk;
    tip.style.color = theme.csPaper;
    tip.style.top = `${event.offsetY + 14}px`;
    tip.style.left = `${Math.max(0, Math.min(event.offsetX + 12, width - tip.offsetWidth - 4))}px`;
  });
  canvas.addEventListener("pointerleave", () => (tip.style.display = "none"));
  canvas.addEventListener("dblclick", (event) => {
    const one = found(event.offsetX, event.offsetY);
    if (one) show(one[0].start[one[1]] - one[0].length[one[1]] * 0.1, one[0].start[one[1]] + one[0].length[one[1]] * 1.1);
  });
  canvas.addEventListener("keydown", (event) => {
    const does = {
      ArrowLeft: () => pan(-0.15), ArrowRight: () => pan(0.15), ArrowUp: () => zoom(0.7), ArrowDown: () => zoom(1 / 0.7),
      "+": () => zoom(0.7), "=": () => zoom(0.7), "-": () => zoom(1 / 0.7), 0: () => show(0, extent), Home: () => show(0, extent),
    }[event.key];
    if (!does || event.ctrlKey || event.metaKey || event.altKey) return;
    does();
    event.preventDefault();
    event.stopPropagation();
  });
  const watcher = new ResizeObserver(() => show(from, to));
  watcher.observe(canvas);
  const scheme = window.matchMedia("(prefers-color-scheme: dark)"), redraw = () => show(from, to);
  scheme.addEventListener("change", redraw);
  draw();
  return () => {
    clearTimeout(asking);
    model.off?.("msg:custom", receive);
    watcher.disconnect();
    scheme.removeEventListener("change", redraw);
  };
}

export default { render };
