/** Secrets: their values are read as robots read them, encrypted to a key of this command. */
import type { Secret } from "@signalbox/api/contract/Secrets"
import * as SecretList from "@signalbox/api/Secrets"
import * as Vault from "@signalbox/api/robot/Vault"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as HttpClient from "effect/http/HttpClient"
import * as Secrets from "../apply/Secrets.ts"
import { lineOf } from "../output/Problem.ts"
import type { Gaps } from "./Gaps.ts"
import * as Parts from "./Parts.ts"
import { Source } from "./Source.ts"
import type { ImportStep } from "./Step.ts"

const kind = "secret"

const withValues = Effect.fnUntraced(function* (secrets: ReadonlyArray<Secret>, gaps: Gaps) {
  const { client, key, origin, workspace } = yield* Source
  const vault = yield* Vault.make({ url: origin, token: key, workspaceId: workspace }).pipe(
    Effect.provideService(HttpClient.HttpClient, client)
  )
  const entries: Array<readonly [string, unknown]> = []
  for (const { description, hosts, name } of secrets) {
    const read = yield* Effect.catch(vault.get(name), (error) =>
      Effect.sync(() => {
        gaps.add(kind, name, `its values: ${lineOf(error)}`)
        return null
      })
    )
    if (read === null) continue
    const values = Object.entries(Redacted.value(read.items)).map(([item, value]) => [item, { value }] as const)
    entries.push([name, { description, hosts, items: Object.fromEntries(values) }])
  }
  return entries
})

/** `values`: whether they are imported; `replace`: whether those of existing secrets are written, which cannot be compared. */
export const plan = Effect.fnUntraced(function* (
  secrets: ReadonlyArray<Secret>,
  { replace, values }: { readonly replace: boolean; readonly values: boolean },
  gaps: Gaps
) {
  if (values) {
    const wanted = (yield* Parts.accepted(kind, "secrets", yield* withValues(secrets, gaps), gaps)) ?? {}
    return yield* Parts.stepsOf(kind, wanted, (some) => Secrets.plan(some, "", replace), gaps)
  }
  const here = new Set((yield* Stream.runCollect(SecretList.stream())).map(({ name }) => String(name)))
  const steps: Array<ImportStep> = []
  for (const { name } of secrets) {
    if (here.has(name)) {
      steps.push({ kind, name, action: "unchanged", detail: "values are not compared", run: Effect.void })
    } else gaps.add(kind, name, "its values: --secrets imports them, with a key that may read them")
  }
  return steps
})
