/**
 * The first workspace and key of a data folder, and the file that says how to connect.
 */
import { firstKeyPermissions } from "@signalbox/api/contract/Authorization"
import { Credentials } from "@signalbox/api/Credentials"
import * as Tokens from "@signalbox/control-room/Tokens"
import { ApiKeys } from "@signalbox/control-room/store/ApiKeys"
import { Database } from "@signalbox/control-room/store/Database"
import { Workspaces } from "@signalbox/control-room/store/Workspaces"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Schema from "effect/Schema"

export { Credentials }

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Credentials))

/** Written under a temporary name and renamed, so that readers never see a partial file. */
const write = Effect.fnUntraced(function* (file: string, credentials: Credentials) {
  const fs = yield* FileSystem.FileSystem
  const temporary = `${file}.new`
  yield* fs.remove(temporary, { force: true })
  yield* fs.writeFileString(temporary, `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600, flag: "wx" })
  yield* fs.rename(temporary, file)
})

/**
 * Makes the first workspace, with this name, and a key where there are none, and writes `credentials.json` (0600) with the
 * address of this start. A start that was killed in between is made good by the next one. Nodes of one database that share
 * the folder and start at once make one key.
 */
export const ensureCredentials = Effect.fn("ensureCredentials")(function* (
  data: string,
  baseUrl: string,
  name = "default"
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const workspaces = yield* Workspaces
  const keys = yield* ApiKeys
  const { transaction } = yield* Database
  const file = path.join(data, "credentials.json")
  const ensure = Effect.gen(function* () {
    // Locks until the end of the transaction: other nodes wait here, and then find the file.
    const workspace = yield* workspaces.firstOr(name)
    const old = Option.flatMap(yield* Effect.option(fs.readFileString(file)), decode)
    const usable = Option.isSome(old) && (yield* isKeyOf(workspace.id, old.value.api_key))
    const key = usable ? old.value.api_key : (yield* keys.create(workspace.id, "first key", firstKeyPermissions)).key
    const credentials: Credentials = { base_url: baseUrl, workspace_id: workspace.id, api_key: key }
    yield* write(file, credentials)
    return credentials
  })
  return yield* transaction(ensure)
})

const isKeyOf = Effect.fnUntraced(function* (workspace: string, text: string) {
  const token = Tokens.parse(text)
  const key = token === null ? null : yield* (yield* ApiKeys).authenticate(token)
  return key?.workspaceId === workspace
})
