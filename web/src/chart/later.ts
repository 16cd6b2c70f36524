// Charts that are not in sight when a page opens are drawn after those that are, one in each frame; before printing, all at once.

const waiting = new Set<() => void>();

/** Draws in a later frame; the result takes that back. */
export function later(draw: () => void): () => void {
  if (waiting.size === 0) soon();
  waiting.add(draw);
  return () => waiting.delete(draw);
}

function soon() {
  // Behind the painting of the frame.
  requestAnimationFrame(() => setTimeout(next));
}

function next() {
  const [draw] = waiting;
  if (!draw) return;
  waiting.delete(draw);
  draw();
  if (waiting.size > 0) soon();
}

addEventListener("beforeprint", () => {
  while (waiting.size > 0) next();
});
