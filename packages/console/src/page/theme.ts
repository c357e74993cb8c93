/** Light or dark, as this browser is set or as the person chose. */
import { signal } from "@preact/signals"

export const themes = ["system", "light", "dark"] as const
export type Theme = (typeof themes)[number]

const name = "signalbox-theme"

/** A browser may refuse storage: then the choice lasts as long as the page. */
const stored = () => {
  try {
    return localStorage.getItem(name)
  } catch {
    return null
  }
}

export const theme = signal<Theme>(themes.find((theme) => theme === stored()) ?? "system")

const apply = () => (document.documentElement.dataset["theme"] = theme.value)
apply()

export const choose = (chosen: Theme): void => {
  theme.value = chosen
  apply()
  try {
    localStorage.setItem(name, chosen)
  } catch {
    // As above.
  }
}
