/**
 * A library under the known names, authorized by a person in a sandbox of its own.
 */
import { assert } from "@effect/vitest"
import type { Seed } from "@signalbox/graph-sandbox/Seed"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { defined } from "@signalbox/transport/Defined"
import * as Effect from "effect/Effect"
import { type Connection, GraphLibrary, type Options } from "../../src/Compat.ts"
import { GraphSandbox, inSandbox, seed } from "./Sandbox.ts"

export const app = {
  client_id: "5a9db0c5-0000-4000-8000-000000000001",
  client_secret: "sandbox-secret",
  redirect_uri: "http://localhost"
}

/** A token that no service knows. */
export const token = { access_token: "ANY", expires_at: 9e9 }

const people: Seed = {
  ...seed,
  users: [
    ...(seed.users ?? []).map((user) => ({
      ...user,
      drive: { ...user.drive, "Root/inside.txt": "in a folder that is called so" },
      department: "Sales",
      interests: ["chess"],
      aboutMe: null,
      // How the service says that there is none.
      hireDate: "0001-01-01T00:00:00Z"
    })),
    ...Array.from({ length: 120 }, (_, n) => ({ userPrincipalName: `p${n}@contoso.test`, displayName: `Pat ${n}` }))
  ]
}

/** A library that was authorized by a person in the sandbox, a folder for it, and what the sandbox offers. */
export const withLibrary = (
  body: (graph: GraphLibrary, folder: string, tools: typeof GraphSandbox.Service) => Promise<void>,
  options: Options = {},
  more: { readonly httpClient?: Connection["httpClient"] | undefined; readonly rewriteOffice?: boolean } = {}
) =>
  inSandbox(
    Effect.gen(function* () {
      const sandbox = yield* GraphSandbox
      const folder = yield* Effect.acquireRelease(
        Effect.promise(() => mkdtemp(join(tmpdir(), "compat-"))),
        (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
      )
      const token = yield* sandbox.accessToken()
      yield* Effect.promise(async () => {
        await using graph = new GraphLibrary(
          { ...app, file_backend_path: folder, token: { access_token: token, expires_at: 9e9 }, ...options },
          { graphUrl: sandbox.origin, loginUrl: sandbox.origin, ...defined({ httpClient: more.httpClient }) }
        )
        await body(graph, folder, sandbox)
      })
    }),
    { seed: people, signInAs: "ann@contoso.test", rewriteOffice: more.rewriteOffice ?? false }
  )

export const rejection = async (
  call: () => unknown
): Promise<Error & { readonly _tag?: string; readonly reason?: { readonly _tag: string } }> => {
  try {
    await call()
  } catch (error) {
    if (error instanceof Error) return error
  }
  return assert.fail("it did not fail")
}

/** What the person does in the browser. */
export const signIn = async (url: string): Promise<string> => {
  const response = await fetch(url, { redirect: "manual" })
  return response.headers.get("location") ?? assert.fail(`no redirect: ${response.status}`)
}
