/** Secret fields of a payload: which are hidden, and their values for who may see them. */
import type { Secrets } from "@signalbox/api/contract/WorkItems"
import { useState } from "preact/hooks"
import { call, useAction } from "../../action.ts"
import { Button, Problem } from "../../kit/Basics.tsx"
import { may } from "../../state.ts"
import * as text from "../../text/text.ts"

/** As many as one request returns. */
const most = 100

export const SecretFields = ({
  canEdit,
  id,
  masked
}: {
  readonly id: string
  /** Pointers to them. */
  readonly masked: ReadonlyArray<string>
  readonly canEdit: boolean
}) => {
  const [values, setValues] = useState<Secrets["values"] | null>(null)
  const action = useAction()
  if (masked.length === 0) return null
  const reveal = () =>
    action.run(async () => {
      const body = { pointers: masked.slice(0, most) }
      const revealed = await call<Secrets>("POST", `work-items/${id}/reveal`, { body })
      setValues(revealed.values)
    })
  return (
    <div class="after">
      <p class="quiet">{canEdit ? text.items.secretsStay(masked.length) : text.items.secretsHidden(masked.length)}</p>
      <Problem message={action.error} />
      <dl class="facts">
        {masked.flatMap((pointer) => [
          <dt key={pointer} class="mono">
            {pointer === "" ? text.processes.payload : pointer}
          </dt>,
          <dd key={`${pointer} value`} class="mono">
            {values !== null && Object.hasOwn(values, pointer)
              ? JSON.stringify(values[pointer], null, 2)
              : text.items.hidden}
          </dd>
        ])}
      </dl>
      {!may("Processes.read_sensitive") ? null : values === null ? (
        <Button disabled={action.isBusy} onClick={() => void reveal()}>
          {text.items.reveal}
        </Button>
      ) : (
        <Button onClick={() => setValues(null)}>{text.items.hideSecrets}</Button>
      )}
    </div>
  )
}
