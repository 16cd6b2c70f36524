// Numbers as people read them, the same in all languages but for the separators of Intl; units and field words stay.

const SI = ["", "k", "M", "G", "T"];

/** Three digits and a letter: 19.9k; NaN is a dash. */
export function count(value: number): string {
  if (!Number.isFinite(value)) return "–";
  let rest = Math.abs(value);
  let step = 0;
  while (rest >= 999.5 && step < SI.length - 1) {
    rest /= 1000;
    step += 1;
  }
  return (value < 0 ? "−" : "") + (step === 0 && Number.isInteger(rest) ? String(rest) : digits(rest)) + SI[step];
}

/** Three significant digits without useless zeros. */
function digits(value: number): string {
  if (value === 0) return "0";
  const places = Math.min(4, Math.max(0, 2 - Math.floor(Math.log10(value) + 1e-9)));
  return value.toFixed(places).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");
}

/** A time in µs with its unit: 412 µs, 2.91 ms, 1.2 s, 3 min. */
export function time(us: number): string {
  if (!Number.isFinite(us)) return "–";
  if (us < 999.5) return `${digits(us)} µs`;
  if (us < 999_500) return `${digits(us / 1e3)} ms`;
  if (us < 120e6) return `${digits(us / 1e6)} s`;
  return us < 7200e6 ? `${digits(us / 60e6)} min` : `${digits(us / 3600e6)} h`;
}

export function share(value: number): string {
  if (!Number.isFinite(value)) return "–";
  const percent = value * 100;
  if (percent !== 0 && Math.abs(percent) < 0.01) return `${percent < 0 ? "> −" : "< "}0.01 %`;
  return `${percent < 0 ? "−" : ""}${digits(Math.abs(percent))} %`;
}

export function bytes(value: number): string {
  return Number.isFinite(value) ? `${count(value)}B`.replace(/(\d)([kMGT]?)B$/, "$1 $2B") : "–";
}

/** Seconds since the start as a clock: 00:41, 1:02:03; with a tenth where it is not whole. */
export function clock(seconds: number): string {
  if (!Number.isFinite(seconds)) return "–";
  const whole = Math.floor(seconds + 1e-9);
  const tenth = Math.round((seconds - whole) * 10);
  const two = (n: number) => String(n).padStart(2, "0");
  const [h, m, s] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  return `${h > 0 ? `${h}:` : ""}${two(m)}:${two(s)}${tenth > 0 && tenth < 10 ? `.${tenth}` : ""}`;
}

/** A length of time in seconds: 5 s, 2 min, 1 h 10 min. */
export function duration(seconds: number): string {
  if (!Number.isFinite(seconds)) return "–";
  if (seconds < 120) return `${digits(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 120) return seconds % 60 < 0.5 ? `${minutes} min` : `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h${minutes % 60 ? ` ${minutes % 60} min` : ""}`;
}

/** `p99.9` of 3 nines. */
export function percentile(nines: number): string {
  const places = Math.max(0, Math.ceil(nines - 1e-9) - 2);
  return `p${(100 * (1 - 10 ** -nines)).toFixed(places)}`;
}

export type Unit = "count" | "time" | "share" | "bytes" | "percent" | "cores";

export function told(unit: Unit, value: number): string {
  switch (unit) {
    case "time":
      return time(value);
    case "share":
      return share(value);
    case "bytes":
      return `${bytes(value)}/s`;
    case "percent":
      return Number.isFinite(value) ? `${digits(value)} %` : "–";
    case "cores":
      return Number.isFinite(value) ? digits(value) : "–";
    default:
      return count(value);
  }
}

/** Foreign text with its control and direction characters as pictures, so that none of them does anything. */
export function harmless(text: string): string {
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, (c) => {
    const code = c.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? "␡" : `\\u{${code.toString(16)}}`;
  });
}
