/**
 * How `signalbox flows` connects to a program that mounts `FlowManagement.layerRoutes`.
 */
import { TaggedError } from "@signalbox/transport/Printed"
import { FlowManagementClient } from "@signalbox/flows/FlowManagementClient"
import * as NodeTransport from "@signalbox/transport/node"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Flag from "effect/cli/Flag"

/** A flag is missing or cannot be used. */
export class FlowsFlagError extends TaggedError<FlowsFlagError>()("FlowsFlagError", {
  message: Schema.String
}) {
  readonly exitCode = 2
}

/** The command line is invalid; the message names the flag and the remedy. */
export const refuse = (message: string) => new FlowsFlagError({ message })

/** Flags of every command that talks to such a program. */
export const flags = {
  url: Flag.String("url").pipe(
    Flag.withDescription(
      "The address of the program that runs the flows; default: SIGNALBOX_FLOWS_URL. The token comes from SIGNALBOX_FLOWS_TOKEN"
    ),
    Flag.withFallbackConfig(Config.String("SIGNALBOX_FLOWS_URL")),
    Flag.optional
  ),
  json: Flag.Boolean("json").pipe(Flag.withDescription("Print JSON, a line for each result"), Flag.withDefault(false))
}

/** Runs `use` connected by the flag and the variables. */
export const connected = Effect.fnUntraced(function* <A, E, R>(
  url: Option.Option<string>,
  use: (flows: FlowManagementClient["Service"]) => Effect.Effect<A, E, R>
) {
  const address = Option.getOrNull(url)
  if (address === null || !/^https?:\/\//i.test(address) || !URL.canParse(address)) {
    return yield* refuse(
      "--url: expected the address of the program that runs the flows, such as http://127.0.0.1:4800; or set SIGNALBOX_FLOWS_URL"
    )
  }
  const token = yield* Effect.option(Config.Redacted("SIGNALBOX_FLOWS_TOKEN"))
  if (Option.isNone(token) || Redacted.value(token.value) === "") {
    return yield* refuse("set SIGNALBOX_FLOWS_TOKEN to the token that the program passes to FlowManagement.layerRoutes")
  }
  const layer = FlowManagementClient.layer({ url: address, token: token.value }).pipe(
    Layer.provide(NodeTransport.layer)
  )
  return yield* Effect.provide(Effect.flatMap(FlowManagementClient, use), layer)
})
