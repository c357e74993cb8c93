/** Creates the item of an invoice, once: the program may run again after an answer was lost, or after a crash. */
import { connect, type ConnectionOptions } from "@signalbox/api/promise"

export const main = async (
  process: string,
  invoice: string,
  options?: ConnectionOptions
) => {
  await using room = connect(options)
  const item = await room.workItems.create(
    { process, payload: { invoice } },
    { idempotencyKey: `invoice-${invoice}` }
  )
  console.log(item.id)
  return item.id
}
