/** Workers: the machines that run tasks. */
import type { Worker } from "@signalbox/api/contract/Workers"
import { Empty, Head, State } from "../kit/Basics.tsx"
import { List } from "../kit/List.tsx"

export default () => (
  <>
    <Head title="Workers" />
    <section class="panel flush">
      <List<Worker>
        label="Workers"
        path="workers"
        empty={
          <Empty title="No workers yet">
            On the machine that shall run tasks: <code>signalbox worker link</code>
          </Empty>
        }
        columns={[
          { title: "Name", cell: ({ name }) => name },
          { title: "State", cell: ({ state }) => <State state={state} /> }
        ]}
      />
    </section>
  </>
)
