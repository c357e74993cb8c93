/**
 * What a token may do: which verbs, with which flows.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { ForbiddenResponse } from "@signalbox/api/contract/Responses"
import { body } from "./Errors.ts"

/**
 * `read`: lists, inspections, histories, results, states. `start`: executions, by a fork too. `signal`: signals and requests. `command`:
 * cancel, suspend, resume, retry, reschedule. `terminate`: ends without undos. `schedule`: pauses, runs and removes schedules. `values`: where values
 * are encrypted, `read` shows inputs, results, errors, messages and texts of failures only with it; elsewhere it is not needed.
 */
export const verbs = ["read", "start", "signal", "command", "terminate", "schedule", "values"] as const
export type Verb = (typeof verbs)[number]

/** Undefined: all. */
export interface Grant {
  readonly flows?: ReadonlyArray<string> | undefined
  readonly verbs?: ReadonlyArray<Verb> | undefined
}

/** What the token of the request may do. */
export const CurrentGrant = Context.Reference<Grant>("@signalbox/flows/management/CurrentGrant", {
  defaultValue: () => ({})
})

const refuse = (message: string) => Effect.fail(new ForbiddenResponse(body("FORBIDDEN", message)))

export const mayDo = ({ verbs }: Grant, verb: Verb): Effect.Effect<void, ForbiddenResponse> =>
  verbs === undefined || verbs.includes(verb)
    ? Effect.void
    : refuse(`the token may not ${verb}: it is for ${verbs.join(", ")}`)

/** Whether a reader may see values that are encrypted at rest. */
export const seesEncrypted = ({ verbs }: Grant): boolean => verbs === undefined || verbs.includes("values")

export const mayReach = ({ flows }: Grant, flow: string): Effect.Effect<void, ForbiddenResponse> =>
  flows === undefined || flows.includes(flow)
    ? Effect.void
    : refuse(`the token may not reach the flow ${flow}: it is for ${flows.join(", ")}`)

/** Checks a request whose body or query names a flow, or none. */
export const reaches = (flow: string | undefined): Effect.Effect<void, ForbiddenResponse> =>
  Effect.flatMap(CurrentGrant, (grant) =>
    flow === undefined && grant.flows !== undefined
      ? refuse(`flow: Expected one of ${grant.flows.join(", ")}, which the token is for`)
      : mayReach(grant, flow ?? "")
  )

/** The verbs of the endpoints that change something, by their names; the others are commands. */
const verbOf: ReadonlyMap<string, Verb> = new Map([
  ["start", "start"],
  ["fork", "start"],
  ["signal", "signal"],
  ["request", "signal"],
  ["terminate", "terminate"]
])

/** Returns the verb of an endpoint. */
export const neededFor = (
  group: { readonly identifier: string },
  endpoint: { readonly identifier: string; readonly method: string }
): Verb =>
  endpoint.method === "GET"
    ? "read"
    : group.identifier === "schedules"
      ? "schedule"
      : (verbOf.get(endpoint.identifier) ?? "command")
