/**
 * Many rules together. They are found by the exact parts that they have, so that a hundred thousand of them cost a call
 * no more than those that could be meant.
 *
 * @internal
 */
import * as Either from "effect/Either"
import { caseFolded } from "../../../text/unicode.ts"
import * as ToolName from "../../../tools/ToolName.ts"
import type * as PermissionRule from "../../PermissionRule.ts"
import * as Compile from "./compile.ts"

type Decision = PermissionRule.Decision

const strictness: Readonly<Record<Decision, number>> = { allow: 0, ask: 1, deny: 2 }

/** What stands for a rule that cannot be read: at least as strict, and of a workspace no more than a question. */
const instead = ({ input }: PermissionRule.Fault): PermissionRule.Input | undefined => {
  const { decision, source } = input
  if (source === "workspace") return decision === "allow" ? undefined : { decision: "ask", tool: "*", source }
  return decision === "allow" ? undefined : { decision, tool: "*", source }
}

/** The key ignores case, because a `deny` does; the rules found by it then compare the names again. */
const keyOf = (...parts: ReadonlyArray<string>): string => caseFolded(parts.join("\0"))

/** @internal */
export const compile = (inputs: Iterable<PermissionRule.Input>): PermissionRule.RuleSet => {
  const rules: Array<Compile.Compiled> = []
  const faults: Array<PermissionRule.Fault> = []
  const take = (input: PermissionRule.Input): void => {
    const parsed = Compile.parse(input)
    if (Either.isRight(parsed)) {
      rules.push(parsed.right)
      return
    }
    faults.push(parsed.left)
    const other = instead(parsed.left)
    if (other === undefined) return
    const replaced = Compile.parse(other)
    // in the words of whoever wrote it
    if (Either.isRight(replaced)) rules.push({ ...replaced.right, text: `${input.tool.slice(0, 512)} (unreadable)` })
  }
  for (const input of inputs) take(input)

  const exact = new Map<string, Array<Compile.Compiled>>()
  const ofServer = new Map<string, Array<Compile.Compiled>>()
  const published = new Map<string, Array<Compile.Compiled>>()
  const ofAny: Array<Compile.Compiled> = []
  const put = (map: Map<string, Array<Compile.Compiled>>, key: string, rule: Compile.Compiled): void => {
    const there = map.get(key)
    if (there === undefined) map.set(key, [rule])
    else if (there.at(-1) !== rule) there.push(rule)
  }
  for (const rule of rules) {
    for (const { kind, name, published: seen, server } of rule.targets) {
      if (seen !== undefined) put(published, keyOf(seen), rule)
      else if (server === undefined) {
        if (ofAny.at(-1) !== rule) ofAny.push(rule)
      } else if (name !== undefined && kind !== undefined) put(exact, keyOf(server, kind, name), rule)
      else put(ofServer, keyOf(server), rule)
    }
  }

  /** By the names that a model sees of it, of which one is that of the rule. */
  const asPublished = ({ kind, name, server }: PermissionRule.Subject) =>
    published.size === 0 || kind !== "tool"
      ? []
      : (["double", "single"] as const).map((style) => published.get(keyOf(ToolName.qualify(server, name, style))))

  return {
    rules,
    faults,
    readsArguments: rules.some(({ readsArguments }) => readsArguments),
    onlyAllows: rules.every(({ decision }) => decision === "allow"),
    decide: (subject) => {
      let found: Compile.Compiled | undefined = undefined
      const groups = [
        exact.get(keyOf(subject.server, subject.kind, subject.name)),
        ...asPublished(subject),
        ofServer.get(keyOf(subject.server)),
        ofAny
      ]
      for (const group of groups) {
        for (const rule of group ?? []) {
          if (found !== undefined && strictness[rule.decision] <= strictness[found.decision]) continue
          if (!rule.matches(subject)) continue
          if (rule.decision === "deny") return rule
          found = rule
        }
      }
      return found
    }
  }
}
