/** Files that a robot left behind: its log and its pictures are shown, all else is downloaded. */
import type { ArtifactListed } from "@signalbox/api/contract/StepRuns"
import { useState } from "preact/hooks"
import { consoleFile, type Page } from "../api.ts"
import { Button, Empty, Panel } from "../kit/Basics.tsx"
import { List } from "../kit/List.tsx"
import { useResource } from "../load.ts"
import { count } from "../format.ts"
import * as text from "../text/text.ts"

const isPicture = (name: string) => /\.(png|jpe?g|webp)$/i.test(name)
const isPage = (name: string) => /\.html?$/i.test(name)
const isText = ({ name, size }: ArtifactListed) =>
  size <= 1024 * 1024 && /\.(txt|log|csv|json|xml|ya?ml|md)$/i.test(name)
const isShown = (file: ArtifactListed) => isPicture(file.name) || isPage(file.name) || isText(file)

/** What is in it runs in a frame whose origin is its own. */
const View = ({ file }: { readonly file: ArtifactListed }) =>
  isPicture(file.name) ? (
    <a href={consoleFile(file.id)} target="_blank" rel="noreferrer">
      <img class="shot" src={consoleFile(file.id)} alt={text.runs.screenshot(file.name)} />
    </a>
  ) : (
    <iframe
      class="frame"
      title={file.name}
      src={consoleFile(file.id)}
      sandbox={isPage(file.name) ? "allow-scripts" : ""}
    />
  )

export const Artifacts = ({ stepRun }: { readonly stepRun: string }) => {
  const [open, setOpen] = useState<ArtifactListed | null>(null)
  return (
    <>
      <List<ArtifactListed>
        label={text.common.artifacts}
        path={`step-runs/${stepRun}/artifacts`}
        empty={<Empty title={text.runs.noArtifacts}>{text.runs.noArtifactsHint}</Empty>}
        columns={[
          { title: text.common.name, cell: ({ name }) => name },
          { title: text.runs.size, isNumber: true, cell: ({ size }) => count(size) },
          {
            title: text.common.actions,
            isNumber: true,
            cell: (file) =>
              isShown(file) ? (
                <Button
                  aria-expanded={open?.id === file.id}
                  onClick={() => setOpen(open?.id === file.id ? null : file)}
                >
                  {open?.id === file.id ? text.runs.hide : text.runs.show} <span class="hidden">{file.name}</span>
                </Button>
              ) : (
                <a class="button" href={consoleFile(file.id)} download={file.name}>
                  {text.common.download} {<span class="hidden">{file.name}</span>}
                </a>
              )
          }
        ]}
      />
      {open === null ? null : <View key={open.id} file={open} />}
    </>
  )
}

/** The pictures that the robot of a failed item has left, the newest first. */
export const Shots = ({ stepRun }: { readonly stepRun: string }) => {
  const { data } = useResource<Page<ArtifactListed>>(`step-runs/${stepRun}/artifacts`, { limit: 100 })
  const shots = (data?.data ?? []).filter(({ name }) => isPicture(name)).slice(0, 4)
  return shots.length === 0 ? null : (
    <Panel title={text.runs.screenshots}>
      {shots.map((file) => (
        <figure key={file.id}>
          <View file={file} />
          <figcaption class="quiet">{file.name}</figcaption>
        </figure>
      ))}
    </Panel>
  )
}
