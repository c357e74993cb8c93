import {
  ApplicationError,
  BusinessError,
  defineTask
} from "@signalbox/worker/Promises"

interface Order {
  readonly article: string
  readonly pieces: number
}

const isOrder = (payload: unknown): payload is Order =>
  typeof payload === "object" &&
  payload !== null &&
  "article" in payload &&
  "pieces" in payload

export const price = defineTask({
  name: "price",
  async run({ asset, log, output, payload, signal }) {
    if (!isOrder(payload))
      throw new BusinessError("NO_ORDER", "an order has an article and pieces")
    signal.throwIfAborted()
    const prices: Record<string, number> = JSON.parse(await asset("prices"))
    const each = prices[payload.article]
    if (each === undefined)
      throw new ApplicationError(
        "NO_PRICE",
        `no price for ${payload.article} yet`
      )
    log("priced", { article: payload.article })
    const total = each * payload.pieces
    const letter = new TextEncoder().encode(
      `${payload.pieces} × ${payload.article}: ${total}\n`
    )
    await output({ total }, { files: [{ name: "letter.txt", bytes: letter }] })
  }
})

/** Each line of its file is an output. */
export const split = defineTask({
  name: "split",
  async *run({ files }) {
    for (const line of (await files.text("orders.csv")).trim().split("\n")) {
      const [article = "", pieces = "0"] = line.split(",")
      yield { article, pieces: Number(pieces) }
    }
  }
})

export const tasks = [split, price]
