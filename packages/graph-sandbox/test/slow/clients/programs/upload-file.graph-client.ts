/** Uploads a local file and says how far it is. */
import {
  Client,
  OneDriveLargeFileUploadTask,
  type Options,
  type Range,
  StreamUpload
} from "@microsoft/microsoft-graph-client"
import { createReadStream } from "node:fs"
import { stat } from "node:fs/promises"
import { posix } from "node:path"

export const main = async (
  localPath: string,
  path: string,
  options: Options
) => {
  const client = Client.init(options)
  const { base, dir } = posix.parse(path)
  const { size } = await stat(localPath)
  const source = new StreamUpload(createReadStream(localPath), base, size)
  const progress = (range?: Range) =>
    console.log(`${Math.floor((100 * ((range?.maxValue ?? 0) + 1)) / size)} %`)
  const task = await OneDriveLargeFileUploadTask.createTaskWithFileObject(
    client,
    source,
    {
      fileName: base,
      path: dir,
      rangeSize: 32 * 327_680,
      uploadEventHandlers: { progress }
    }
  )
  await task.upload()
  return size
}
