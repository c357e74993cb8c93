/** The control room that the inputs of an action name. */
import { WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Named from "@signalbox/api/Named"
import * as Node from "@signalbox/api/node"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as core from "@actions/core"
import * as Inputs from "./Inputs.ts"

const Address = Schema.String.check(Schema.isPattern(/^https?:\/\/[^\s/@]+/i))

/** The connection; the key is hidden in everything that the job prints. */
export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const apiKey = yield* Inputs.required("api-key")
    core.setSecret(apiKey)
    return Node.layer({
      baseUrl: yield* Inputs.decoded("base-url", Address, "an address such as https://robots.example.com"),
      workspaceId: yield* Inputs.decoded("workspace-id", WorkspaceId, "the id of a workspace"),
      apiKey: Redacted.make(apiKey)
    })
  })
)

interface One {
  readonly id: string
  readonly name: string
}

/** Finds what an input names by its id or name among those that the service lists; null when there is none. */
export const find = Effect.fnUntraced(function* <A extends One>(
  input: string,
  name: string,
  list: Named.Kind<A>["list"]
) {
  const { found } = yield* Named.find({ list, idOf: ({ id }) => id, nameOf: (one) => one.name }, name)
  if (found.length > 1) {
    return yield* new Inputs.InvalidInput({
      message: `${input}: ${found.length} have the name ${name}; give an id, ${found.map(({ id }) => id).join(" or ")}`
    })
  }
  return found[0] ?? null
})
