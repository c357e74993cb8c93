/** What the programs of this folder are given, whatever runs them, and what they have in common. */
export interface Given {
  readonly room: { readonly baseUrl: string; readonly apiKey: string; readonly workspaceId: string }
  /** A webhook that was signed just now. */
  readonly delivery: {
    readonly headers: Readonly<Record<string, string>>
    readonly body: string
    readonly secret: string
  }
}

/** A payload of an interface, which has no index signature. */
export interface Person {
  readonly name: string
  readonly born?: number
}

export const people: ReadonlyArray<Person> = [{ name: "Ada", born: 1815 }, { name: "Grace" }, { name: "Edsger" }]

/** More than one packet of a connection has, and no text. */
export const scan = Uint8Array.from({ length: 300_000 }, (_, n) => n % 251)

/** The global `fetch`, but that the first of these requests is refused as one too many. */
export const busyOnce = (path: RegExp): typeof fetch => {
  let times = 0
  return async (input, init) =>
    init?.method === "POST" && path.test(String(input)) && times++ === 0
      ? new Response(null, { status: 429, headers: { "retry-after": "0" } })
      : fetch(input, init)
}

/** What both programs return. */
export interface Outcome {
  readonly greetings: ReadonlyArray<string>
  /** Items on each page. */
  readonly pages: ReadonlyArray<number>
  /** Names of files, and whether they came back as they were sent. */
  readonly files: Readonly<Record<string, boolean>>
  /** Status and number of the next attempt of each. */
  readonly retries: ReadonlyArray<string>
  /** Whether a wait ended when it was aborted. */
  readonly isAborted: boolean
  /** What became of a run that does not exist. */
  readonly missing: unknown
  /** What became of webhooks, a genuine one and one that was changed. */
  readonly webhooks: ReadonlyArray<string>
}

export const isScan = async (chunks: ReadonlyArray<Uint8Array>): Promise<boolean> => {
  const bytes = new Uint8Array(await new Blob(chunks.map((chunk) => new Uint8Array(chunk))).arrayBuffer())
  return bytes.length === scan.length && bytes.every((byte, n) => byte === scan[n])
}
