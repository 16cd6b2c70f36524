// The language: of the address (`?lang=`), of the last visit, or of the browser, in this order.

import { computed, signal } from "@preact/signals";
import { en, type Texts } from "./en.ts";
import { zh } from "./zh.ts";

export type Language = "en" | "zh";
const TABLES: Record<Language, Texts> = { en, zh };
const KEY = "wringer-language";

export const language = signal<Language>(first());
/** The words of the chosen language. */
export const t = computed(() => TABLES[language.value]);

export function toggleLanguage() {
  language.value = language.value === "en" ? "zh" : "en";
  remember(KEY, language.value);
}

function first(): Language {
  const asked = new URLSearchParams(location.search).get("lang") ?? recall(KEY) ?? navigator.language;
  return asked.toLowerCase().startsWith("zh") ? "zh" : "en";
}

/** Storage that may be forbidden, as for files in some browsers. */
export function recall(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

export function remember(key: string, value: string) {
  try {
    localStorage.setItem(key, value);
  } catch {
    // Nothing is lost but the choice.
  }
}
