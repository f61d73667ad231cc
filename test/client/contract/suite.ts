import { calls } from "./calls.ts"
import { type Cell, shared } from "./cell.ts"
import { content } from "./content.ts"
import { handshake } from "./handshake.ts"
import { input } from "./input.ts"
import { lifecycle } from "./lifecycle.ts"
import { notifications } from "./notifications.ts"
import { tools } from "./tools.ts"

/** The whole contract for one cell of the matrix. */
export const contract = (cell: Cell): void => {
  shared(cell, (it) => {
    handshake(it, cell)
    tools(it, cell)
    calls(it, cell)
    notifications(it, cell)
    content(it, cell)
    input(it, cell)
  })
  lifecycle(cell)
}
