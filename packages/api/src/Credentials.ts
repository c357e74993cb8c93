/**
 * How to reach a local control room, as it writes it into its data folder.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { WorkspaceId } from "./contract/Ids.ts"
import type { Options } from "./ControlRoom.ts"

/** What `credentials.json` in a data folder holds. */
export const Credentials = Schema.Struct({
  base_url: Schema.String,
  workspace_id: WorkspaceId,
  api_key: Schema.String
})
export interface Credentials extends Schema.Schema.Type<typeof Credentials> {}

const decodeCredentials = Schema.decodeUnknownEffect(Schema.fromJsonString(Credentials))

/** The options that a `credentials.json` holds. */
export const readCredentials = Effect.fn("readCredentials")(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const found = yield* fs.readFileString(path).pipe(Effect.flatMap(decodeCredentials))
  const options: Options = {
    baseUrl: found.base_url,
    workspaceId: found.workspace_id,
    apiKey: Redacted.make(found.api_key)
  }
  return options
})
