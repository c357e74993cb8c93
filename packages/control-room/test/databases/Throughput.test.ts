import { layer as withLayer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TurnsRoom from "../support/TurnsRoom.ts"
withLayer(TurnsRoom.layer, { excludeTestServices: true, timeout: "4 minutes" })("throughput", (it) => {
  it.effect("of items without limits", () =>
    Effect.gen(function* () {
      const room = yield* TurnsRoom.make
      const process1 = yield* room.process("p")
      const items = 1500
      yield* room.start(process1, items)
      let [hand] = yield* room.take(1)
      for (let n = 0; n < 100 && hand !== undefined; n++) hand = (yield* room.next(hand)) ?? undefined
      const cpu = process.cpuUsage()
      const from = performance.now()
      let n = 0
      while (hand !== undefined) {
        hand = (yield* room.next(hand)) ?? undefined
        n++
      }
      const { user, system } = process.cpuUsage(cpu)
      console.log(
        `RESULT ${n} items, ${((user + system) / n).toFixed(1)} us CPU an item, ${((n / (performance.now() - from)) * 1000).toFixed(0)} items/s`
      )
    })
  )
})
