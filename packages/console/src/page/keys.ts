/** The keys of the keyboard: what each does stands in one table, which the help shows. */
import { signal } from "@preact/signals"
import { go, to } from "./route.ts"
import * as text from "./text/text.ts"

/** Which dialog of the keyboard is open. */
export const openDialog = signal<"help" | "palette" | null>(null)

/** The letter after `g` that leads to a screen, by its path. */
export const letters: Readonly<Record<string, string>> = {
  "": "o",
  runs: "r",
  processes: "p",
  items: "i",
  failures: "f",
  schedules: "s",
  triggers: "t",
  flows: "d",
  workers: "w",
  packages: "k",
  assets: "a",
  vault: "v",
  webhooks: "h",
  alerts: "l",
  connect: "c"
}

/** What a row is opened by, and chosen by. */
const opener = "a[href], button"
const chooser = "input[type=checkbox]"

const rows = () =>
  [...document.querySelectorAll<HTMLElement>("main tbody tr, main .needs > li")].filter(
    (row) => row.querySelector(opener) !== null && row.checkVisibility()
  )

const current = () => rows().findIndex((row) => row.contains(document.activeElement))

/** The row after or before the one that has the focus; from outside, the first. */
const move = (step: 1 | -1) => {
  const all = rows()
  const at = current()
  const next = all[at === -1 ? 0 : Math.min(all.length - 1, Math.max(0, at + step))]
  next?.querySelector<HTMLElement>(opener)?.focus()
  next?.scrollIntoView({ block: "nearest" })
}

const search = () => {
  const field = document.querySelector<HTMLElement>("main [type=search], main .filters input, main .filters select")
  if (field === null) openDialog.value = "palette"
  else field.focus()
}

interface Key {
  readonly keys: ReadonlyArray<string>
  readonly does: string
  /** Null: the browser does it. */
  readonly run: (() => void) | null
}

/** Keys that are pressed alone. */
export const table: ReadonlyArray<Key> = [
  { keys: ["/"], does: text.frame.keySearch, run: search },
  { keys: ["j"], does: text.frame.keyNext, run: () => move(1) },
  { keys: ["k"], does: text.frame.keyPrevious, run: () => move(-1) },
  { keys: ["Enter"], does: text.frame.keyOpen, run: null },
  {
    keys: ["x"],
    does: text.frame.keySelect,
    run: () => rows()[current()]?.querySelector<HTMLElement>(chooser)?.click()
  },
  { keys: ["?"], does: text.frame.keyHelp, run: () => (openDialog.value = "help") },
  { keys: ["Ctrl", "K"], does: text.frame.keyPalette, run: null },
  { keys: ["Esc"], does: text.frame.keyClose, run: null }
]

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable ||
    (target.matches("input, textarea, select") && !target.matches("[type=checkbox], [type=radio], [type=button]")))

/** How long a letter may follow `g`, in milliseconds. */
const patience = 1500

/** Listens until the returned function is called. `canSee`: whether the session may see the screen of a path. */
export const listen = (canSee: (path: string) => boolean): (() => void) => {
  let wentAt = -Infinity
  const press = (event: KeyboardEvent) => {
    if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === "k") {
      event.preventDefault()
      openDialog.value = "palette"
      return
    }
    const isElsewhere = isTyping(event.target) || document.querySelector("dialog[open]") !== null
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isElsewhere) return
    const isGoing = event.timeStamp - wentAt < patience
    wentAt = event.key === "g" && !isGoing ? event.timeStamp : -Infinity
    if (isGoing) {
      const [path] = Object.entries(letters).find(([, letter]) => letter === event.key) ?? []
      if (path === undefined || !canSee(path)) return
      event.preventDefault()
      go(to([path].filter(Boolean)))
      return
    }
    const key = table.find(({ keys, run }) => keys.length === 1 && keys[0] === event.key && run !== null)
    if (key === undefined) return
    event.preventDefault()
    key.run?.()
  }
  addEventListener("keydown", press)
  return () => removeEventListener("keydown", press)
}
