/**
 * The database schema, the same on SQLite and Postgres. Timestamps are ISO 8601 text in UTC, so they sort as text;
 * JSON is text. A migration that has been released is never edited.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Migrator from "effect/sql/Migrator"
import * as SqlClient from "effect/sql/SqlClient"
import * as Dialect from "./Dialect.ts"
import { unhurried } from "./QueryDeadline.ts"
import * as Access from "./migrations/Access.ts"
import * as Bulk from "./migrations/Bulk.ts"
import * as Content from "./migrations/Content.ts"
import * as Git from "./migrations/Git.ts"
import * as InHand from "./migrations/InHand.ts"
import * as Init from "./migrations/Init.ts"
import * as Looks from "./migrations/Looks.ts"
import * as Pages from "./migrations/Pages.ts"
import * as Requests from "./migrations/Requests.ts"
import * as Retention from "./migrations/Retention.ts"
import * as Waits from "./migrations/Waits.ts"
import * as Webhooks from "./migrations/Webhooks.ts"

const run = (statements: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    for (const statement of statements) yield* sql.unsafe(Dialect.definition(sql, statement))
  })

const loader = Migrator.fromRecord({
  "0001_init": run(Init.statements),
  "0002_access": run(Access.statements),
  "0003_webhooks": run(Webhooks.statements),
  "0004_content": run(Content.statements),
  "0005_requests": run(Requests.statements),
  "0006_pages": run(Pages.statements),
  "0007_looks": run(Looks.statements),
  "0008_retention": run(Retention.statements),
  "0009_git": run(Git.statements),
  "0010_in_hand": run(InHand.statements),
  "0011_waits": run(Waits.statements),
  "0012_bulk": run(Bulk.statements)
})

/** Brings the database to the newest schema; does nothing when it is there already. */
export const migrate = unhurried(Migrator.make({})({ loader, table: "migration" }))

export const layer = Layer.effectDiscard(migrate)
