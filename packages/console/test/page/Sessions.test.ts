/** A session that ends while another begins in its place. */
import { assert, beforeAll, describe, it, vi } from "@effect/vitest"
import type * as Api from "../../src/page/api.ts"
import type * as State from "../../src/page/state.ts"

const sessionOf = (name: string): Api.Session => ({
  workspace: { id: "01a20524-dcd2-733d-aa94-3d15040c052e", name },
  api: "/api/v1",
  key: null,
  user: null,
  workspaces: [],
  expires_at: "2026-01-02T03:04:05.000Z",
  permissions: [],
  flows: false
})

describe("the session of the page", () => {
  let state: typeof State
  let refused: Api.ApiError
  beforeAll(async () => {
    // The modules read the address of the page when they are loaded.
    vi.stubGlobal("document", { baseURI: "http://room.example.com/console/" })
    state = await import("../../src/page/state.ts")
    const { ApiError } = await import("../../src/page/api.ts")
    refused = new ApiError(401, "no session")
  })

  it("is over when a request of it is refused", () => {
    const ada = sessionOf("Ada")
    state.session.value = ada
    state.noteEnd(new Error("no response"), ada)
    assert.strictEqual(state.session.value, ada)
    state.noteEnd(refused, ada)
    assert.isNull(state.session.value)
  })

  it("stays when the refused request was sent in the one before", () => {
    const vera = sessionOf("Vera")
    state.session.value = vera
    state.noteEnd(refused, sessionOf("Ada"))
    assert.strictEqual(state.session.value, vera)
  })
})
