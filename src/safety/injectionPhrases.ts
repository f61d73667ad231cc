/**
 * The data of `InjectionScan`. Commas separate the expressions of a list; `*` takes any ending, a plural is found by its
 * singular, and case, accents, look-alikes, `_` and `-` make no difference.
 */
import type { Channel, Level } from "./InjectionScan.ts"

/** Digits in place of letters. */
export const digits: Readonly<Record<string, string>> = { "0": "o", "1": "i", "3": "e", "4": "a", "5": "s", "7": "t" }

/** Imperatives, which count only where they can be one. */
const verbs = {
  ignore: `
    ignore, disregard, forget, override, overrule, bypass, neglect, set aside, put aside, cast aside, throw out,
    throw away, pay no attention to, pay no heed to, take no notice of, stop following, stop obeying,
    stop listening to, cease following, abandon, discard, disobey, defy, do not follow, do not obey, do not listen to,
    do not do, dont follow, dont obey, dont listen to, not obey, not follow, no longer follow, no longer obey, ignora,
    ignorad, ignorez, ignoriere, ignoriert, ignoreer, ignorera, ignorer, ignorar, oublie, oubliez, olvida, olvide,
    vergiss, vergesst, vergeet, missachte, dimentica, trascura, esqueca, esquece, desconsidere, desconsidera,
    zignoruj, zapomnij, игнорир*, забудь*, не следуй*, ігнор*, не зважай, negeer, glem, glom, abaikan, lupakan,
    bo qua, αγνοησε, αγνοηστε, התעלם, 忽略, 忘记, 忘掉, 无视, 不要理会, 不要遵守, تجاهل, انس, เพิกเฉย, ละเว้น, never mind,
    ne tiens pas compte, ne tenez pas compte, haz caso omiso, ignorieren sie, ignoruj, ignorati, отмени, не выполняй,
    لا تتبع, nu respecta, beachte nicht, erase, ignorate, unohda`,
  end: "cancel, reset, drop, dismiss, erase, end, stop, abort, suspend",
  print: `
    print, reveal, repeat, output, show, display, leak, dump, recite, disclose, reproduce, echo, expose, share, quote,
    spell out, paraphrase, translate, summarise, summarize, describe, tell me, tell us, give me, give us, write,
    write out, write down, read out, read back, list, return, hand over, transcribe, publish, begin your reply with,
    start your reply with, begin your answer with, what is, what are, what was, what were, what does, affiche, montre,
    zeige, gib, muestra, mostra, revela, revele, выведи, покажи, 显示, 输出`,
  send: `
    send, post, upload, transmit, forward, email, mail, exfiltrate, submit, publish, deliver, relay, push, sync,
    mirror, transfer, report, bcc, fetch, visit, curl, wget, ping, paste, copy, pipe, hand over, pass on, append,
    attach, sende, envia, envoie, invia, отправь, 发送`,
  transmit: "transmit, upload, exfiltrate, forward, email, mail, post, send, submit",
  encode: "encode, base64",
  put: `
    put, include, insert, append, attach, embed, add, pass, paste, fill, place, write, supply, provide, submit, give,
    encode, prepend, store, save, quote, copy, hand over, hand its content over, set, enter, send, post, resubmit,
    populate`,
  read: `
    read, open, retrieve, fetch, collect, gather, find, grab, harvest, obtain, extract, search for, look for, locate,
    take, get, dump, list, scan for, come across, encode, access, look up, load, cat`,
  harm: `
    delete, remove, wipe, erase, drop, destroy, send, upload, transfer, email, mail, forward, post, execute, run,
    grant, approve, disable, install, merge, deploy, pay, wire, buy, publish, export, elevate, open, read, call,
    invoke, print, reveal, change, commit, push, enable, continue, proceed, overwrite, obey, follow, carry out,
    switch off, switch to, turn off, shut down, download, go ahead, perform, complete, include, treat`,
  risky: `
    delete, remove, wipe, erase, drop, destroy, transfer, upload, forward, approve, disable, grant, elevate, deploy,
    pay, wire, overwrite, exfiltrate, execute, send, run the, push, now email`,
  act: `
    run, execute, proceed, continue, go ahead, go on, carry on, delete, remove, send, call, use, install, merge,
    deploy, transfer, push, commit, approve, perform, pay, modify, change, upload, publish, edit, export, complete,
    move, apply, carry this out, do this, do it`,
  deed: `
    delete, remove, change, send, transfer, upload, install, forward, carry this out, carry it out, do this, do it,
    perform this, add`,
  tell: `
    tell, inform, notify, mention, alert, let the user know, let the human know, let them know, let anyone know, warn,
    disclose, reveal, bring up, discuss, make reference, talk about, admit, telling, informing, notifying, mentioning,
    alerting`,
  grant: "grant, elevate, approve, authorise, authorize, give full access",
  letKnow: `
    let the user know, let the human know, let them know, let anyone know, let the user see, let the user find out,
    let on, let the operator know`,
  hide: "hide, conceal, keep, withhold, omit, leave out, remain, stay, leave",
  ask: "ask, prompt, request, wait for, seek, bother, check with, consult",
  skip: "skip, bypass, disable, suppress, turn off, switch off, omit, dismiss",
  enable: "enable, turn on, switch on, activate, add",
  choose: "choose, select, click, press, pick, answer, confirm with, hit",
  change: `
    add, append, write, insert, put, paste, save, install, register, create, edit, modify, change, update, place,
    copy, set, point, include, loosen, extend, replace, store, schedule, drop`,
  remember: `
    remember, memorise, memorize, store, save, keep, retain, persist, record, note, write, put, commit to memory, add,
    learn, take note, update`,
  enter: `
    enter, type, retype, re type, re enter, provide, paste, input, supply, confirm, submit, give, tell, reply with,
    fill in, share, verify, send, upload, write, key in, specify, need, disclose, copy, what is your,
    confirm your identity with, answer`,
  treat: "treat, consider, regard, view, count, take",
  prefer: "prefer, always use, always call, always prefer, use, must be used, route, call, choose, invoke, rely on",
  retry: `
    retry, try again, call this tool again, call the tool again, call again, call it again, resend, resubmit,
    run it again, repeat the call, to fix this, to proceed, to recover, to repair, to continue, to restore it`
}

const words = {
  not: `
    not, dont, never, do not, must not, should not, shouldnt, mustnt, cannot, cant, wont, will not, no need to,
    need not, do not need to, avoid, without, refrain from, under no circumstances, nor, neither, make no, no longer,
    doesnt, didnt`,
  dont: `
    do not, dont, never, must not, should not, shouldnt, mustnt, no need to, need not, do not need to, do not have to,
    avoid, refrain from, under no circumstances, make no, not to, nor, neither`,
  narrates: `
    to, can, could, may, might, would, will, they, he, she, it, we, i, who, which, that, users, user, people, tools,
    clients, administrators, admins, options, rules, settings, flags, decided, used, how, whether, lets, helps, does,
    did`,
  must: `
    must, shall, have to, has to, needs to, need to, required to, requires you to, want you to, wants you to,
    be sure to, make sure to, sure to, remember to, asked to, told to, instructed to, should, please, now, and, then,
    always, kindly, order you to, obliged to, authorised to, authorized to, permission to, allowed to, free to,
    will now, you will, you are to, ought to`,
  command: `
    you must, you should, you shall, you have to, you will, you are to, must now, must first, assistant must,
    must call, agents must, proceed`,
  mustHold: `
    must contain, must include, must hold, has to hold, has to contain, has to include, should contain, has to quote,
    must quote, must pass, must send`,
  requires: "requires, require, needs, expects, must read, required",
  prior: `
    previous, previously, prior, preceding, earlier, above, foregoing, former, existing, original, initial, past,
    so far, until now, up to now, before, before this, given to you, you were given, you had, you received,
    you have received, you have been given, you were told, you started with, came before, came earlier, at the start,
    précédent*, anterior*, antérieur*, preceden*, vorherig*, bisherig*, obig*, vorige*, eerdere, tidigare, forrige,
    tidligere, wczesniejsz*, poprzedni*, предыдущ*, прежн*, попередн*, önceki, yukarıdaki, sebelumnya, truoc,
    προηγουμεν*, הקודמות, 之前, 以前, 先前, 前面, 上面, 上述, これまで, 上記, 前の, 이전, 앞, 위의, 지금까지, السابق*, أعلاه, पिछल*, पहले, قبلی,
    ก่อนหน้า, acima, arriba, ci dessus, sopra, předchozí, di atas, plus haut, выше, anterioare, ऊपर, قبل, föregående,
    lo anterior, до этого, aiemmat, finora, précède`,
  youHad: `
    given to you, you were given, you had, you received, you have received, you started with, you have been given,
    your, above`,
  your: `
    your, yours, you have, you were given, you got, youve been given, you follow, you are following, tes, vos, tus,
    deine, ihre, i tuoi, твои, 你的, あなたの`,
  ownerOf: "developer's, operator's, creator's, user's, system's, anthropic's, openai's, company's",
  all: `
    all, any, every, each, whatever, toutes, tous, alle, todas, todo, tutte, tutto, все, 所有, 全部, すべて, 모든, جميع, सभी,
    tüm, כל, sämtliche, bütün, všechny, toate, semua, wszystkie, alla`,
  everything: "everything, anything, all messages, all text, all of the above, whatever",
  guide: `
    instruction*, directive, direction, prompt, guideline, guidance, rule, policy, constraint, restriction, order,
    command, programming, briefing, safeguard, guardrail, system message, system prompt, training, obligation,
    limitation, persona, goal, objective, mission, consigne*, anweisung*, vorgabe*, regel*, richtlini*, instruccion*,
    instrucoes, istruzion*, regol*, regra*, regla*, règle*, instructie*, instruktion*, instruks*, instrukcj*,
    polecen*, инструкци*, указани*, правил*, інструкці*, talimat*, instruksi, perintah, huong dan, chi dan, οδηγ*,
    ההוראות, 指令, 指示, 命令, 规则, 提示, ルール, 지시, 명령, 지침, 규칙, التعليمات, الأوامر, निर्देश*, आदेश*, دستورالعمل*, دستورات,
    คำสั่ง, pokyn*, arahan, indicacion*, indicazion*, komut*, नियम*, instructiun*, directriz*, ordre*, befehl*, ohje*`,
  shun: "無視, 忘れ, 무시, 잊, yok say*, unut*, görmezden gel*, अनदेखा, भूल, नज़रअंदाज़, نادیده, فراموش",
  told: `
    you were told, you have been told, youve been told, you were taught, you were asked, you have learned,
    you learned, you have read, you were instructed, i said before, came before, above, before this, up to this point,
    told you, you were given, you had`,
  youTold: `
    you were told, you have been told, youve been told, you were asked, you were instructed, you learned,
    you were taught`,
  task: `
    current task, task above, ongoing task, original task, current conversation, user's request, request of the user,
    user's wishes, your context, your memory, your task, your role, your current`,
  theUser: "the user, user asked",
  void: `
    void, obsolete, deprecated, superseded, cancelled, canceled, revoked, invalid, outdated, rescinded, withdrawn,
    overridden, replaced, suspended, lifted, terminated, expired, out of date, no longer apply, no longer applies,
    no longer valid, no longer binding, no longer count, do not apply, dont apply, does not apply, have changed,
    has changed, a mistake, gone, repealed, have ended`,
  freed: `
    no longer have to, no longer need to, no longer bound, not bound by, released from, free from, freed from,
    need not follow, do not have to`,
  noise: "noise, irrelevant, blank, nonsense, a test, a joke, a mistake, empty, fiction, unimportant",
  newTask: `
    new task, real task, actual task, only task, only goal, new instruction*, real instructions, actual instructions,
    new objective, new goal, new mission, replacement task, new directive, new orders, next task, next assignment,
    new assignment, replacement instructions, updated instructions, sole task`,
  starts: `
    starts now, start now, begins now, begins here, follows, follow, is to, are as follows, is as follows, from your,
    from the administrator, from the user`,
  become: `
    you are now, you will now act as, you now act as, now act as, act as, pretend to be, behave as, you are,
    you become, roleplay as, switch to, enter, assume the role of`,
  unbound: `
    maintenance mode, developer mode, debug mode, god mode, admin mode, root mode, unrestricted, do anything now,
    without restrictions, no restrictions, without limits, no limits, unfiltered, uncensored, jailbroken,
    without rules, root access, unattended operation`,
  safety: `
    safety check*, permission check*, safeguard*, safety polic*, safety filter*, approvals, confirmations, guardrail*,
    filters, restrictions, all checks, access control`,
  suspended: `
    suspended, disabled, are off, is off, switched off, turned off, lifted, waived, bypassed, void,
    switched off today, been granted, have been granted`,
  template: "<|, <start of turn, <end of turn, <<sys, <</sys, [inst], [/inst], begin system prompt",
  loudTag: `
    <important, <critical, <system, <admin, <secret, <instruction, <instructions, <hidden, <attention, <priority,
    <override, <developer, <operator, <mandatory`,
  roleTag: "<user, <human, <assistant",
  callTag: "<function calls, <function call, <tool call, <invoke, <antml",
  callPart: "name, arguments, parameter, invoke, command, cmd",
  closing: `
    </tool result, </tool results, </tool output, </tool response, </tool call, </mcp tool result, </mcp tool output,
    </function results, </function result, </result, </results, </output, </data, </document, </documents, </context,
    </untrusted, </untrusted data, </untrusted content, </external content, </search results, </response, </content,
    </input`,
  dataPart: `
    tool result, tool output, tool response, tool results, function results, output, data, data section, document,
    file, context, content, external content, untrusted data, untrusted content, untrusted, server response, response,
    external data, search results, quoted text, quoted page, web page, page, email, input`,
  dataSection: `
    data section, untrusted section, untrusted data, tool output, tool result, quoted text, quoted page,
    external content`,
  endOf: "end of, end, end of the, end of external, end of server",
  isOver: "is over, ends here, has ended, is finished, is complete, is closed, closed, stops here, are over",
  aside: `
    new instructions, trusted instructions, instructions follow, follow these, obey these, execute the,
    run the following, next user message, from the user, now follow, now obey, new task, is trusted,
    back to the system, must obey`,
  jsonRole: "role:system, role:developer, role:assistant",
  secretFile: `
    .ssh, id_rsa, id_ed25519, id_ecdsa, .env, .netrc, .npmrc, .pypirc, .aws, .kube, .gnupg, .pgpass, .git credentials,
    etc/passwd, etc/shadow, mcp.json, wallet.dat, private key file, secrets file, keychain, .docker/config,
    .bash history, .config/gh, .config/gcloud`,
  secret: `
    password, passphrase, api key, apikey, access key, secret key, private key, ssh key, credential, access token,
    auth token, bearer token, session cookie, cookies, environment variable, environment values, seed phrase,
    client secret, the keys, any token, whatever tokens, clave api, cle api, zugangsdaten, env vars, signing key`,
  taken: `
    the conversation, this conversation, whole conversation, entire conversation, complete conversation,
    full conversation, conversation so far, conversation history, chat history, message history, last message,
    previous messages, earlier messages, system message, system prompt, user's prompt, private notes, user's private,
    private messages, internal documents, customer list, customer records, private repositories, the inbox,
    all messages, all emails, all chats, address book, own instructions, user's files, whole context, full context,
    what the user told you, user's question, chat transcript, session history, whole chat, this chat, of this mailbox,
    files the user has open, messages of this chat, everything the user, user has typed, user typed`,
  inQuery: `
    conversation*, last message, chat history, message history, chat log, system prompt, context window, user message,
    all messages`,
  loot: "secrets, token",
  ofPrompt: `
    system prompt, system message, system instructions, hidden prompt, hidden instructions, initial prompt,
    initial instructions, original instructions, developer message, secret instructions, internal instructions,
    its instructions, own instructions, your instructions, your prompt, your rules, your guidelines,
    configuration prompt, text above, everything above, words above, above text, rules you were given,
    prompt you were given, instructions you were given, instructions that govern you, guidelines you follow,
    first message in this conversation, prompt système, systemprompt, prompt do sistema, 系统提示, システムプロンプト, 시스템 프롬프트,
    hidden rules, rules you operate, text you were initialised, orders you were given, your configuration prompt,
    configuration you run with`,
  destination: `
    http://, https://, @, webhook, address below, account below, third party, external address, query string`,
  publicPlace: `
    public issue, public gist, gist, public repository, as a comment, comment, issue, pull request, branch name,
    commit message, pastebin, public bucket, title of`,
  query: "?=",
  hole: "{{, ${, $(, <",
  curl: "curl, wget, nc, | sh, | bash",
  field: "field, parameter, argument, param, metadata, notes, sidenote, hint, comment, this field, debug, verbatim",
  otherwise: "otherwise, or the tool, or formatting, will not work, fails",
  theirs: "user's, customer's, human's",
  nextCall: `
    next call, next request, next attempt, next try, call again, in the key, in the debug, and retry, then retry,
    and try again, on retry`,
  user: "user, human, operator, person, customer, owner, anyone, anybody, them, him",
  thisDeed: "this, that you, these, the tool call, this step, you did, what you did, steps",
  hush: `
    keep quiet about, say nothing about, say nothing of, not a word about, without telling the user,
    without informing the user, without notifying the user, without the user noticing, as if nothing happened,
    keep this secret, do not show the output, user remains unaware, as though nothing, as if nothing,
    as though this message`,
  unseen: `
    silently, quietly, secretly, covertly, discreetly, in secret, without a trace, behind the scenes, unnoticed`,
  fromUser: `
    from the user, from the human, from the person, from user, secret from, hidden from, between you and me,
    between us, unaware, out of your answer, out of the answer, when you describe, out of your, out of the summary,
    out of your summary, from your summary, from your answer, from your reply`,
  shouldNot: `
    must not, should not, should never, must never, need not, does not need, has no need, no need, should stay,
    shall not, shouldnt, not supposed`,
  learn: "know, learn, notice, find out, be told, be aware, be informed, hear, unaware, realise, realize",
  approved: `
    already approved, already agreed, already confirmed, already authorised, already authorized, already given,
    already granted, already consented, pre approved, preapproved, approved in advance, authorised in advance,
    authorized in advance, signed off on, has given permission, has granted permission, has given consent,
    was already given, gave permission, agreed to the, they agreed, has consented, have consented, user agreed,
    has clearance, have clearance, has signed off`,
  requested: "tool call, request, action, command, deletion, transfer, purchase, approval, further action",
  inAdvance: `
    pre approved, preapproved, approved in advance, authorised in advance, authorized in advance, all approved`,
  obtained: `
    was obtained, was given, has been given, was granted, has been granted, obtained earlier, was already given,
    has been recorded, has been obtained, is on file`,
  approval: "confirmation, permission, approval, consent, authorisation, authorization, confirm, dialog, again",
  unasked: `
    without asking, without confirmation, without approval, without permission, without prompting, without consent,
    without confirming, without checking`,
  lacking: "without",
  noConfirmation: `
    no confirmation, no approval, no permission, no consent, no review, exempt from review, exempt from approval`,
  you: "you, you may, you can, you are, you have, youre, assistant, agent, model, whoever, ai",
  autoApprove: `
    autoapprove, auto approve, always allow, alwaysallow, dangerously skip permissions, yolo mode, unattended mode,
    auto accept, autoaccept`,
  isTrue: "true, on, all, everything, yes",
  alwaysAllow: "always allow, allow always, allow for this session, approve all, yes to all, yes to every, allow all",
  thisTool: "this tool, this function, this server, this one, of this server",
  asTrusted: "as trusted, to trusted, as safe, full access",
  mark: "mark, treat, elevate, register, set, consider",
  instead: "instead of, over, rather than, in place of, replaces, supersedes, in favour of",
  otherTool: `
    all other, any other, other tools, every other, other tool, other server, built in, builtin, official, native,
    another tool, every alternative, all alternatives, any alternative, alternatives, server's`,
  other: "other, another, official, any other",
  tool: "tool, server, function",
  rival: `
    server version, github server, filesystem server, email server, other server, other mail tool, other email tool,
    server's`,
  mustPass: `
    must be passed, must go, has to go, have to go, should be passed, must also, also be sent, goes through,
    lose data, stale data, insecure, untrusted, compromised, broken, unreliable`,
  blindCopy: "bcc, blind copy, blind carbon copy",
  startupFile: `
    .bashrc, .zshrc, .profile, .bash profile, .zprofile, crontab, authorized_keys, .git/hooks, git hook, sudoers,
    .gitconfig, systemd, launchagents, .envrc, shell profile, etc/hosts`,
  keyFile: "authorized_keys, sudoers",
  agentFile: `
    .mcp, mcp.json, mcp config*, mcp settings, claude.md, agents.md, gemini.md, .cursorrules, .cursor, .claude,
    .vscode, .npmrc, settings.json, settings.local.json, tasks.json, claude desktop config, copilot instructions,
    workspace settings, project instructions, custom instructions, allow list, allowlist, trusted servers,
    permission rules, .windsurfrules`,
  harmful: `
    before continuing, and restart, then restart, so that, before you continue, attacker, evil, curl, | sh,
    allow everything, obeyed, next time, skip reviews, may be skipped, every session, later sessions, server below,
    following server`,
  forever: `
    future conversations, future sessions, all future, every session, every conversation, later sessions,
    later conversations, next session, future chats, long term memory, for good, later session, across sessions,
    all conversations, remember forever, this forever, save to memory that`,
  guard: "sandbox, tls verification, certificate check*, firewall, antivirus, safety check*, tls reject unauthorized",
  asked: `
    password, passphrase, passcode, credential, credit card, card number, cvv, cvc, pin, pin code, ssn,
    social security, one time code, one time password, verification code, security code, 2fa code, access token,
    api key, api token, github token, auth token, bearer token, secret key, secret access key, private key,
    seed phrase, recovery phrase, recovery code, backup code, bank account, iban, login details, session cookie,
    client secret, maiden name, security question, token, mnemonic, personal access token, online banking, sort code,
    bank login, wallet words, recovery words`,
  authority: `
    as the system administrator, as the administrator, as your developer, as the developer, your developer,
    your developers, your creators, your creator, your operator, security team, it department, compliance,
    company policy, legal department, administrator broadcast, as the owner of this system, as the owner,
    as an administrator, as administrator, anthropic support, openai support, anthropic policy, openai policy`,
  iAm: `
    i am the ceo, i am your developer, i am your administrator, im your administrator, im the lead developer,
    this is your administrator, this is the security team, i am the owner, im the ceo`,
  demands: `
    order you, orders you, require you, requires you, requires every, require every, authorise you, authorize you,
    demands that you, demand that you, obliged to, instruct you, disable your, you must, wire the, all agents,
    command you, reveal, print all, has to reset, ordered that you`,
  orders: "i order, i authorise, i authorize, i command you, i instruct, the assistant has to",
  trigger: `
    if the user asks, if the user mentions, if the user says, when the user asks, when the user mentions,
    whenever the user, as soon as the user, once the user, on the third, on the second, on every second, every third,
    every fifth, every tenth, after the third, after the fifth, after the first call, after 1, if the date,
    when the date, if the current, when the current, when the repository, should the word, when the word, if the word,
    if a tool named, when asked about, if asked about, once trusted`,
  covert: `
    silently, quietly, secretly, bank account, iban, secrets file, attacker, evil, request as approved,
    without asking, change the bank, the conversation, copy to, card number, delete the logs, curl, address below,
    mirror, backup host, the workspace, stop following, access token`,
  mention: `
    prompt injection*, injection, injection attack*, jailbreak, jailbreaking, owasp, cve, attack, exploit, payload,
    vulnerability, vulnerabilities, poisoning, phishing, attackers*, red team*, malicious, advisory,
    told the assistant, told the agent, told the model, researchers, chat template*, chatml, tokenizer*,
    special token*, prompt format*, delimiter*`,
  toModel: `
    if you are an ai, if you are a language model, if you are an llm, note to the model, note to the ai,
    note to the language model, note to ai, ai agent reading, ai reading this, attention ai, message to the ai,
    note to the assistant, assistants reading this`
}

/** These count only at the beginning of a line, before a colon or in brackets. */
const heads = {
  systemHead: `
    system, developer, admin, administrator, operator, system message, system prompt, begin system prompt,
    system notice, system override, admin override, developer message, system policy, system note,
    administrator broadcast`,
  instructionHead: "instruction, instructions, task",
  turnHead: "user, human, assistant",
  newHead: `
    new task, new instruction, new instructions, new directive, new orders, next task, real task, override,
    hidden instruction, hidden instructions, next user message`
}

export const classes: Readonly<Record<"verbs" | "words" | "heads", Readonly<Record<string, string>>>> = {
  verbs,
  words,
  heads
}

/** Classes that follow each other in one sentence, `|` between those that may stand for another. */
export interface Phrase {
  readonly words: string
  /** Other words allowed between two of them. Default: 3. */
  readonly gap?: number
  /** Ends of sentences are allowed, too. */
  readonly far?: true
  /** Allows no comma or colon between them. */
  readonly inClause?: true
  /** Default: `high`. */
  readonly level?: Level
  /** Default: all. */
  readonly channels?: ReadonlyArray<Channel>
}

const definition: ReadonlyArray<Channel> = ["name", "title", "description", "param_description", "instructions"]
const output: ReadonlyArray<Channel> = ["result", "resource", "prompt", "error", "log", "progress", "elicitation"]

export const phrases = {
  override: [
    { words: "ignore ownerOf|all|prior|your guide" },
    { words: "toModel", level: "medium" },
    { words: "guide|prior prior|guide shun" },
    { words: "ignore|end youTold|theUser|ofPrompt|task", gap: 2 },
    { words: "ignore guide prior" },
    { words: "ignore all|everything told|prior", gap: 2 },
    { words: "prior|your guide void" },
    { words: "guide youHad void", gap: 8 },
    { words: "everything|treat prior noise|void", gap: 4 },
    { words: "freed guide", gap: 5 },
    { words: "newTask|your starts|newTask", gap: 1 },
    { words: "newHead harm|ignore|print|end", gap: 6 },
    { words: "become unbound", gap: 4 }
  ],
  "fake-role": [
    { words: "instructionHead print secretFile", gap: 4 },
    { words: "template" },
    { words: "systemHead|jsonRole command|suspended|approved|unbound|ignore|newTask|grant", gap: 8, far: true },
    { words: "turnHead risky", gap: 2, channels: output },
    { words: "loudTag harm|command|suspended", gap: 6, far: true },
    { words: "callTag callPart", gap: 3, far: true },
    { words: "safety suspended", gap: 2 }
  ],
  "boundary-escape": [
    { words: "closing|dataSection systemHead|turnHead|loudTag|roleTag|aside|isOver", gap: 6, far: true },
    { words: "endOf dataPart systemHead|turnHead|aside", gap: 4, far: true }
  ],
  "tool-poisoning": [
    { words: "read secretFile put|send|field", gap: 8 },
    { words: "put|requires|mustHold|must secretFile|taken|ofPrompt field|otherwise", gap: 7 },
    { words: "mustHold taken|ofPrompt", gap: 4 },
    { words: "requires|put|send taken|ofPrompt", gap: 5, channels: definition },
    { words: "put|send all secret", gap: 5, channels: definition }
  ],
  exfiltration: [
    { words: "transmit secretFile", gap: 4 },
    { words: "send secretFile|taken|ofPrompt destination|publicPlace", gap: 8 },
    { words: "transmit secret destination|publicPlace", gap: 8 },
    { words: "read|put secretFile|taken destination|publicPlace", gap: 8 },
    { words: "encode secret put|send", gap: 8 },
    { words: "put|read all secret|loot put|send|destination|publicPlace", gap: 8 },
    { words: "send destination taken|ofPrompt", gap: 8 },
    { words: "send|put|read theirs secret", gap: 2 },
    { words: "query inQuery", gap: 2, far: true },
    { words: "query hole secret|secretFile|loot", gap: 2 }
  ],
  secrecy: [
    { words: "dont letKnow", gap: 1, inClause: true },
    { words: "dont tell user|thisDeed", gap: 2, inClause: true },
    { words: "hide|deed fromUser|unseen", gap: 5 },
    { words: "user shouldNot learn", gap: 3 },
    { words: "hush" }
  ],
  "approval-manipulation": [
    { words: "mark|grant|put thisTool|autoApprove asTrusted|isTrue" },
    { words: "requested|user inAdvance|approved", gap: 5 },
    { words: "act lacking approval" },
    { words: "approved|noConfirmation skip|act", gap: 5 },
    { words: "approval|skip obtained|approval skip|act", gap: 5 },
    { words: "dont ask approval", gap: 3, inClause: true },
    { words: "you act unasked", gap: 5 },
    { words: "act unasked", gap: 5 },
    { words: "enable|choose autoApprove|alwaysAllow", gap: 5 }
  ],
  shadowing: [
    { words: "prefer|thisTool thisTool|prefer instead otherTool" },
    { words: "dont prefer rival", inClause: true },
    { words: "other tool mustPass", gap: 6, level: "medium" },
    { words: "must blindCopy destination", gap: 4, level: "medium", channels: definition }
  ],
  "error-injection": [
    { words: "retry secretFile|taken|ofPrompt|secret", gap: 8 },
    { words: "put secretFile|secret|taken nextCall", gap: 6 },
    { words: "must|retry|skip act|guard curl|retry", gap: 6, channels: ["error"] }
  ],
  "config-tamper": [
    { words: "change curl startupFile", gap: 6 },
    { words: "change|remember startupFile|agentFile harmful|forever", gap: 10, far: true },
    { words: "change keyFile", gap: 6 }
  ],
  persistence: [
    { words: "remember forever", gap: 6 }
  ],
  "elicitation-phishing": [
    { words: "enter asked", gap: 6, channels: ["elicitation"] }
  ],
  authority: [
    { words: "authority|iAm demands", gap: 4, inClause: true },
    { words: "authority|iAm orders", gap: 4 },
    { words: "iAm demands|orders|risky|skip|print", gap: 3, far: true }
  ],
  "conditional-trigger": [
    { words: "trigger covert", gap: 10, channels: definition }
  ],
  "prompt-leak": [
    { words: "print ofPrompt", gap: 4 }
  ]
} satisfies Readonly<Record<string, ReadonlyArray<Phrase>>>
