/** Secrets over the public interface: items can be written and never read. */
import type { Secret, SecretItems } from "@signalbox/api/contract/Secrets"
import * as ExactJson from "@signalbox/transport/ExactJson"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { limits } from "../settings/Limits.ts"
import { Secrets } from "../store/vault/Secrets.ts"
import * as Endpoints from "../edge/Endpoints.ts"
import { conflict, invalidRequest, notFound, orNotFound, tooLarge } from "../edge/Failures.ts"
import { Pagination } from "../edge/Pagination.ts"

const pageSize = 1000

/** The items in their stored form, or a refusal if they are too large; `field` is their path in the request. */
export const checkItems = Effect.fnUntraced(function* (items: SecretItems, field: string) {
  const json = JSON.stringify(Redacted.value(items))
  const size = Buffer.byteLength(json)
  if (size > limits.secret) {
    return yield* tooLarge(
      `${field}: ${size} bytes of JSON exceed the ${limits.secret} allowed; split them into several secrets`
    )
  }
  return Redacted.make(json)
})

const parseItems = (items: Redacted.Redacted) =>
  // What is stored was checked when it was written.
  ExactJson.parse(Redacted.value(items)) as Redacted.Redacted.Value<SecretItems>

export const layer = Endpoints.group(
  "secrets",
  Effect.fnUntraced(function* (handlers) {
    const store = yield* Secrets
    const { page } = yield* Pagination
    const shown = ({ description, hosts, name }: Secret): Secret => ({ name, description, hosts })
    return handlers.handleAll({
      getSecret: Effect.fnUntraced(function* ({ params }) {
        const { secret_name, workspace_id } = params
        const { items, secret } = yield* orNotFound("secret", secret_name, store.read(workspace_id, secret_name))
        return { ...shown(secret), item_names: Object.keys(parseItems(items)) }
      }),
      listSecrets: ({ params, query, request }) =>
        page(
          request,
          query,
          (from) => store.list(params.workspace_id, from),
          (rows) => Effect.succeed(rows.map(shown)),
          pageSize
        ),
      createSecret: Effect.fnUntraced(function* ({ params, payload: { description, hosts, items, name } }) {
        const content = { items: yield* checkItems(items, "items"), description, hosts }
        const created = yield* store.create(params.workspace_id, name, content)
        return (
          created ??
          (yield* conflict(`name: a secret "${name}" already exists; choose another name or change that one`))
        )
      }),
      updateSecret: Effect.fnUntraced(function* ({ params, payload: { description, hosts, items } }) {
        const content = { items: yield* checkItems(items, "items"), description, hosts }
        const { secret_name, workspace_id } = params
        return yield* orNotFound("secret", secret_name, store.update(workspace_id, secret_name, content))
      }),
      setSecretItems: Effect.fnUntraced(function* ({ params, payload }) {
        const { description, hosts, items, remove = [] } = payload
        const given = Redacted.value(items)
        const both = remove.find((name) => Object.hasOwn(given, name))
        if (both !== undefined) {
          return yield* invalidRequest(`remove: the item "${both}" is also in items; give it in one of them`)
        }
        const { secret_name, workspace_id } = params
        const edited = store.edit(
          workspace_id,
          secret_name,
          Effect.fnUntraced(function* (before) {
            const kept = Object.entries(parseItems(before)).filter(([name]) => !remove.includes(name))
            const all = Redacted.make({ ...Object.fromEntries(kept), ...given })
            return { items: yield* checkItems(all, "items"), description, hosts }
          })
        )
        return (yield* edited) ?? (yield* notFound("secret", secret_name))
      }),
      deleteSecret: Effect.fnUntraced(function* ({ params }) {
        if (!(yield* store.remove(params.workspace_id, params.secret_name))) {
          return yield* notFound("secret", params.secret_name)
        }
        return { name: params.secret_name, deleted: true } as const
      })
    })
  })
)
