/** What the workspace asks of members when they sign in. */
import type { SignInRules as Rules } from "@signalbox/api/contract/Users"
import { useState } from "preact/hooks"
import { call, useAction } from "../../action.ts"
import { Panel, Problem } from "../../kit/Basics.tsx"
import { CheckField } from "../../kit/Field.tsx"
import { useResource } from "../../load.ts"
import * as text from "../../text/text.ts"

export const SignInRules = () => {
  const stored = useResource<Rules>("sign-in-rules").data
  const [saved, setSaved] = useState<Rules | null>(null)
  const action = useAction()
  const rules = saved ?? stored
  const save = async (second_factor_required: boolean) => {
    const next = { second_factor_required }
    const isDone = await action.run(() => call("POST", "sign-in-rules", { body: next }), text.people.rulesSaved)
    if (isDone) setSaved(next)
  }
  return rules === null || rules === undefined ? null : (
    <Panel title={text.people.rules}>
      <Problem message={action.error} />
      <CheckField
        label={text.people.requireFactor}
        hint={text.people.requireFactorHint}
        checked={rules.second_factor_required}
        onChecked={(isRequired) => void save(isRequired)}
      />
    </Panel>
  )
}
