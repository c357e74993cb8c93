/** Goes anywhere by typing: screens, processes, and runs and items by their id. */
import type { ProcessSummary } from "@signalbox/api/contract/Processes"
import { h, type TargetedInputEvent } from "preact"
import { useId, useState } from "preact/hooks"
import type { Page } from "../api.ts"
import { openDialog } from "../keys.ts"
import { useResource } from "../load.ts"
import { go, to } from "../route.ts"
import type { Screen } from "./Screen.ts"
import { may } from "../state.ts"
import { Dialog } from "./Dialog.tsx"

interface Place {
  readonly name: string
  readonly kind: string
  readonly address: string
}

/** At the most; what is not among them is found by more letters. */
const most = 12

const isId = (text: string) => /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i.test(text)

/** Those that start with the text are first. */
const matching = (places: ReadonlyArray<Place>, text: string) => {
  const wanted = text.toLowerCase()
  const place = ({ name }: Place) => name.toLowerCase().indexOf(wanted)
  return places.filter((one) => place(one) >= 0).toSorted((one, other) => place(one) - place(other))
}

export const Palette = ({ screens }: { readonly screens: ReadonlyArray<Screen> }) => {
  const id = useId()
  const [text, setText] = useState("")
  const [at, setAt] = useState(0)
  const canSee = (path: string) => screens.some((screen) => screen.path === path)
  const processes = useResource<Page<ProcessSummary>>(may("Processes.read_processes") ? "processes" : null, {
    limit: 200
  })
  const close = () => (openDialog.value = null)
  const wanted = text.trim()
  const places = [
    ...screens.map(({ path, title }) => ({ name: title, kind: "screen", address: to([path].filter(Boolean)) })),
    ...(processes.data?.data ?? []).map((process) => ({
      name: process.name,
      kind: "process",
      address: canSee("processes") ? to(["processes", process.id]) : to(["runs"], { process: process.id })
    }))
  ]
  const byId = ["runs", "items", "processes"].filter(canSee).map((path) => ({
    name: `${path === "runs" ? "Run" : path === "items" ? "Item" : "Process"} ${wanted}`,
    kind: "by its id",
    address: to([path, wanted])
  }))
  const found = isId(wanted) ? byId : matching(places, wanted).slice(0, most)
  const open = (place: Place | undefined) => {
    if (place === undefined) return
    close()
    go(place.address)
  }
  const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 }
  return (
    <Dialog title="Go to" onClose={close}>
      {/* The types of the elements do not know an input with this role that has no list of the browser. */}
      {h("input", {
        // Not of the type search, whose first Escape clears it instead of closing the dialog.
        type: "text",
        role: "combobox",
        "aria-label": "A screen, a process, or the id of a run or an item",
        "aria-expanded": true,
        "aria-controls": `${id}-list`,
        "aria-autocomplete": "list",
        "aria-activedescendant": found[at] === undefined ? undefined : `${id}-${at}`,
        placeholder: "A screen, a process, or an id",
        autocomplete: "off",
        spellcheck: false,
        autofocus: true,
        value: text,
        onInput: (event: TargetedInputEvent<HTMLInputElement>) => {
          setText(event.currentTarget.value)
          setAt(0)
        },
        onKeyDown: (event: KeyboardEvent) => {
          const step = steps[event.key]
          if (step !== undefined) {
            event.preventDefault()
            setAt((found.length + at + step) % Math.max(1, found.length))
          } else if (event.key === "Enter") {
            event.preventDefault()
            open(found[at])
          }
        }
      })}
      <div class="choices" role="listbox" id={`${id}-list`} aria-label="Places">
        {found.map((place, index) => (
          <div
            key={`${place.kind} ${place.address}`}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === at}
            onMouseEnter={() => setAt(index)}
            onClick={() => open(place)}
          >
            <span>{place.name}</span>
            <span class="quiet">{place.kind}</span>
          </div>
        ))}
      </div>
      <p class="quiet" role="status">
        {found.length === 0 ? "Nothing has this name." : ""}
      </p>
    </Dialog>
  )
}
