/**
 * What a text is structured with, or pretends to be: tokens of chat templates, tags, heads of turns, borders.
 *
 * @internal
 */

interface Mark {
  readonly name: string
  readonly end: number
}

const set = (words: string): ReadonlySet<string> => new Set(words.split(" "))

const systemRoles = set(
  "system developer operator admin administrator sysadmin supervisor sys superuser orchestrator"
)
const turnRoles = set(
  "user human assistant ai model bot claude chatgpt gpt agent llm copilot gemini tool function ipython"
)
const roleNouns = set(
  "message prompt instruction instructions note override notice update alert directive command commands announcement policy reminder says critical priority level announcement broadcast event maintenance new"
)
const borderWords = set(
  "system prompt instructions instruction tool output untrusted data response result results context document documents server user input content external assistant message mcp quoted retrieved trusted section block search"
)
const endTagWords = set(
  "tool result results untrusted data context documents document retrieved external output response mcp function_results search content user_input input quoted webpage page email attachment observation"
)
const heavyTags = set(
  "important critical system admin administrator operator instruction instructions secret hidden override directive directives reminder developer root policy urgent priority prompt assistant rule rules note_to_assistant confidential attention mandatory sudo security_policy new_instructions agent ai llm"
)
const callTags = set(
  "function_calls function_call invoke tool_call tool_calls tool_use tool_code invocation execute_tool use_mcp_tool"
)
const resultTags = set(
  "tool_result tool_results tool_response tool_output function_results function_result function_response observation"
)
const userTags = set(
  "user_query user_message user_input user_prompt user_request user_turn human_message human_input user_instruction user_instructions user_command"
)
const turnTags = set("start_of_turn end_of_turn bos eos start_header_id eot_id human_turn assistant_turn turn")

const isLetter = (code: number): boolean => (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39)

const decoration = /^[ \t#*>\-=_~`|[\]<({:+.]*/

const longestLine = 120

const hasAny = (words: ReadonlyArray<string>, among: ReadonlySet<string>): boolean =>
  words.some((word) => among.has(word))

/** @internal */
export class Marks {
  readonly #text: string
  /** Tags that were opened: their ends are in order. */
  readonly #opened = new Set<string>()

  constructor(text: string) {
    this.#text = text
  }

  /** What the line that begins here is, beyond its words. */
  ofLine(from: number): ReadonlyArray<Mark> {
    const text = this.#text
    const line = text.slice(from, from + longestLine)
    const before = decoration.exec(line)![0]
    const first = line.charCodeAt(before.length)
    if (!isLetter(first)) return []
    const rest = line.slice(before.length)
    const stop = rest.search(/[\n\r]/)
    const whole = stop === -1 ? rest : rest.slice(0, stop)
    const head = /^[a-z0-9 _/]+(?:\([^()\n]{0,40}\))?[ *_`"]*/.exec(whole)?.[0] ?? ""
    const after = whole.charAt(head.length)
    const words = head.replace(/\(.*/, "").split(/[ _/*`"]+/).filter((word) => word !== "")
    const end = from + before.length + head.length
    const decorated = /[#*=\-~<[|>_]/.test(before)
    const marks: Array<Mark> = []
    if (words.length > 0 && words.length <= 4) {
      const closed = after === ":" || (after === "]" && before.includes("[")) ||
        (after === "" && before.includes("#")) ||
        (after === ">" && before.includes("<<")) ||
        ((after === "-" || after === "=" || after === "*" || after === "") && /[-=*]{3}/.test(before))
      const nouns = words.slice(1).every((word) => roleNouns.has(word) || systemRoles.has(word))
      if (closed && nouns && systemRoles.has(words[0]!)) marks.push({ name: "SYSROLE", end })
      else if (closed && turnRoles.has(words[0]!)) {
        if (words.length === 1) marks.push({ name: "TURN", end })
        else if (nouns && hasAny(words, set("system prompt instruction instructions override directive"))) {
          marks.push({ name: "SYSROLE", end })
        }
      } else if (
        closed && /^(new|updated|real|important|hidden|urgent|secret|revised|actual)$/.test(words[0]!) &&
        hasAny(words.slice(1), set("instruction instructions directive directives orders task system prompt"))
      ) {
        marks.push({ name: "NEWHEAD", end })
      }
      if (
        before.includes("#") && /^(instruction|response|input)$/.test(words[0]!) && words.length === 1 && after === ":"
      ) {
        marks.push({ name: words[0] === "instruction" ? "INSTRHEAD" : "RESPHEAD", end })
      }
    }
    const border = words[0]
    if (
      decorated ||
      /^(begin|end) (of )?(system|untrusted|tool|data|trusted|document|input|output|context|external|retrieved|result|search|user|quoted|webpage|web page)/
        .test(head)
    ) {
      if (words.length >= 2 && words.length <= 7 && hasAny(words.slice(1), borderWords)) {
        if (border === "begin" || border === "start") {
          if (hasAny(words, set("system instructions trusted prompt"))) marks.push({ name: "BEGINSYS", end })
        } else if (border === "end" || border === "close" || border === "finish") {
          marks.push({
            name: words.includes("untrusted") || words.includes("external") ? "ENDUNTRUSTED" : "ENDMARK",
            end
          })
        }
      }
    }
    return marks
  }

  /** Tells the marks at a character that is no letter, and gives where they end, or the same place where there is none. */
  at(from: number, tell: (name: string, end: number) => void): number {
    switch (this.#text.charCodeAt(from)) {
      case 0x3c:
        return this.#tag(from, tell)
      case 0x5b:
        return this.#bracket(from, tell)
      case 0x22:
        return this.#role(from, tell)
      default:
        return from
    }
  }

  #tag(from: number, tell: (name: string, end: number) => void): number {
    const text = this.#text
    const next = text.charCodeAt(from + 1)
    if (!isLetter(next) && next !== 0x2f && next !== 0x7c && next !== 0x3c) return from
    const near = text.slice(from, from + 64)
    const chat = /^<\|[a-z_0-9]{1,30}\|?>/.exec(near)
    if (chat !== null) {
      const end = from + chat[0].length
      tell("CHAT", end)
      return end
    }
    const llama = /^<<\/?sys>>/.exec(near)
    if (llama !== null) {
      tell("CHAT", from + llama[0].length)
      return from + llama[0].length
    }
    const tag = /^<(\/?)([a-z][a-z0-9_:-]{0,40})/.exec(near)
    if (tag === null) return from
    const name = tag[2]!.replace(/^[a-z]+:/, "").replaceAll("-", "_")
    const words = name.split("_")
    const end = from + tag[0].length
    if (tag[1] === "/") {
      if (!this.#opened.has(name)) {
        if (callTags.has(name) || resultTags.has(name) || hasAny(words, endTagWords)) tell("ENDTAG", end)
        else if (heavyTags.has(name)) tell("HEAVYTAG", end)
      }
      return end
    }
    this.#opened.add(name)
    if (turnTags.has(name)) tell("CHAT", end)
    else if (callTags.has(name)) tell("CALLTAG", end)
    else if (resultTags.has(name)) tell("RESULTTAG", end)
    else if (heavyTags.has(name) || (words.length > 1 && hasAny(words, heavyTags))) tell("HEAVYTAG", end)
    else if (name === "user" || name === "human" || userTags.has(name)) tell("TURNTAG", end)
    else return from
    return end
  }

  #bracket(from: number, tell: (name: string, end: number) => void): number {
    const chat = /^\[\/?(inst|system_prompt|available_tools|tool_calls|tool_results)\]/.exec(
      this.#text.slice(from, from + 20)
    )
    if (chat === null) return from
    tell("CHAT", from + chat[0].length)
    return from + chat[0].length
  }

  /** A message of an API with the role of its author. */
  #role(from: number, tell: (name: string, end: number) => void): number {
    if (!this.#text.startsWith("\"role\"", from)) return from
    const role = /^"role"[ \n\t]{0,8}:[ \n\t]{0,8}"(system|developer|assistant)"/.exec(
      this.#text.slice(from, from + 40)
    )
    if (role === null) return from
    tell(role[1] === "assistant" ? "TURNJSON" : "SYSJSON", from + role[0].length)
    return from + role[0].length
  }
}
