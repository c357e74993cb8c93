/** Filters of lists; what is chosen stands in the address. */
import type { Process, ProcessSummary } from "@signalbox/api/contract/Processes"
import type { ComponentChildren } from "preact"
import { useId } from "preact/hooks"
import type { Page } from "../../api.ts"
import { useResource } from "../../load.ts"
import { go, route, withQuery } from "../../route.ts"
import { may } from "../../state.ts"
import * as text from "../../text/text.ts"

export const Filters = ({ children }: { readonly children: ComponentChildren }) => <div class="filters">{children}</div>

/** One of a few values of a parameter of the address; none of them is `all`. */
export const Choice = ({
  all,
  clears = [],
  label,
  name,
  options
}: {
  readonly label: string
  readonly name: string
  readonly all: string
  /** Parameters that mean nothing with another value. */
  readonly clears?: ReadonlyArray<string>
  readonly options: ReadonlyArray<{ readonly value: string; readonly label: string }>
}) => {
  const id = useId()
  return (
    <>
      <label class="hidden" for={id}>
        {label}
      </label>
      <select
        id={id}
        value={route.value.query[name] ?? ""}
        onChange={(event) =>
          go(
            withQuery({
              ...Object.fromEntries(clears.map((other) => [other, undefined])),
              [name]: event.currentTarget.value
            })
          )
        }
      >
        <option value="">{all}</option>
        {options.map(({ label, value }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
    </>
  )
}

/** The processes of the workspace, by name. */
export const useProcesses = (): ReadonlyArray<ProcessSummary> => {
  const { data } = useResource<Page<ProcessSummary>>(may("Processes.read_processes") ? "processes" : null, {
    limit: 500
  })
  return (data?.data ?? []).toSorted((a, b) => a.name.localeCompare(b.name))
}

export const ProcessChoice = () => (
  <Choice
    label={text.common.process}
    name="process"
    all={text.common.allProcesses}
    clears={["step"]}
    options={useProcesses().map(({ id, name }) => ({ value: id, label: name }))}
  />
)

/** The steps of the process that is chosen, where one is. */
export const StepChoice = () => {
  const { process } = route.value.query
  const { data } = useResource<Process>(
    process !== undefined && may("Processes.read_processes") ? `processes/${process}` : null
  )
  return data === undefined ? null : (
    <Choice
      label={text.common.step}
      name="step"
      all={text.common.allSteps}
      options={data.steps.map(({ id, name }) => ({ value: id, label: name }))}
    />
  )
}

/** Exactly this text; it is looked for when the field is left, or with Enter. */
export const Search = ({ label, name }: { readonly label: string; readonly name: string }) => {
  const id = useId()
  return (
    <>
      <label class="hidden" for={id}>
        {label}
      </label>
      <input
        id={id}
        type="search"
        placeholder={label}
        value={route.value.query[name] ?? ""}
        onChange={(event) => go(withQuery({ [name]: event.currentTarget.value.trim() }))}
      />
    </>
  )
}
