/** The drills of processes, over three runners of a cluster. */
import { sized } from "@signalbox/testkit/Soak"
import { awaySuite } from "../support/drills/AwaySuite.ts"
import { cancelsSuite } from "../support/drills/CancelsSuite.ts"
import { stepMoreSuite, versionsSuite } from "../support/drills/DeploymentsSuite.ts"
import { killsSuite } from "../support/drills/KillsSuite.ts"
import { stoppedSuite, terminatedSuite } from "../support/drills/StoppedSuite.ts"
import { postgres } from "../support/drills/Stores.ts"

const name = "three runners"
const options = { name, store: postgres, processes: 3, cluster: true }

killsSuite({ ...options, kills: sized(12, 300) })
cancelsSuite(options)
stoppedSuite(name, true)
terminatedSuite(name, true)
versionsSuite(name, true)
stepMoreSuite(name, true)
awaySuite(name, true)
