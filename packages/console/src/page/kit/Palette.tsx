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
import * as text from "../text/text.ts"

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
  const [typed, setTyped] = useState("")
  const [at, setAt] = useState(0)
  const canSee = (path: string) => screens.some((screen) => screen.path === path)
  const processes = useResource<Page<ProcessSummary>>(may("Processes.read_processes") ? "processes" : null, {
    limit: 200
  })
  const close = () => (openDialog.value = null)
  const wanted = typed.trim()
  const places = [
    ...screens.map(({ path, title }) => ({
      name: title,
      kind: text.frame.kindScreen,
      address: to([path].filter(Boolean))
    })),
    ...(processes.data?.data ?? []).map((process) => ({
      name: process.name,
      kind: text.frame.kindProcess,
      address: canSee("processes") ? to(["processes", process.id]) : to(["runs"], { process: process.id })
    }))
  ]
  const byId = ["runs", "items", "processes"].filter(canSee).map((path) => ({
    name: `${path === "runs" ? text.common.run : path === "items" ? text.common.item : text.common.process} ${wanted}`,
    kind: text.frame.byId,
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
    <Dialog title={text.frame.goTo} onClose={close}>
      {/* The types of the elements do not know an input with this role that has no list of the browser. */}
      {h("input", {
        // Not of the type search, whose first Escape clears it instead of closing the dialog.
        type: "text",
        role: "combobox",
        "aria-label": text.frame.paletteLabel,
        "aria-expanded": true,
        "aria-controls": `${id}-list`,
        "aria-autocomplete": "list",
        "aria-activedescendant": found[at] === undefined ? undefined : `${id}-${at}`,
        placeholder: text.frame.palettePlaceholder,
        autocomplete: "off",
        spellcheck: false,
        autofocus: true,
        value: typed,
        onInput: (event: TargetedInputEvent<HTMLInputElement>) => {
          setTyped(event.currentTarget.value)
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
      <div class="choices" role="listbox" id={`${id}-list`} aria-label={text.frame.places}>
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
        {found.length === 0 ? text.frame.noPlace : ""}
      </p>
    </Dialog>
  )
}
