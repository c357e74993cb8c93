/**
 * Three programs of examples/clients/graph, as they are written with Microsoft's client and with PnPjs: docs/compare-clients.md
 * counts their lines.
 */
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { vi } from "vitest"
import { Command } from "../../support/command.ts"
import * as batchReads from "./programs/batch-reads.graph-client.ts"
import * as batchReadsPnp from "./programs/batch-reads.pnp.ts"
import * as listFolder from "./programs/list-folder.graph-client.ts"
import * as listFolderPnp from "./programs/list-folder.pnp.ts"
import * as uploadFile from "./programs/upload-file.graph-client.ts"
import * as uploadFilePnp from "./programs/upload-file.pnp.ts"

const people = ["ann@contoso.test", "nobody@contoso.test", "bo@contoso.test"]

interface Programs {
  readonly listFolder: (folder: string) => Promise<ReadonlyArray<string>>
  readonly uploadFile: (localPath: string, path: string) => Promise<number>
  readonly batchReads: (names: ReadonlyArray<string>) => Promise<ReadonlyArray<string>>
}

const programs: Readonly<Record<string, (command: typeof Command.Service) => Programs>> = {
  "microsoft-graph-client": ({ ann, origin }) => {
    const options = {
      baseUrl: `${origin}/`,
      customHosts: new Set(["localhost"]),
      authProvider: (done: (error: null, token: string) => void) => done(null, ann.accessToken)
    }
    return {
      listFolder: (folder) => listFolder.main(folder, options),
      uploadFile: (localPath, path) => uploadFile.main(localPath, path, options),
      batchReads: (names) => batchReads.main(names, options)
    }
  },
  PnPjs: ({ ann: { accessToken }, graph_url }) => ({
    listFolder: (folder) => listFolderPnp.main(folder, graph_url, accessToken),
    uploadFile: (localPath, path) => uploadFilePnp.main(localPath, path, graph_url, accessToken),
    batchReads: (names) => batchReadsPnp.main(names, graph_url, accessToken)
  })
}

layer(Command.layer("--token-on-files", "ignore"), { excludeTestServices: true })("programs with", (it) => {
  for (const [client, connect] of Object.entries(programs)) {
    it.effect(`${client}: a folder, an upload and a batch`, () =>
      Effect.flatMap(Command, (command) =>
        Effect.promise(async () => {
          const { batchReads, listFolder, uploadFile } = connect(command)
          const folder = await mkdtemp(join(tmpdir(), "programs-"))
          const file = join(folder, "big.bin")
          const said = vi.spyOn(console, "log").mockImplementation(() => {})
          try {
            await writeFile(file, new Uint8Array(12_000_000))
            assert.strictEqual(await uploadFile(file, "/Docs/big.bin"), 12_000_000)
            assert.deepStrictEqual(
              said.mock.calls.map(([line]) => line),
              ["87 %", "100 %"]
            )
          } finally {
            said.mockRestore()
            await rm(folder, { recursive: true })
          }
          assert.sameMembers([...(await listFolder("/Docs"))], ["a #1%.txt 11", "big.bin 12000000"])
          assert.deepStrictEqual(await batchReads(people), ["nobody@contoso.test"])
        })
      )
    )
  }
})
