/** The credentials of a local control room, as stored in its data folder. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { WorkspaceId } from "./contract/Ids.ts"
import type { Options } from "./ControlRoom.ts"

/** The content of `credentials.json` in a data folder. */
export const Credentials = Schema.Struct({
  base_url: Schema.String,
  workspace_id: WorkspaceId,
  api_key: Schema.String
})
export interface Credentials extends Schema.Schema.Type<typeof Credentials> {}

const decodeCredentials = Schema.decodeUnknownEffect(Schema.fromJsonString(Credentials))

/** Reads the options from a `credentials.json`. */
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
