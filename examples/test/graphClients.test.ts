/**
 * The programs of examples/clients/graph in both styles, each against a sandbox of its own, over HTTP.
 */
import { describe, it } from "@effect/vitest"
import { GraphSandbox } from "@signalbox/graph-sandbox/GraphSandbox"
import { AccessTokens } from "@signalbox/graph/AccessTokens"
import type { Graph } from "@signalbox/graph/Graph"
import { layer as layerGraph } from "@signalbox/graph/node"
import { defaultPolicy, GraphPolicy } from "@signalbox/graph/Policy"
import type { GraphOptions } from "@signalbox/graph/promise"
import { seed, testsOf, type Written } from "@signalbox/testkit/GraphPrograms"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import type * as Path from "effect/Path"
import * as Redacted from "effect/Redacted"
import * as appOnlyEffect from "../clients/graph/app-only.effect.ts"
import * as appOnlyPromise from "../clients/graph/app-only.promise.ts"
import * as batchReadsEffect from "../clients/graph/batch-reads.effect.ts"
import * as batchReadsPromise from "../clients/graph/batch-reads.promise.ts"
import * as changesEffect from "../clients/graph/changes.effect.ts"
import * as changesPromise from "../clients/graph/changes.promise.ts"
import * as createItemsEffect from "../clients/graph/create-items.effect.ts"
import * as createItemsPromise from "../clients/graph/create-items.promise.ts"
import * as downloadFileEffect from "../clients/graph/download-file.effect.ts"
import * as downloadFilePromise from "../clients/graph/download-file.promise.ts"
import * as downloadFolderEffect from "../clients/graph/download-folder.effect.ts"
import * as downloadFolderPromise from "../clients/graph/download-folder.promise.ts"
import * as listFolderEffect from "../clients/graph/list-folder.effect.ts"
import * as listFolderPromise from "../clients/graph/list-folder.promise.ts"
import * as readListEffect from "../clients/graph/read-list.effect.ts"
import * as readListPromise from "../clients/graph/read-list.promise.ts"
import * as searchAndMoveEffect from "../clients/graph/search-and-move.effect.ts"
import * as searchAndMovePromise from "../clients/graph/search-and-move.promise.ts"
import * as shareLinkEffect from "../clients/graph/share-link.effect.ts"
import * as shareLinkPromise from "../clients/graph/share-link.promise.ts"
import * as throttlingEffect from "../clients/graph/throttling.effect.ts"
import * as throttlingPromise from "../clients/graph/throttling.promise.ts"
import * as uploadFileEffect from "../clients/graph/upload-file.effect.ts"
import * as uploadFilePromise from "../clients/graph/upload-file.promise.ts"
import * as whoAmIEffect from "../clients/graph/who-am-i.effect.ts"
import * as whoAmIPromise from "../clients/graph/who-am-i.promise.ts"
import { compare } from "./support/Compared.ts"

type Services = Graph | FileSystem.FileSystem | Path.Path

/** The sandbox, for both styles. */
interface Connection {
  readonly options: GraphOptions
  /** How to reach it. */
  readonly place: { readonly graphUrl: string; readonly loginUrl: string }
  readonly run: <A, E>(effect: Effect.Effect<A, E, Services>) => Promise<A>
}

const promises: Written<Connection> = {
  whoAmI:
    ({ options }) =>
    () =>
      whoAmIPromise.main(options),
  listFolder:
    ({ options }) =>
    (folder) =>
      listFolderPromise.main(folder, options),
  uploadFile:
    ({ options }) =>
    (localPath, path) =>
      uploadFilePromise.main(localPath, path, options),
  downloadFile:
    ({ options }) =>
    (path, to) =>
      downloadFilePromise.main(path, to, options),
  downloadFolder:
    ({ options }) =>
    (folder, to) =>
      downloadFolderPromise.main(folder, to, options),
  searchAndMove:
    ({ options }) =>
    (text, target) =>
      searchAndMovePromise.main(text, target, options),
  shareLink:
    ({ options }) =>
    (path, recipient) =>
      shareLinkPromise.main(path, recipient, options),
  readList:
    ({ options }) =>
    (address, author) =>
      readListPromise.main(address, author, options),
  createItems:
    ({ options }) =>
    (address, books) =>
      createItemsPromise.main(address, books, options),
  changes:
    ({ options }) =>
    (stateFile) =>
      changesPromise.main(stateFile, options),
  batchReads:
    ({ options }) =>
    (names) =>
      batchReadsPromise.main(names, options),
  appOnly:
    ({ options: { token: _, ...options } }) =>
    (user, app) =>
      appOnlyPromise.main(user, app, options),
  throttling:
    ({ options }) =>
    (path, millis) =>
      throttlingPromise.main(path, millis, options)
}

const effects: Written<Connection> = {
  whoAmI:
    ({ run }) =>
    () =>
      run(whoAmIEffect.main),
  listFolder:
    ({ run }) =>
    (folder) =>
      run(listFolderEffect.main(folder)),
  uploadFile:
    ({ run }) =>
    (localPath, path) =>
      run(uploadFileEffect.main(localPath, path)),
  downloadFile:
    ({ run }) =>
    (path, to) =>
      run(downloadFileEffect.main(path, to)),
  downloadFolder:
    ({ run }) =>
    (folder, to) =>
      run(downloadFolderEffect.main(folder, to)),
  searchAndMove:
    ({ run }) =>
    (text, target) =>
      run(searchAndMoveEffect.main(text, target)),
  shareLink:
    ({ run }) =>
    (path, recipient) =>
      run(shareLinkEffect.main(path, recipient)),
  readList:
    ({ run }) =>
    (address, author) =>
      run(readListEffect.main(address, author)),
  createItems:
    ({ run }) =>
    (address, books) =>
      run(createItemsEffect.main(address, books)),
  changes:
    ({ run }) =>
    (stateFile) =>
      run(changesEffect.main(stateFile)),
  batchReads:
    ({ run }) =>
    (names) =>
      run(batchReadsEffect.main(names)),
  appOnly:
    ({ place, run }) =>
    (user, app) =>
      run(appOnlyEffect.main(user, { ...app, ...place, privateKey: Redacted.make(app.privateKey) })),
  throttling:
    ({ run }) =>
    (path, millis) =>
      run(throttlingEffect.main(path, millis))
}

const policy = { ...defaultPolicy, baseMillis: 1, capMillis: 5 }

for (const [style, written] of Object.entries({ promises, effects })) {
  describe(`with ${style}`, () => {
    for (const [name, test] of Object.entries(testsOf(written))) {
      it.live(name, () =>
        Effect.gen(function* () {
          const sandbox = yield* GraphSandbox
          const token = yield* sandbox.accessToken()
          const place = { graphUrl: sandbox.origin, loginUrl: sandbox.origin }
          const layer = Layer.provide(layerGraph(place), AccessTokens.layerFixed(Redacted.make(token)))
          const connection: Connection = {
            options: { token, ...place, policy },
            place,
            run: (effect) =>
              Effect.runPromise(effect.pipe(Effect.provideService(GraphPolicy, policy), Effect.provide(layer)))
          }
          yield* Effect.promise(() =>
            test(connection, {
              graphUrl: sandbox.graphUrl,
              token,
              faults: (...rules) => Effect.runPromise(sandbox.setFaults({ rules })),
              requests: () => Effect.runPromise(sandbox.requests),
              isOurs: true
            })
          )
        }).pipe(Effect.provide(GraphSandbox.layer({ seed })))
      )
    }
  })
}

compare({
  own: "examples/clients/graph",
  others: ["graph-client", "pnp"].map((client) => ({
    folder: "packages/graph-sandbox/test/slow/clients/programs",
    ending: `.${client}.ts`
  })),
  programs: 13
})
