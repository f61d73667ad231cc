import { assert, describe, it } from "@effect/vitest"
import * as Names from "../../src/server/gateway/names.ts"

const known = (text: string): Names.Identity => {
  const [server = "", name = ""] = text.split("/")
  return { name, qualified: `mcp__${server}__${name}` }
}

const plain = (...items: ReadonlyArray<string>) => Names.make(items, "plain", known, ["mcp_read_output"])

describe("Names", () => {
  it("keeps a name that no other server has, and qualifies the others", () => {
    const { items } = plain("a/one", "a/both", "b/both")
    assert.deepStrictEqual(items.map(({ name }) => name), ["one", "mcp__a__both", "mcp__b__both"])
  })

  it("qualifies the name of an own tool of the gateway, which a gateway behind it has too", () => {
    const { find, items } = plain("inner/mcp_read_output")
    assert.deepStrictEqual(items.map(({ name }) => name), ["mcp__inner__mcp_read_output"])
    assert.isUndefined(find("mcp_read_output"))
  })
})
