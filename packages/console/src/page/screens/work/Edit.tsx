/** What the forms of resources share that have a screen of their own. */
import type { ComponentChildren } from "preact"
import { useState } from "preact/hooks"
import { Button, Head, Problem } from "../../kit/Basics.tsx"
import { useResource } from "../../load.ts"
import { to } from "../../route.ts"
import * as text from "../../text/text.ts"

/** A resource as it was when its form was opened: changes of others do not replace what is being typed. */
export const Edit = <A extends { readonly name: string }>({
  children,
  path
}: {
  readonly path: string
  readonly children: (initial: A) => ComponentChildren
}) => {
  const { data, error } = useResource<A>(path)
  const [initial, setInitial] = useState<A | null>(null)
  if (initial === null && data !== undefined) setInitial(data)
  return (
    <>
      <Head title={initial === null ? text.common.edit : text.common.editOf(initial.name)} />
      <Problem message={error} />
      {initial === null ? null : children(initial)}
    </>
  )
}

/** The end of a form. */
export const EditActions = ({
  canSubmit,
  create,
  id,
  screen
}: {
  /** The label of the button that creates, such as `Create trigger`. */
  readonly create: string
  readonly screen: string
  /** Of what is edited; undefined for what is made. */
  readonly id: string | undefined
  readonly canSubmit: boolean
}) => (
  <div class="actions start">
    <a class="button" href={to([screen, ...(id === undefined ? [] : [id])])}>
      {text.common.cancel}
    </a>
    <Button type="submit" kind="primary" disabled={!canSubmit}>
      {id === undefined ? create : text.common.save}
    </Button>
  </div>
)
