/** The heap of this process, once everything collectable is gone. */
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

setFlagsFromString("--expose-gc")
const gc: () => void = runInNewContext("gc")

const turn = () => new Promise((resolve) => setImmediate(resolve))

/** In bytes. */
export const settled = async (): Promise<number> => {
  for (let round = 0; round < 3; round++) {
    gc()
    // what is collected tells its finalization callbacks, which let go of more
    await turn()
  }
  return process.memoryUsage().heapUsed
}
