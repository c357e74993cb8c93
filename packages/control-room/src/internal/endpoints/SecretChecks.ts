/** What a definition of a process may say of secret fields, and what stays of it when somebody changes it who sees them masked. */
import type { ProcessId, WorkspaceId } from "@signalbox/api/contract/Ids"
import type { ProcessDefinition } from "@signalbox/api/contract/Processes"
import * as Effect from "effect/Effect"
import { invalidRequest } from "../edge/Failures.ts"
import { need } from "../edge/Permissions.ts"
import { escaped } from "../engine/JsonPointer.ts"
import { more } from "../runs/schemas/SecretPlaces.ts"
import { Secrecy } from "../runs/Secrecy.ts"
import { inputOf, type StoredProcess } from "../store/processes/Processes.ts"
import type { Hook } from "../store/starts/StoredTrigger.ts"
import { Triggers } from "../store/starts/Triggers.ts"
import { Masking } from "./Masking.ts"

/** Where the id of an event is in the payload that is made of its body; empty: nowhere. */
const idPlaces = ({ eventId, payload }: Hook): ReadonlyArray<string> => {
  if (eventId === null || "header" in eventId) return []
  const { pointer } = eventId
  const parts = typeof payload === "string" ? [["", payload] as const] : Object.entries(payload)
  return parts.flatMap(([name, part]) =>
    pointer === part || pointer.startsWith(`${part}/`)
      ? [`${name === "" ? "" : `/${escaped(name)}`}${pointer.slice(part.length)}`]
      : []
  )
}

export const make = Effect.gen(function* () {
  const secrecy = yield* Secrecy
  const masking = yield* Masking
  const triggers = yield* Triggers
  return {
    /**
     * Refuses a definition in which the key of a limit is secret, or with a trigger that knows events by a secret: both are stored by
     * themselves, and shown. `existing`: of a process that there is.
     */
    definition: Effect.fnUntraced(function* (
      definition: ProcessDefinition,
      existing?: { readonly workspace_id: WorkspaceId; readonly process_id: ProcessId }
    ) {
      const { covers, isEmpty } = yield* secrecy.placesOf(inputOf(definition))
      if (isEmpty) return
      const limits = [
        { at: "", limited: definition },
        ...definition.steps.map((step, index) => ({ at: `steps.${index}.`, limited: step }))
      ]
      for (const { at, limited } of limits) {
        for (const kind of ["concurrency", "rate"] as const) {
          const key = limited[kind]?.key
          if (key !== undefined && covers(key)) {
            return yield* invalidRequest(
              `${at}${kind}.key: ${key} is secret, and the values of a key are stored and shown; choose another field`
            )
          }
        }
      }
      if (existing === undefined) return
      for (const { name, webhook } of yield* triggers.ofProcess(existing.workspace_id, existing.process_id)) {
        if (webhook !== null && idPlaces(webhook).some(covers)) {
          return yield* invalidRequest(
            `sensitive: the trigger "${name}" knows events by a field that is secret; change its event_id first`
          )
        }
      }
    }),
    /** Refuses a trigger that knows events by a secret. */
    trigger: Effect.fnUntraced(function* (process: StoredProcess, webhook: Hook | null) {
      const { covers } = yield* secrecy.placesOf(process)
      if (webhook !== null && idPlaces(webhook).some(covers)) {
        return yield* invalidRequest(
          "webhook.event_id.pointer: the field is secret, and ids are stored; choose another one"
        )
      }
    }),
    /** A definition with what stays of the one before. */
    kept: Effect.fnUntraced(function* <D extends ProcessDefinition>(
      { defaultWorkItem, view }: StoredProcess,
      given: D
    ) {
      const { default_work_item } = given
      if (default_work_item === undefined || defaultWorkItem == null) return given
      const stored = defaultWorkItem.payload
      const payload = yield* masking.kept(view.id, default_work_item.payload, stored, "default_work_item.payload")
      return { ...given, default_work_item: { payload } }
    }),
    /** Refuses a caller who may not see secrets a definition in which fewer fields, or files no more, are secret. */
    mayReveal: Effect.fnUntraced(function* (before: StoredProcess, definition: ProcessDefinition) {
      const after = inputOf(definition)
      const known = yield* secrecy.placesOf(before)
      if (known.isEmpty) return
      const { patterns } = yield* secrecy.placesOf(after)
      const isSame =
        before.inputSchema === after.inputSchema && before.sensitive.join("\n") === after.sensitive.join("\n")
      // What has more patterns than are listed is the same only as a whole.
      const gone = isSame
        ? undefined
        : known.patterns.find((pattern) => pattern === more || !patterns.includes(pattern))
      if (gone !== undefined) {
        yield* need("Processes.read_sensitive", `input_schema, sensitive: ${gone} would no longer be secret`)
      }
      if (before.sensitiveFiles && !after.sensitiveFiles) {
        yield* need(
          "Processes.read_sensitive",
          "sensitive_files: files, console lines and artifacts would no longer be secret"
        )
      }
    })
  }
})
