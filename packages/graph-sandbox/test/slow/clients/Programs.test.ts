/**
 * The programs of examples/clients/graph, as they are written with Microsoft's client and with PnPjs, against the sandbox:
 * docs/compare-clients.md counts their lines.
 */
import { describe, it } from "@effect/vitest"
import type { Options } from "@microsoft/microsoft-graph-client"
import { seed, testsOf, type Written } from "@signalbox/testkit/GraphPrograms"
import * as Effect from "effect/Effect"
import { getCACertificates, setDefaultCACertificates } from "node:tls"
import { GraphSandbox } from "../../../src/GraphSandbox.ts"
import * as appOnly from "./programs/app-only.graph-client.ts"
import * as appOnlyPnp from "./programs/app-only.pnp.ts"
import * as batchReads from "./programs/batch-reads.graph-client.ts"
import * as batchReadsPnp from "./programs/batch-reads.pnp.ts"
import * as changes from "./programs/changes.graph-client.ts"
import * as createItems from "./programs/create-items.graph-client.ts"
import * as createItemsPnp from "./programs/create-items.pnp.ts"
import * as downloadFile from "./programs/download-file.graph-client.ts"
import * as downloadFilePnp from "./programs/download-file.pnp.ts"
import * as downloadFolder from "./programs/download-folder.graph-client.ts"
import * as downloadFolderPnp from "./programs/download-folder.pnp.ts"
import * as listFolder from "./programs/list-folder.graph-client.ts"
import * as listFolderPnp from "./programs/list-folder.pnp.ts"
import * as readList from "./programs/read-list.graph-client.ts"
import * as readListPnp from "./programs/read-list.pnp.ts"
import * as searchAndMove from "./programs/search-and-move.graph-client.ts"
import * as searchAndMovePnp from "./programs/search-and-move.pnp.ts"
import * as shareLink from "./programs/share-link.graph-client.ts"
import * as shareLinkPnp from "./programs/share-link.pnp.ts"
import * as throttling from "./programs/throttling.graph-client.ts"
import * as throttlingPnp from "./programs/throttling.pnp.ts"
import * as uploadFile from "./programs/upload-file.graph-client.ts"
import * as uploadFilePnp from "./programs/upload-file.pnp.ts"
import * as whoAmI from "./programs/who-am-i.graph-client.ts"
import * as whoAmIPnp from "./programs/who-am-i.pnp.ts"

interface Connection {
  readonly origin: string
  readonly graphUrl: string
  readonly token: string
}

const optionsOf = ({ origin, token }: Connection): Options => ({
  baseUrl: `${origin}/`,
  customHosts: new Set(["localhost"]),
  authProvider: (done) => done(null, token)
})

const graphClient: Written<Connection> = {
  whoAmI: (to) => () => whoAmI.main(optionsOf(to)),
  listFolder: (to) => (folder) => listFolder.main(folder, optionsOf(to)),
  uploadFile: (to) => (localPath, path) => uploadFile.main(localPath, path, optionsOf(to)),
  downloadFile: (to) => (path, folder) => downloadFile.main(path, folder, optionsOf(to)),
  downloadFolder: (to) => (folder, local) => downloadFolder.main(folder, local, optionsOf(to)),
  searchAndMove: (to) => (text, target) => searchAndMove.main(text, target, optionsOf(to)),
  shareLink: (to) => (path, recipient) => shareLink.main(path, recipient, optionsOf(to)),
  readList: (to) => (address, author) => readList.main(address, author, optionsOf(to)),
  createItems: (to) => (address, books) => createItems.main(address, books, optionsOf(to)),
  changes: (to) => (stateFile) => changes.main(stateFile, optionsOf(to)),
  batchReads: (to) => (names) => batchReads.main(names, optionsOf(to)),
  appOnly: ({ origin }) => {
    const options = { baseUrl: `${origin}/`, customHosts: new Set(["localhost"]) }
    const login = { authorityHost: origin, disableInstanceDiscovery: true }
    return (user, app) => appOnly.main(user, app, options, login)
  },
  throttling: (to) => (path, millis) => throttling.main(path, millis, optionsOf(to))
}

/** Its delta begins again from an object in memory, or from a token, which it does not show. */
const pnp: Written<Connection> = {
  whoAmI:
    ({ graphUrl, token }) =>
    () =>
      whoAmIPnp.main(graphUrl, token),
  listFolder:
    ({ graphUrl, token }) =>
    (folder) =>
      listFolderPnp.main(folder, graphUrl, token),
  uploadFile:
    ({ graphUrl, token }) =>
    (localPath, path) =>
      uploadFilePnp.main(localPath, path, graphUrl, token),
  downloadFile:
    ({ graphUrl, token }) =>
    (path, folder) =>
      downloadFilePnp.main(path, folder, graphUrl, token),
  downloadFolder:
    ({ graphUrl, token }) =>
    (folder, local) =>
      downloadFolderPnp.main(folder, local, graphUrl, token),
  searchAndMove:
    ({ graphUrl, token }) =>
    (text, target) =>
      searchAndMovePnp.main(text, target, graphUrl, token),
  shareLink:
    ({ graphUrl, token }) =>
    (path, recipient) =>
      shareLinkPnp.main(path, recipient, graphUrl, token),
  readList:
    ({ graphUrl, token }) =>
    (address, author) =>
      readListPnp.main(address, author, graphUrl, token),
  createItems:
    ({ graphUrl, token }) =>
    (address, books) =>
      createItemsPnp.main(address, books, graphUrl, token),
  batchReads:
    ({ graphUrl, token }) =>
    (names) =>
      batchReadsPnp.main(names, graphUrl, token),
  appOnly:
    ({ graphUrl, origin }) =>
    (user, app) =>
      appOnlyPnp.main(user, app, graphUrl, origin),
  throttling:
    ({ graphUrl, token }) =>
    (path, millis) =>
      throttlingPnp.main(path, millis, graphUrl, token)
}

for (const [client, written] of Object.entries({ "microsoft-graph-client": graphClient, PnPjs: pnp })) {
  describe(`programs with ${client}`, () => {
    for (const [name, test] of Object.entries(testsOf(written))) {
      it.live(name, () =>
        Effect.gen(function* () {
          const { accessToken, ca, graphUrl, origin, requests, setFaults } = yield* GraphSandbox
          // As with NODE_EXTRA_CA_CERTS, which is read when a process starts.
          setDefaultCACertificates([...getCACertificates("default"), ca ?? ""])
          const token = yield* accessToken()
          yield* Effect.promise(() =>
            test(
              { origin, graphUrl, token },
              {
                graphUrl,
                token,
                faults: (...rules) => Effect.runPromise(setFaults({ rules })),
                requests: () => Effect.runPromise(requests),
                isOurs: false
              }
            )
          )
        }).pipe(Effect.provide(GraphSandbox.layer({ seed, tls: true, tokenOnFiles: "ignore" })))
      )
    }
  })
}
