/**
 * The table of errors, by their tags: the decisions that follow from an error, its message, and its advice.
 *
 * The rows of a tag whose `when` holds are merged in order. In a text, `{field}` is a field of the error or a text of
 * `phrases`; `[a|b]` is the first alternative whose fields are all present, or nothing.
 */
import type { Row, Rows, Texts } from "./errorRow.ts"

/** Texts that several errors share; some depend on the outcome. */
export const phrases: Texts = {
  stop: "Do not retry: it would fail again.",
  once: "You may retry once; if it fails again, continue without it.",
  withoutServer: "{stop} Continue without this server, and tell the user if the task needs it.",
  checkEffect: {
    "not-sent": "The request was not sent. {once}",
    unknown:
      "The server may have executed the request. Check its effect before you repeat it; a read is safe to repeat.",
    executed: "The server has executed the request. Do not repeat it."
  },
  lookFirst: {
    "not-sent": "The request was not sent; try again.",
    unknown: "The server may have executed the request: check its effect before you repeat it.",
    executed: "The server has executed the request: check its effect before you repeat it."
  },
  leaveBroken: {
    "not-sent": "{withoutServer}",
    unknown: "{checkEffect} {withoutServer}",
    executed: "{checkEffect} {withoutServer}"
  },
  leaveBlocked: {
    "not-sent": "{withoutServer}",
    unknown: "{checkEffect} {withoutServer}",
    executed: "{withoutServer}"
  },
  after: "; try again [in {retryAfter}|later]",
  pause: "[Do not retry within {retryAfter}|You may retry later]; until then, continue with something else.",
  logIn: "Log in with `mcp-runtime auth login {server:shell}[ --scope {scope:shell}]`.",
  ofAuthor: "This is a bug in the server: report it to its author.",
  seeArguments: "See its arguments with `mcp-runtime show`.",
  notPermitted: "the {kind} \"{name}\" is not permitted",
  noWayAround: "Do not retry, and do not work around it.",
  how: "[{remedy}|allow it with the rule allow \"{allow}\"]"
}

/** What several errors begin with. Where a row says nothing, an error is not retryable and does not count for the breaker. */
export const kinds: Readonly<Record<string, Row>> = {
  /** The server or its process does not work, and the next attempt would fail in the same way. */
  broken: { countsForBreaker: true, model: "{leaveBroken}" },
  /** The same, before a request was sent. */
  unusable: { outcome: "not-sent", countsForBreaker: true, model: "{leaveBroken}" },
  /** No result came; the request can be sent again if it was not sent. */
  unanswered: { isRetryable: "if not sent", model: "{checkEffect}", person: "{lookFirst}" },
  /** The connection failed. */
  lost: {
    isRetryable: "if not sent",
    countsForBreaker: true,
    next: "retry",
    model: "{checkEffect}",
    person: "{lookFirst}"
  },
  /** Refused before it was sent, and for a reason that is no fault of the server. */
  refused: { outcome: "not-sent", exitCode: "permission", model: "{withoutServer}" },
  /** The server asks for a pause, or there is no capacity at the moment. */
  later: {
    outcome: "not-sent",
    isRetryable: true,
    detail: "{after}",
    model: "{pause}"
  },
  /** The server answered, so it is healthy. */
  answered: { outcome: "executed", exitCode: "tool", model: "{stop}" }
}

/** Any other status would be the same for the next request. */
const serverFault = { isRetryable: "if not sent", countsForBreaker: true, model: "{checkEffect}" } as const

export const rows: Rows = {
  SpawnFailed: [
    { kind: "unusable", fault: "could not start", detail: " \"{command}\" ({errno}): {detail}" },
    { when: { reason: "command" }, person: "Check the command and the working directory in its configuration." },
    {
      when: { reason: "command", errno: "ENOENT" },
      person: "Install it, or use its full path in the configuration."
    },
    {
      when: { reason: "command", errno: "EACCES" },
      person: "Make it executable, or correct its path in the configuration."
    },
    {
      when: { reason: "file" },
      person: "Check \"{command}\": the file, and the interpreter in its first line, must exist."
    },
    { when: { reason: "folder" }, person: "Create the folder \"{cwd}\", or correct \"cwd\" in its configuration." },
    {
      when: { reason: "docker-not-installed" },
      fault: "Docker could not be started",
      detail: " ({detail:512}); install Docker, or set `command` to its path"
    },
    {
      when: { reason: "docker-no-mcp-plugin" },
      fault: "Docker has no command `mcp`",
      detail: " ({detail:512}); install the MCP Toolkit of Docker Desktop, or the CLI plugin docker-mcp"
    },
    {
      when: { reason: "docker-daemon-down" },
      isRetryable: true,
      fault: "the Docker daemon does not answer",
      detail: " ({detail:512}); start Docker, or check the Docker context and DOCKER_HOST"
    },
    {
      when: { reason: "docker-timeout" },
      isRetryable: true,
      fault: "Docker did not answer in time",
      detail: " ({detail:512}); it may still be starting; if not, restart Docker"
    }
  ],
  ConnectTimeout: [
    {
      kind: "unusable",
      isRetryable: true,
      fault: "not connected within {limit}; still in the {phase} phase",
      model: "{checkEffect}",
      person: "Check that it is an MCP server, or wait longer with --timeout."
    },
    {
      when: { phase: "install" },
      person: "The launcher is still installing its package: run the command again, or wait longer with --timeout."
    }
  ],
  HandshakeFailed: [
    {
      kind: "unusable",
      fault: "the handshake was refused with {code}",
      person:
        "The message of the server says why. Often a variable, a license or an argument is missing in its configuration."
    },
    {
      when: { reason: "version" },
      fault: "it uses another version of the protocol",
      message: "the server supports protocol version \"{got}\"; this client supports {supported}",
      person: "Update the server."
    }
  ],
  ConnectionLost: [
    { kind: "lost", fault: "the connection was lost ({reason})" },
    { when: { reason: "moved" }, countsForBreaker: false },
    { when: { reason: "stream-interrupted" }, fault: "the stream ended before the answer" },
    {
      when: { reason: "exited" },
      fault: "the process ended ([{signal}|exit code {code}]) in the {phase} phase",
      detail: "",
      person: "Run its command in a terminal to see what is missing."
    },
    { when: { reason: "exited", phase: "ready" }, person: "{lookFirst}" }
  ],
  NetworkError: [
    {
      kind: "lost",
      fault: "network error {code}",
      person: "Check the host and port in its configuration, and that the server is running."
    },
    {
      when: { reason: "tls" },
      kind: "unusable",
      fault: "TLS failed ({code})",
      person:
        "Check that the port uses TLS, and check its certificate. NODE_EXTRA_CA_CERTS can name a file of trusted certificates."
    },
    {
      when: { reason: "proxy" },
      fault: "the proxy {proxy} failed ({code})",
      person: "Check HTTPS_PROXY and HTTP_PROXY; NO_PROXY or \"proxy\": \"direct\" connects without a proxy."
    },
    {
      when: { reason: "proxy", code: "403" },
      kind: "unusable",
      fault: "the proxy {proxy} failed ({code})",
      person: "The proxy does not permit this address: ask its administrator, or connect without it with NO_PROXY."
    },
    {
      when: { reason: "proxy", code: "407" },
      kind: "unusable",
      fault: "the proxy {proxy} failed ({code})",
      person: "Put the user and the password of the proxy into HTTPS_PROXY: http://user:password@host:port."
    }
  ],
  HttpError: [
    {
      fault: "HTTP status {status}",
      model: "Do not repeat the call unchanged.",
      person: "{lookFirst}",
      theirs: "detail"
    },
    { when: { outcome: "unknown" }, model: "{checkEffect}" },
    { when: { status: { from: 500 } }, ...serverFault },
    { when: { status: 408 }, ...serverFault },
    { when: { reason: "rate-limited" }, kind: "later", fault: "rate limited (429)" },
    {
      when: { reason: "unavailable" },
      kind: "later",
      countsForBreaker: true,
      fault: "unavailable (503)",
      detail: ": {detail}{after}"
    },
    // a request that the runtime held back says nothing new about the server
    { when: { reason: "unavailable", paused: true }, countsForBreaker: false },
    {
      when: { reason: "forbidden" },
      kind: "refused",
      next: "final",
      nextAfterLoss: "final",
      fault: "the server refused access (403)",
      detail: "[; it asks for the scope \"{scope}\"]",
      person: "Check the permissions of its credentials. {logIn}"
    },
    // a login helps only if the server names the missing scope
    { when: { reason: "forbidden", scope: true }, next: "login", nextAfterLoss: "login" },
    {
      when: { reason: "redirect" },
      kind: "unusable",
      fault: "a redirect was not followed",
      message: "a redirect to \"{to}\" was not followed ({redirect}); use that URL if it is the right server",
      person: "If that is the right server, use \"{to}\" in its configuration."
    },
    {
      when: { reason: "origin" },
      kind: "unusable",
      fault: "the server names an endpoint on another origin",
      detail: ", \"{to}\"",
      person: "If you trust that origin, correct the URL in its configuration."
    },
    {
      when: { reason: "content-type" },
      kind: "broken",
      fault: "unexpected content type",
      detail: " \"{got}\": {detail:256}",
      person: "Another service answers at this address. Check the address: it often ends in /mcp."
    }
  ],
  AuthorizationFailed: [
    {
      kind: "refused",
      next: "login",
      fault: "not authorized",
      detail: "[ ({code:64})]: {detail:512}",
      model: "The request was not executed. Do not retry until the user has logged in; tell the user.",
      person: "{logIn}"
    },
    {
      when: { reason: "unauthorized" },
      fault: "the server asks for credentials (401)",
      detail: "[: {challenge:256}]",
      person: "{logIn} If its configuration has credentials, correct them."
    },
    {
      when: { reason: "metadata" },
      person: "Report it to the operator of the server, or add the missing settings to `oauth` in its configuration."
    },
    {
      when: { reason: "registration" },
      person: "Register this client with the authorization server, and set `oauth.clientId` in its configuration."
    },
    {
      when: { reason: "blocked" },
      person: "The server names a private or unencrypted address: report it to its operator."
    },
    {
      when: { reason: "store" },
      person: "Check the keyring, or the permissions of the state folder."
    },
    {
      when: { reason: "unreachable" },
      isRetryable: true,
      next: "retry",
      exitCode: "connection",
      model: "The authorization server does not answer, and the request was not executed. {once}",
      person: "The authorization server did not respond: try again later."
    }
  ],
  SessionExpired: [{ kind: "unanswered", fault: "the session has expired" }],
  ProtocolViolation: [
    {
      kind: "broken",
      fault: "protocol violation in the {phase} phase",
      detail: ": {what}[: {excerpt}]",
      person: "{ofAuthor}"
    },
    {
      when: { reason: "pagination" },
      kind: "answered",
      fault: "{operation} was stopped after {pages} pages ({exceeds}, limit {limit})",
      person: "{ofAuthor}"
    },
    {
      when: { reason: "input-rounds" },
      kind: "answered",
      outcome: "unknown",
      fault: "{operation} asked for input {rounds} times without finishing",
      model:
        "The tool may have run in part. Put the input into the arguments, or continue without it; do not repeat the call "
        + "unchanged.",
      person: "Pass the requested input as arguments."
    },
    {
      when: { reason: "tool-result" },
      kind: "answered",
      fault: "the tool ran, but its result does not match its output schema",
      message: "the result of \"{tool}\" is invalid at \"{path}\": {what}",
      model: "Do not repeat the call unless it only reads; check its effect with another tool.",
      person: "The tool was executed. Use --json to see its unchanged result."
    }
  ],
  MessageTooLarge: [
    {
      outcome: "unknown",
      fault: "a message {direction} is larger than {limit} bytes (maxMessageBytes)",
      model: "The server may have executed the request. Request less: use a filter, a smaller range, or one page.",
      person: "Request less data."
    },
    { when: { connecting: true }, outcome: "not-sent" },
    {
      when: { direction: "sent" },
      outcome: "not-sent",
      exitCode: "usage",
      model: "The request was not sent. Call again with smaller arguments.",
      person: "Send smaller arguments."
    }
  ],
  CapabilityMissing: [{
    kind: "refused",
    exitCode: "tool",
    fault: "{operation} needs the capability \"{capability}\", which the server did not declare",
    model: "{stop}"
  }],
  Closed: [
    {
      fault: "{operation} failed: the connection is closed[, because the server was blocked ({blocked})]",
      model: "{checkEffect}",
      person: "{lookFirst}"
    },
    { when: { blocked: true }, exitCode: "permission", model: "{leaveBlocked}" }
  ],
  Overloaded: [{
    kind: "later",
    fault: "overloaded: {queued} in the {queue} queue (limit {limit})",
    detail: "",
    model: "The request was not sent. Wait until other calls have finished, make fewer calls at once, and retry.",
    person: "The request was not sent; try again with fewer calls at once."
  }],
  RemoteError: [
    {
      kind: "answered",
      fault: "the server answered with error {code}",
      model: "Follow its answer if that is part of your task; do not repeat the call unchanged.",
      theirs: "detail"
    },
    {
      when: { code: -32602 },
      model: "Correct the arguments by the message of the server and the schema of the tool, and call again.",
      person: "{seeArguments}"
    },
    { when: { code: -32601 }, model: "The server does not know the method. {stop}" },
    { when: { code: -32002 }, model: "The resource does not exist. List the resources before you try another name." }
  ],
  ToolError: [{ kind: "answered", fault: "the tool \"{tool}\" failed" }],
  RequestTimeout: [
    {
      kind: "unanswered",
      countsForBreaker: true,
      fault: "{operation} got no answer within the {kind} limit of {limit}",
      detail: "[; the last attempt to connect failed: {lastError}]",
      person: "{lookFirst} Wait longer with --timeout."
    },
    {
      when: { waitedFor: "permit" },
      countsForBreaker: false,
      fault: "{operation} was not sent, because other calls used all permits within the {kind} limit of {limit}"
    },
    {
      when: { waitedFor: "connection" },
      countsForBreaker: false,
      fault: "{operation} was not sent, because there was no connection within the {kind} limit of {limit}"
    }
  ],
  Cancelled: [{ kind: "unanswered", isRetryable: false, exitCode: "tool", fault: "{operation} was cancelled" }],
  CircuitOpen: [
    { kind: "later", fault: "the circuit breaker is open" },
    {
      when: { isolated: true },
      isRetryable: false,
      fault: "the circuit breaker is isolated",
      detail: "; reset it to use the server",
      model: "{withoutServer}"
    }
  ],
  RequiredServersFailed: [{
    kind: "later",
    fault: "{failures:count} required servers did not start",
    detail: ": {failures:failures}"
  }],
  ServerUnavailable: [
    { kind: "refused", fault: "unavailable ({why})" },
    {
      when: { why: "disabled" },
      exitCode: "configuration",
      detail: ": [{detail}|it is disabled; enable it first][; try again in {retryAfter}]",
      person: "Enable it in its configuration file; `mcp-runtime list` names the file."
    },
    {
      when: { why: "disconnected" },
      exitCode: "connection",
      detail: ": [{detail}|it was disconnected; connect it first][; try again in {retryAfter}]",
      person: "Connect it again."
    },
    {
      when: { why: "denied" },
      detail:
        ": [{detail}|a policy denies it, or allows only other servers; an approval cannot change that][; try again in "
        + "{retryAfter}]",
      person: "Ask the author of the policy."
    },
    {
      when: { why: "untrusted" },
      detail: ": [{detail}|its current configuration is not approved; approve it first][; try again in {retryAfter}]",
      person: "Review and approve it with `mcp-runtime approve {server:shell}`."
    },
    {
      when: { why: "storm" },
      kind: "later",
      fault: "unavailable ({why})",
      detail: ": [{detail}|it reconnects too often][; try again in {retryAfter}]",
      person: "See its output with --verbose."
    },
    {
      when: { why: "connecting" },
      kind: "later",
      fault: "still connecting",
      detail: "[; {detail}]",
      person: "Wait longer with --timeout, or find the cause with `mcp-runtime doctor {server:shell}`."
    }
  ],
  NotFound: [
    {
      kind: "refused",
      exitCode: "usage",
      fault: "there is no {kind} \"{name}\"",
      detail: "[; did you mean {suggestions:or}?]",
      model:
        "[Did you mean {suggestions:or}? Use the exact name.|Use a name from the lists exactly as written there; do "
        + "not guess.]"
    },
    { when: { kind: "server", suggestions: false }, person: "List them with `mcp-runtime list`." },
    { when: { kind: "tool", suggestions: false }, person: "List them with `mcp-runtime tools`." }
  ],
  InvalidArguments: [{
    kind: "refused",
    exitCode: "usage",
    fault: "{operation} was not sent: {detail} at \"{path}\"",
    detail: "",
    model: "The request was not sent. Correct the arguments by the schema of the tool, and call again.",
    person: "{seeArguments}"
  }],
  PermissionDenied: [
    { kind: "refused", fault: "{notPermitted}" },
    {
      when: { why: "policy" },
      fault: "not connected: a policy allows only other servers; ask the author of the policy"
    },
    {
      when: { why: "policy", decision: "denied" },
      fault: "not connected: a policy denies it; ask the author of the policy"
    },
    {
      when: { why: "quarantined" },
      detail: ": its definition changed ({changed:and}); approve it again to call it",
      model: "It has changed since the user approved it. {noWayAround} Tell the user to review the change.",
      person: "Review it with `mcp-runtime show`, and approve it with `mcp-runtime approve`."
    },
    {
      when: { why: "quarantined", unpinned: true },
      model: "The user must approve its definition first. {noWayAround} Tell the user to review it."
    },
    {
      when: { why: "quarantined", unpinned: "unreadable" },
      detail: ": the stored pins of its server cannot be read; approve it again to call it"
    },
    {
      when: { why: "quarantined", unpinned: "crowded" },
      detail: ": its server has more tools than are pinned; approve it to call it"
    },
    {
      when: { why: "rule" },
      detail: ": [the rule \"{rule}\"|a rule] denies it",
      model: "A rule of the user denies it. {noWayAround} Tell the user if the task needs it.",
      person: "If the rule is yours, change it under `permissions` in the configuration."
    },
    {
      when: { why: "unanswered" },
      detail:
        ": [the rule \"{rule}\" asks for approval|no rule allows it], and no person [can be asked; {how}|answered]",
      model:
        "It needs approval, and the user cannot be asked now. {noWayAround} If the task needs it, tell the user[, and "
        + "how to allow it: {remedy}|, and how to allow it: the rule allow \"{allow}\" permits it].",
      person: "Run it in a terminal to be asked, or allow it with a rule under `permissions` in the configuration."
    },
    {
      when: { why: "refused" },
      detail: ": it was not approved",
      model: "The user was asked and refused. {noWayAround} Continue without it, or ask the user what to do."
    },
    {
      when: { why: "changed" },
      detail: ": it has changed since it was approved",
      model:
        "It has changed since it was approved. You may try once more for a new approval; otherwise go on without it.",
      person: "Review it with `mcp-runtime show`, and call it again."
    },
    {
      when: { why: "crowded" },
      detail: ": too many calls wait for approval",
      model: "Too many calls wait for approval. Wait until they have been answered, then retry.",
      person: "Wait until other calls have been approved or refused, then try again."
    },
    {
      when: { why: "too-long" },
      // names the `ask` rule to replace, because an `ask` overrides an `allow`
      detail: ": it needs approval, but its name and arguments have [{length}|too many] characters, and at most "
        + "[{limit}|fewer] can be shown; shorten the arguments, or [{remedy}|allow it with the rule allow \"{allow}\" "
        + "in place of \"{rule}\", which asks for approval|allow it with the rule allow \"{allow}\"|allow it with a rule in "
        + "place of \"{rule}\", which asks for approval|allow it with a rule]",
      model: "It needs the approval of the user, and its arguments are too long to be shown. Try again with shorter "
        + "arguments, or in several calls; otherwise tell the user that a rule has to allow it."
    }
  ],
  ConfigurationError: [
    {
      kind: "refused",
      nextAfterLoss: "final",
      exitCode: "configuration",
      fault: "invalid configuration",
      message: "invalid configuration at \"{path}\": {detail:9999}",
      person: "Correct the file; `mcp-runtime config` shows the file, the line and the error."
    },
    {
      when: { variable: true },
      message: "{detail:9999}; the configuration uses it in \"{path}\"",
      person: ""
    },
    { when: { "variable.why": "input-required" }, person: "Answer it with --input {variable.name:input}=VALUE." }
  ],
  TrustNotKept: [{
    kind: "refused",
    exitCode: "configuration",
    fault: "the decision could not be stored",
    detail: ": {detail}; check the permissions of the state folder ($XDG_STATE_HOME or ~/.local/state)"
  }],
  RegistryError: [{
    kind: "refused",
    exitCode: "configuration",
    fault: "no usable entry in the registry",
    detail: " \"{address}\": {detail}"
  }]
}
