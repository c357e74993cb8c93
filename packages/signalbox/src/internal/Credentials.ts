/**
 * The first workspace and key of a data folder, and the file that says how to connect.
 */
import { firstKeyPermissions } from "@signalbox/api/contract/Authorization"
import { Credentials } from "@signalbox/api/Credentials"
import * as Tokens from "@signalbox/control-room/Tokens"
import { ApiKeys } from "@signalbox/control-room/store/ApiKeys"
import { Workspaces } from "@signalbox/control-room/store/Workspaces"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Schema from "effect/Schema"

export { Credentials }

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Credentials))

/**
 * Makes the first workspace and a key where there are none, and writes `credentials.json` (0600) with the address of
 * this start. A start that was killed in between is made good by the next one.
 */
export const ensureCredentials = Effect.fn("ensureCredentials")(function* (data: string, baseUrl: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const workspaces = yield* Workspaces
  const file = path.join(data, "credentials.json")
  const workspace = yield* workspaces.firstOr("default")
  const written = yield* Effect.option(fs.readFileString(file))
  const old = Option.flatMap(written, decode)
  const usable = Option.isSome(old) && (yield* isKeyOf(workspace.id, old.value.api_key))
  const key = usable
    ? old.value.api_key
    : (yield* (yield* ApiKeys).create(workspace.id, "first key", firstKeyPermissions)).key
  const credentials: Credentials = { base_url: baseUrl, workspace_id: workspace.id, api_key: key }
  const temporary = `${file}.new`
  yield* fs.remove(temporary, { force: true })
  yield* fs.writeFileString(temporary, `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600, flag: "wx" })
  yield* fs.rename(temporary, file)
  return credentials
})

const isKeyOf = Effect.fnUntraced(function* (workspace: string, text: string) {
  const token = Tokens.parse(text)
  const key = token === null ? null : yield* (yield* ApiKeys).authenticate(token)
  return key?.workspaceId === workspace
})
