/** A file for `apply` with processes of which only the names of steps are known. What is empty in it, `apply` refuses. */
import { json } from "./Shown.ts"

export interface Outline {
  readonly name: string
  readonly description: string | null
  readonly steps: ReadonlyArray<string>
}

const step = (name: string) => `      - name: ${json(name)}
        # FILL IN the task that this step runs, and its task package; without package, a task of the workers.
        task: { name: "", package: "" }
        # Not known either: worker_group, worker, max_parallel, timeout_seconds, retry, env, pause_after_failures.`

const process = ({ description, name, steps }: Outline) =>
  [
    `  ${json(name)}:`,
    ...(description === null ? [] : [`    description: ${json(description)}`]),
    ...(steps.length === 0
      ? ["    # FILL IN the steps: the interface does not show them.", '    steps: [{ name: "", task: { name: "" } }]']
      : ["    steps:", ...steps.map(step)])
  ].join("\n")

/** YAML: its texts are JSON, which is YAML too. */
export const textOf = (outlines: ReadonlyArray<Outline>): string =>
  `# Imported processes. The interface of their room does not say what their steps run: FILL IN each task, and apply the file.
processes:
${outlines.map(process).join("\n")}
`
