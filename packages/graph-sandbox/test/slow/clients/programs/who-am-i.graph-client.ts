/** Who is signed in, and how full the drive is. */
import { Client, type Options } from "@microsoft/microsoft-graph-client"

export const main = async (options: Options) => {
  const client = Client.init(options)
  const { displayName, mail } = await client.api("/me").get()
  const { driveType, quota } = await client.api("/me/drive").get()
  return `${displayName} <${mail}>, ${driveType} drive, ${quota?.used} bytes used`
}
