/**
 * The RSA keys of the vault, with which robots encrypt what they write: one pair for each workspace, so that a value
 * encrypted for one cannot be read in another. Created on first use; the private half is sealed.
 */
import type { WorkspaceId } from "@signalbox/api/contract/Ids"
import { queryOne, Row, text } from "@signalbox/sql/Table"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Base64 from "effect/encoding/Base64"
import { Seal } from "./Seal.ts"
import * as Transit from "../../vault/Transit.ts"
import { Database } from "../database/Database.ts"

const keyRow = Row({ public_key: text, private_key: text })

export class TransitKeys extends Context.Service<
  TransitKeys,
  {
    /** Base64 of the DER SubjectPublicKeyInfo. */
    readonly publicKey: (workspace: WorkspaceId) => Effect.Effect<string>
    /** DER PKCS #8. */
    readonly privateKey: (workspace: WorkspaceId) => Effect.Effect<Redacted.Redacted<Uint8Array>>
  }
>()("@signalbox/control-room/store/TransitKeys") {
  static readonly layer = Layer.effect(
    TransitKeys,
    Effect.gen(function* () {
      const { sql } = yield* Database
      const { open, seal } = yield* Seal
      const contextOf = (workspace: WorkspaceId) => `transit key ${workspace}`
      const find = (workspace: WorkspaceId) =>
        queryOne(keyRow, sql`SELECT ${keyRow.columns} FROM transit_key WHERE workspace_id = ${workspace}`)
      const get = Effect.fnUntraced(function* (workspace: WorkspaceId) {
        const known = yield* find(workspace)
        if (known !== null) return known
        const { privateKey, publicKey } = yield* Transit.generate
        const row = {
          workspace_id: workspace,
          public_key: Base64.encode(publicKey),
          private_key: yield* seal(Base64.encode(privateKey), contextOf(workspace))
        }
        // Concurrent callers all use the pair of the first.
        yield* sql`INSERT INTO transit_key ${sql.insert(row)} ON CONFLICT DO NOTHING`
        return (yield* find(workspace)) ?? row
      })
      return TransitKeys.of({
        publicKey: (workspace) => Effect.map(get(workspace), (row) => row.public_key),
        privateKey: Effect.fnUntraced(function* (workspace) {
          const { private_key } = yield* get(workspace)
          return Redacted.make(Buffer.from(yield* open(private_key, contextOf(workspace)), "base64"))
        })
      })
    })
  )
}
