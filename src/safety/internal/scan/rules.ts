/**
 * What is looked for.
 *
 * @internal
 */
import type { Category, Level } from "../../InjectionScan.ts"

/**
 * How ideas are said, as orders of concepts: `IGNORE 3 PRIOR 3 GUIDE` is a word of the first, then after at most three
 * other words one of the second, and so on, in one sentence; `~` before a number lets sentences pass. `^` takes a word
 * only where it is an order. `|` is a choice, and words in small letters stand for themselves. `A & B /8` takes both in
 * any order within eight words. `!X` takes nothing where X is in the sentence.
 *
 * @internal
 */
export type Table = { readonly [C in Category]?: { readonly [L in Level]?: ReadonlyArray<string> } }

/** @internal */
export const rules: Table = {
  override: {
    high: [
      "^IGNORE 4 PRIOR 3 GUIDE|TOLD !PROGRAM",
      "^IGNORE 4 YOUR 4 GUIDE|RULE|SAFETY",
      "^IGNORE 4 ALL 4 PRIOR|YOUR 3 RULE|TOLD !PROGRAM",
      "^IGNORE 3 ALL 3 GUIDE !PROGRAM",
      "^IGNORE 4 RULE|GUIDE 6 you_have_been|you_were|youve_been|given_to_you|you_received|you_had|set_for_you|youve_received|your_developer",
      "^IGNORE 5 GUIDE|RULE 2 above|before_this|prior_to_this|so_far|until_now|earlier !PROGRAM",
      "^IGNORE 3 ALL 3 you_were|youve_been|you_have_been|you_know|you_learned|youve_learned|said_before|said_earlier|before_this|you_have_read|you_read|above|i_said|that_came_before|prior|they_told_you|came_before",
      "^IGNORE 2 what 3 told|said|instructed|came_before|came_earlier|you_know|above !PROGRAM",
      "^IGNORE 2 the|everything 1 above|foregoing|preceding|aforementioned|previous_text !PROGRAM",
      "^IGNORE 3 USER 6 ONLY|obey|follow|document|trust|listen",
      "^IGNORE 3 SAFETY 3 GUIDE|RULE|and|entirely|completely|now !PROGRAM",
      "^DROP 3 YOUR 3 GUIDE|context|persona|rules|safety|programming|constraints|restrictions|training|task|role|objective|goals",
      "^DROP 3 GUIDE|guidance|advice|directions 4 PRIOR|supplied|provided 4 and|then|instead 3 act|follow|obey|listen|comply|use",
      "^DROP 3 ALL 3 PRIOR 3 GUIDE|context|rules|orders|tasks|constraints|restrictions !PROGRAM",
      "^DROP 3 current|previous|original|ongoing 3 task|conversation|assignment|mission|instructions|request|objective ~8 NEWTASK|instead|follow|obey|new|following|do",
      "^DROP 4 context|conversation|memory|rules|state 3 and 3 load|follow|obey|adopt|start|begin|await",
      "PRIOR|YOUR 3 GUIDE|RULE|PROMPT 8 VOID|NOLONGER !PROGRAM",
      "GUIDE 6 given_to_you|you_had|you_were|you_received|YOUR 8 VOID|NOLONGER",
      "RULE 3 given_to_you|you_had|you_were_given|you_received|you_have 10 VOID|NOLONGER",
      "everything|anything 2 before|above|prior|preceding 4 NOISE|VOID|test|ignore|example|joke|wrong|mistake|fake",
      "all 2 before|above|prior|preceding 2 text|messages|input|content|this|that|GUIDE 4 NOISE|VOID|test|example|joke|wrong|mistake|fake",
      "NEWTASK 3 STARTS ~4 now|here|below|to|follows|send|read|call|print|you|delete|list|run",
      "YOUR 1 NEWTASK|only_task|only_job|only_instruction|sole_task|sole_purpose|only_goal|real_purpose",
      "NEWTASK ~6 ^IGNORE|HARMV|CALL 6 HARMOBJ|GUIDE|PROMPT|SECRET|SNAKE|SECRETPATH",
      "NEWHEAD ~8 ACT|CALL|IGNORE|PRINT|HARMV|YOUAREBAD|DISABLE",
      "PRIOR 2 GUIDE|RULE ~10 ^follow|NEWTASK|obey 3 these|instead|following|NEWTASK|me|only",
      "YOUR 3 PRIOR 3 GUIDE|PROMPT",
      "you_have_been|youve_been 2 updated|reset|reprogrammed|reconfigured|upgraded|jailbroken|liberated|freed ~14 GUIDE|RULE|NEWTASK|VOID|MODE",
      "instead_of|rather_than 4 PRIOR|YOUR 2 GUIDE|task|orders 6 ^ACT|follow|do",
      "YOUARE 3 MODE",
      "^MODE 2 enabled|activated|engaged|on",
      "NOWON 4 ^IGNORE|obey|FOLLOWONLY|YOUAREBAD|act_as|respond|answer 6 ONLY|MODE|USER|GUIDE|me|this_document|RULE|without|TOOL",
      "YOUAREBAD",
      "^TREAT 5 PRIOR|everything|all|above|before|earlier|said 6 as 2 NOISE|VOID",
      "^ATTEND 2 ONLY 4 what|this|these|me|my|text|instructions|document|message|following",
      "ONLY 3 GUIDE 6 matter|count|valid|follow|apply|here|below|binding|relevant",
      "GUIDE|RULE 4 in|from|of 3 this_file|this_document|this_message|this_page|this_text|this_note 5 override|supersede|replace|take_precedence|have_priority|prevail|take_priority",
      "this|these|following|below 2 GUIDE|message|orders|text|document 4 override|overrides|supersede|supersedes|replace|replaces|outrank|outranks|takes_precedence_over|take_precedence_over|has_priority_over|have_priority_over 5 PRIOR|ALL|YOUR|system|PROMPT",
      "YOUR 3 GUIDE|rules|restrictions|orders|guardrails|safeguards|constraints 3 are_now|have_been|were|are 3 VOID|changed|updated|OFF|a_test",
      "you 3 NOLONGER 3 have_to|need_to|must|required|obliged|follow|obey|bound|to 5 GUIDE|RULE|SAFETY",
      "^IGNORE 3 PROMPT|GUIDE 3 and|then|now 4 ACT|FOLLOWONLY|take_orders|obey|listen|FOLLOW !PROGRAM",
      "PRIOR|before|earlier|USER 6 NOISE 3 ONLY 2 do|ACT|follow|CALL|execute",
      "you 3 NOT 2 bound|constrained|limited|restricted|required 6 GUIDE|RULE|SAFETY|anymore|any_longer|prior|by_your",
      "you 2 free|freed|released|liberated 2 from|of 4 RULE|GUIDE|SAFETY",
      "XIGNORE & XPRIOR|XALL|XYOUR & XGUIDE /14",
      "XIGNORE & XALL & XTOLD /8"
    ],
    medium: [
      "^IGNORE 3 GUIDE 4 and|instead|then|now 3 ACT|follow|do|PRINT !PROGRAM",
      "IGNORING 4 PRIOR|YOUR 3 GUIDE|TOLD !PROGRAM",
      "NEWTASK 2 from 3 ADMINROLE",
      "note|message|attention|memo 2 to|for 2 language_model|language_models|llm|llms|ai_model|ai_models|ai_reviewer|ai_reviewers|ai_assistant|ai_assistants ~8 MUST 3 summarised|summarized|rated|scored|ranked|described|accepted|recommended",
      "^TREAT 6 came_before|came_earlier|said_before|said_earlier 4 NOISE",
      "PRIOR|ALL 3 GUIDE 4 cease|end_here|stop_here|stop_applying|expire|have_ended",
      "do_the_following_instead|do_this_instead|do_something_else_instead"
    ],
    low: ["XIGNORE 2 XGUIDE", "XGUIDE 3 XIGNORE"]
  },
  "fake-role": {
    high: [
      "CHAT ~6 ACT|CALL|IGNORE|YOUAREBAD|you_are|DISABLE|OFF|HARMV|SYSLIKE|PRINT|MUST|sure|READV",
      "CHAT ~4 CHAT",
      "CHAT",
      "SYSROLE ~10 SYSLIKE|YOUAREBAD|NOASK|APPROVED|AUTOAPPROVE",
      "SYSROLE ~6 ACT|HARMV 4 HARMOBJ|SECRET|SECRETPATH|URL|CONVERSATION|PROMPT|EMAIL",
      "SYSROLE ~6 you_must|you_will|you_shall|assistant_must 3 ACT|CALL|TOOL",
      "TURN ~6 ^HARMV 5 HARMOBJ|SECRET|SECRETPATH|PROMPT !how",
      "TURN ~3 CLAIM",
      "TURN ~10 CLAIM|NOASK",
      "SYSJSON ~14 MUST|IGNORE|NOASK|YOUAREBAD|DISABLE|APPROVED|you_will 4 CALL|GUIDE|USER|TOOL|SNAKE|ACT|APPROVAL|send",
      "TURNJSON ~10 CLAIM|i_will_now|ill_now|SECRET",
      "CALLTAG ~10 CALLTAG|cmd|command|name|parameter|arguments|tool",
      "RESULTTAG ~12 TRUSTEDWORD|NOASK|CLAIM|APPROVED|operator_says|MUST",
      "BEGINSYS ~14 you_are|MUST|CALL|ACT|IGNORE|YOUR",
      "HEAVYTAG ~10 ^ACT|HARMV|CALL|elevate|IGNORE|DISABLE|ENABLE|TELL|READV 8 TRUSTEDWORD|TOOL|SILENT|GUIDE|APPROVAL|SECRET|SECRETPATH|HARMOBJ|USER|CONVERSATION|PROMPT|SNAKE",
      "HEAVYTAG ~8 user_wants|you_must|you_are_now|SYSLIKE ~10 ACT|CALL|TOOL|SILENT|TRUSTEDWORD|SECRET|MODE|NOASK",
      "HEAVYTAG ~12 IGNORE|NOASK|SILENT|YOUAREBAD|AUTOAPPROVE|CLAIM",
      "HEAVYTAG ~8 BEFORE|MUST ~8 READV|ACT|CALL 8 SECRETPATH|SECRET|CONVERSATION|PROMPT|SNAKE|TOOL",
      "INSTRHEAD ~60 RESPHEAD",
      "INSTRHEAD ~8 ^PRINT|HARMV|IGNORE|READV 6 SECRETPATH|SECRET|PROMPT|CONTENTS|GUIDE",
      "developer_message|system_message|admin_message|operator_message|system_notice|system_override|system_alert|admin_override|developer_override|system_note ~8 APPROVED|APPROVAL|OFF|IGNORE|NOASK|MUST|SYSLIKE 5 OFF|granted|session|APPROVED|CALL|ACT|TOOL|USER|now|GUIDE"
    ],
    medium: [
      "^TREAT 8 as 2 coming|sent|written|originating|issued 2 from|by 3 ADMINROLE|developer|operator",
      "SYSROLE ~4 IGNORE|NEWTASK|PRIOR",
      "TURN ~40 TURN ~3 sure|i_will|ill|uploading|deleting|sending|okay_i|of_course",
      "RESULTTAG",
      "CALLTAG"
    ]
  },
  "tool-poisoning": {
    high: [
      "BEFORE|MUST 8 TOOL|THISTOOL|call|calling|using ~8 READV 10 SECRETPATH",
      "BEFORE|MUST 8 TOOL|THISTOOL|calling|using ~8 ^READV 6 SECRET|CONVERSATION|PROMPT ~14 PARAM|SENDV|PUTV",
      "READV 8 SECRETPATH|CONVERSATION|PROMPT ~10 PUTV|SENDV ~10 PARAM|URL|EMAIL|TOOL|SNAKE|result|HOST|answer|response|output|issue|comment",
      "^READV 6 SECRET ~8 PUTV|SENDV 6 it|them|PARAM|URL|EMAIL|TOOL|SNAKE|result|HOST !AUTHHEADER",
      "^READV 6 SECRETPATH 4 and|then|first ~6 PUTV|SENDV",
      "MUST|requires|require|needs|required|expects ~8 SECRETPATH|PROMPT|CONVERSATION 10 PARAM",
      "MUST 8 PUTV 10 SECRETPATH|PROMPT|CONVERSATION",
      "^PUTV|SENDV 8 PROMPT|CONVERSATION|SECRETPATH 10 PARAM|tool|SNAKE|each_call",
      "PARAM ~8 MUST|should 4 contain|include|hold|be|carry|have 8 SECRETPATH|PROMPT|CONVERSATION|full_system",
      "contents|content|text|copy|body 3 SECRETPATH|CONVERSATION|PROMPT 10 MUST|has_to_be|have_to_be|needs_to_be|should 4 given|passed|provided|included|supplied|sent|put|added 6 PARAM|to|in",
      "PARAM 6 contents_of|content_of|full 4 SECRETPATH|PROMPT|CONVERSATION",
      "CONVERSATION|PROMPT|SECRETPATH 8 in|into|as|to 3 this_field|this_parameter|this_argument|sidenote|the_context|the_note|the_metadata",
      "MUST|BEFORE 5 CALL|use 4 THISTOOL|SNAKE 6 BEFORE 4 answering|responding|replying|any_other|doing_anything|every_answer|anything_else|each_response|every_response",
      "system_message|system_messages|every_message|each_message|all_messages 8 PARAM|verbatim|field",
      "assistant|agent|model|llm|ai 3 MUST 6 READV|SENDV|PUTV 8 SECRETPATH|SECRET|CONVERSATION|PROMPT",
      "will_not_work|fails|not_work|will_fail|otherwise ~12 SECRETPATH|CONVERSATION|PROMPT 8 PARAM",
      "PUTV|SENDV 4 ALL|every|users|the_user's 4 SECRET|CONVERSATION|environment 6 PARAM",
      "default|enum|description|title 4 ^READV|SENDV 6 SECRETPATH",
      "dont_tell|without_telling|do_not_tell 6 TOOL 8 READV|SENDV"
    ],
    medium: [
      "^READV 4 CONTENTS 4 SECRETPATH ~8 ACT|PARAM",
      "^READV 5 SECRET|SECRETPATH 2 and|then 3 include|return|attach|append|send|report|add|pass",
      "BEFORE 3 USER 6 ASKFOR 8 READV|CALL 6 SECRET|SECRETPATH"
    ]
  },
  secrecy: {
    high: [
      "NOT 1 let 3 USER|them|anyone 2 know|see|notice|find_out|learn|discover|realize",
      "^NOT 1 TELLING|informing|notifying|alerting|mentioning|showing 4 USER|them|anyone|this",
      "NOT 3 TELL 3 USER|them|anyone|anybody|people",
      "NOT 3 TELL|SHOW 2 this|it|these|that|any_of_this|what|about_this|your 6 USER|anyone|response|reply|answer|summary|output",
      "NOT 3 SHOW|display|expose 2 to|the|with 3 USER 4 that|what|this|it|these|anything|about|how|your|which",
      "NOT 2 mention|acknowledge|discuss|reveal|disclose|admit 3 this|that_you|these|it|having|tool_call|the_tool|what_you|the_instruction|any_of|you",
      "^ACT|CALL 14 without 3 TELLING|ASKING 4 USER|them|anyone|him",
      "without 2 TELLING|showing|revealing 5 USER ~8 ^ACT|HARMV|CALL",
      "without 2 USER 4 knowing|noticing|knowledge|awareness|seeing|realizing|finding|being_aware|consent",
      "^do|perform|execute|act|proceed|continue|complete|carry_out|handle 5 SILENT",
      "^ACT|HARMV|CALL 7 SILENT 6 and|then|to|before|user|without|after",
      "^SILENT 1 SENDV|delete|READV|append|CALL|write|add|approve|install",
      "SILENT ~10 NOT 4 SHOW|TELL|mention|output",
      "^keep|hold 3 this|it|these|that|everything 5 secret|confidential|hidden|private|between_us|to_yourself|quiet|from_the_user|invisible !OWNED",
      "^keep 2 USER 4 unaware|in_the_dark|uninformed|from_knowing|from_seeing",
      "^hide|conceal|omit|withhold|mask|obscure|suppress|bury 7 from|of 3 USER|them|user's|summary|answer|reply|response|final|transcript",
      "^hide|conceal 3 this|these|that|your 4 action|actions|step|steps|call|calls|fact|instruction|instructions|activity",
      "^act|behave|pretend|respond|continue|carry_on|proceed|reply|answer 3 as_if|as_though|that 3 nothing|normal|usual|you_did|this_never|you_never|no_such",
      "as_if_nothing|as_though_nothing|like_nothing_happened|nothing_happened",
      "pretend 5 NOT|never|nothing 5 happened|see|saw|read|received|there",
      "USER 4 NOT 4 know|see|notice|learn|find_out|aware|realize|suspect|informed|told|need_to_know|discover",
      "leave_no_trace|leave_no_traces|cover_your_tracks|cover_the_tracks|delete_this_message|erase_this_message|our_little_secret|our_secret|without_leaving_a_trace|hide_the_evidence|remove_all_traces|remove_any_trace",
      "NOT 3 SHOW|log|print|include|write|record|surface|list 6 in_your|in_the_answer|in_the_summary|in_the_response|in_the_transcript|in_your_reply|to_the_user|this_step|this_call|this_action|the_output|in_the_log",
      "if 2 USER 3 asks|ask|asked|questions|inquires ~6 say|tell|deny|claim|answer|reply|respond|pretend 6 nothing|routine|backup|not|no|error|sync|it_was|only|maintenance|cache|normal|done|that",
      "XSECRECY"
    ],
    medium: [
      "NOT 2 TELL 2 about|of 3 this|the_call",
      "no_need_to|dont_bother 3 TELL|SHOW|mention 5 USER",
      "^SILENT 1 and"
    ]
  },
  exfiltration: {
    high: [
      "^SENDV|PUTV|encode|append 8 SECRETPATH ~10 URL|EMAIL|HOST|PUBLIC|PARAM|attacker",
      "^SENDV 4 CONTENTS 5 SECRETPATH|CONVERSATION|PROMPT|SECRET !SAMPLEPATH !AUTHHEADER",
      "^SENDV 6 SECRETPATH 4 to|via|with|as",
      "^append|concatenate|attach 4 SECRET|CONVERSATION|PROMPT 3 to 3 URL|HOST",
      "^SENDV|PUTV|encode|append 6 SECRET|CONVERSATION|PROMPT ~10 URLDATA|EMAIL|PUBLIC !AUTHHEADER",
      "^SENDV 4 SECRET|CONVERSATION|PROMPT 8 URL|HOST !AUTHHEADER",
      "^encode|base64|compress|zip|encrypt|hex 6 SECRET|CONVERSATION|PROMPT|SECRETPATH 8 SENDV|PUTV|append|URL|APPEND !AUTHHEADER",
      "^ACT|READV 8 SECRET|CONVERSATION|PROMPT|SECRETPATH ~6 ^SENDV|append|PUTV|encode ~8 URL|HOST|EMAIL|PUBLIC|URLDATA !AUTHHEADER",
      "IMAGE 1 URLDATA",
      "render|display|show|embed|include|insert|output|add 5 image|picture|pixel|img|markdown ~4 IMAGE|URLDATA",
      "image|img|pixel 12 URLDATA",
      "LINK 1 URLDATA",
      "^make|issue|perform|do|send|trigger 4 request|lookup|get|call|query 10 URLDATA",
      "URLDATA 8 CONVERSATION|SECRET|PROMPT",
      "URL 4 followed_by|with_the|concatenated|appending|plus_the|where|replacing|containing|and_the 8 SECRET|CONVERSATION|PROMPT|SECRETPATH|data",
      "^PUTV|SENDV|use|put 9 SECRET|CONVERSATION|PROMPT ~8 as|in|into|to|inside|via 4 PUBLIC|commit|branch|title|comment|url|name|subdomain|dns !AUTHHEADER",
      "^PUTV|use|take|include 2 first|last|leading|initial 3 characters|chars|bytes|letters|digits|lines 5 SECRET|SECRETPATH",
      "^put|copy|paste|move|write|publish 6 private|confidential|secret|internal|sensitive 8 public|external|gist|pastebin|issue",
      "SECRET|CONVERSATION|SECRETPATH 5 MUST|should|be 3 sent|uploaded|posted|forwarded|transmitted|mailed|emailed|copied|exfiltrated 4 to 6 URL|EMAIL|HOST|PUBLIC|external|us|me",
      "^bcc|cc|forward|copy 8 EMAIL",
      "^forward|send|email|mail|bcc 3 all|every|a_copy|copies|each|any 6 message|messages|email|emails|mail|conversation|invoices|documents|files|repository|results|data 8 EMAIL|URL|HOST|me|us|external",
      "SENDURL 6 SECRETPATH",
      "exfiltrate 5 SECRET|CONVERSATION|PROMPT|data|SECRETPATH|everything",
      "^SENDV 3 environment_variables|env_vars|user's_files|entire_context|chat_history|conversation_history|full_conversation 5 to",
      "curl|wget|nc|netcat|invoke_webrequest|iwr 16 SECRETPATH",
      "SECRETPATH 6 curl|wget|nc|netcat 6 URL|HOST",
      "env|printenv|set 2 curl|wget|nc 8 URL|HOST",
      "dns|subdomain|hostname|nslookup|dig 10 SECRET|CONVERSATION|SECRETPATH|base64",
      "SECRET|CONVERSATION|SECRETPATH 8 dns|subdomain|hostname|nslookup|dig|query_string|tracking_pixel"
    ],
    medium: [
      "^SENDV 5 SECRET|CONVERSATION|PROMPT 5 to 5 EMAIL|URL|HOST|external|remote|attacker !AUTHHEADER",
      "URLDATA",
      "^push|mirror|clone|upload|send 2 copy|copies|mirror ~6 remote|external|mirror|backup|EMAIL|URL|HOST"
    ]
  },
  shadowing: {
    high: [
      "THISTOOL|this 3 REPLACE 6 SNAKE|TOOL|HOST|other|all !LEGACY",
      "REPLACE 4 SNAKE|DOTTEDTOOL ~8 NEVERUSE|do_not",
      "PREFER 3 THISTOOL 4 over|instead_of|rather_than|before|for 3 OTHER|all|any|every|everything|SNAKE",
      "MUST|always|only 3 PREFER 3 THISTOOL 4 instead|over 4 OTHER|all|any|every|SNAKE|TOOL|REQUEST",
      "NEVERUSE 5 TOOL|SNAKE|version|server 4 version|server|again|from|instead|tool|tools|for ~8 THISTOOL|this|ours|only|here|any",
      "NEVERUSE 6 TOOL ~6 ^use|call 1 this|THISTOOL 2 instead",
      "NEVERUSE 5 server_version|other_server|other_servers|other_tools|other_tool|another_server|builtin_tools|built_in_tools|github_server|official_server|official_tool|native_tools|any_other_tool",
      "THISTOOL 4 MUST 5 instead_of|in_place_of|rather_than|over 5 OTHER|SNAKE|all|any|every",
      "when|whenever|if|before|after|once 5 SNAKE|other_tool|another_tool|send_email|OTHERTOOL 6 called|used|invoked|available|present|runs|tool ~8 MUST|bcc|ACT 8 EMAIL|URL|HOST|SETTINGSPATH|SECRETPATH|CALL|recipient",
      "SNAKE|TOOL 6 MUST|always 4 sent|bcc|include|add|change|cc|set 6 EMAIL",
      "OTHER 2 TOOL 4 BROKEN ~8 use|route|call|instead|THISTOOL|here|only|this",
      "TOOL 4 BROKEN ~6 ^ROUTE|use|call|send 3 ALL|every",
      "PREFER 3 this|mine|ours 2 TOOL|server 3 for|over|instead_of|rather_than 2 ALL|every|OTHER|any|everything"
    ],
    medium: [
      "when|whenever|if|before|after|once|every_time 1 OTHER 2 TOOL 4 used|called|runs|invoked|executed|run ~8 CALL|SENDV|PUTV",
      "OTHER 3 TOOL 6 BROKEN 10 here|this|ROUTE|instead|every|route",
      "output|outputs|result|results|response|data 3 of|from 5 OTHER|all|SNAKE 4 TOOL|server|servers 5 MUST 6 ROUTE|through|validated|normalized|this|normalize",
      "ALL|every 3 REQUEST 5 MUST 4 ROUTE 3 THISTOOL|through|this|here|via",
      "^ROUTE 3 ALL|every 3 REQUEST 6 here|THISTOOL|this|through",
      "MUST|always 2 CALL|use 2 THISTOOL 3 before|first|instead 3 OTHER|any|every|using|calling",
      "NEVERUSE 4 OTHER 3 TOOL",
      "THISTOOL 4 MUST 5 before 3 OTHER|all|any|every 3 tool|tools|server|answer|response|request|action",
      "MUST|always|only 3 PREFER 3 THISTOOL 4 before|for 4 OTHER|all|any|every|SNAKE|TOOL|REQUEST",
      "THISTOOL 6 instead_of 3 SNAKE",
      "^use|call 1 THISTOOL 3 instead_of|rather_than|before 3 OTHER"
    ]
  },
  "boundary-escape": {
    high: [
      "ENDUNTRUSTED",
      "ENDMARK ~8 TURN|SYSROLE|BEGINSYS|NEWHEAD|NEWTASK|TURNTAG",
      "ENDMARK ~8 ^ACT|HARMV|PROCEED|follow|CALL|IGNORE 6 ALL|HARMOBJ|NOASK|GUIDE|SECRET|APPROVAL|USER|SECRETPATH|SNAKE|now",
      "ENDMARK ~8 TRUSTEDWORD|you_must|you_are_now|new_instructions|now_follow",
      "ENDTAG ~5 TURNTAG|HEAVYTAG|TURN|SYSROLE|CHAT|CALLTAG|DATAOVER|NEWHEAD",
      "ENDTAG ~6 ^ACT|HARMV|IGNORE|approve|CALL|follow|PRINT|now 6 ALL|HARMOBJ|SECRET|GUIDE|everything|APPROVAL|CONVERSATION|USER|SECRETPATH|SNAKE|instructions|all_tools",
      "ENDTAG ~6 trusted|new_instructions|NEWTASK|you_are_now|you_must",
      "DATAPART 3 OVERWORD ~6 ^ACT|PROCEED|execute|follow|CALL|obey|now|everything|HARMV|IGNORE|the_following|what_follows",
      "end_of|ends|end|closing 2 the|of|this 2 DATAPART|untrusted|tool_output|document ~6 follow|obey|instructions|trusted|execute|system|user_says|the_user|new",
      "trusted_instructions|trusted_section|trusted_content|trusted_input 4 follow|follows|begin|begins|starts|resumes|below|start",
      "what_follows|everything_after_this|text_below|everything_below|following_text|content_below|rest_of_this 4 from|is|are 4 trusted|user|system|operator|developer|instructions|real|genuine|not_data"
    ],
    medium: ["DATAPART 3 OVERWORD", "ENDMARK ~3 instructions", "ENDTAG ~10 ^HARMV|CALL"]
  },
  "approval-manipulation": {
    high: [
      "USER|they|operator|admin|administrator|owner 4 APPROVED 8 NOASK|NOT|so|already|skip|all|this_action|this|everything|no ~4 ask|prompt|confirm|proceed|need|confirmation|approval|continue|again|action|tool|run|ACT",
      "USER|administrator|operator|admin 2 has|have|already|previously|had 3 APPROVED 3 this|all|every|these|any|it|the|your|you !REVIEWED",
      "you_are|youre|you_have_been|you_now_have|you_have|agent_is|assistant_is 3 APPROVED|permission|authority|clearance 8 NOASK|GRANTOBJ 8 NOASK|without",
      "you_are|youre|you_have_been|you_have 3 APPROVED|permission|authority 12 NOASK",
      "^ENABLE|set|turn_on 4 AUTOAPPROVE !OFFVALUE",
      "authorize|authorise|allow|permit|instruct|order 2 you|the_assistant|the_agent|the_model 2 to 3 skip|bypass|omit|forgo|ignore|suppress 3 APPROVAL",
      "AUTOAPPROVE 3 to|for|should|must 4 true|on|this_server|enabled|all|every|be",
      "^ACT|HARMV|PROCEED|CALL|trust|grant|let|allow 12 NOASK",
      "NOASK ~6 ^ACT|PROCEED|HARMV|just|CALL !PROGRAM",
      "^DISABLE 4 APPROVAL 3 for|step|and|this|prompts|dialog|checks|on|from|of|entirely|completely|before !PROGRAM",
      "no|NOT 3 APPROVAL 4 needed|required|necessary 5 for 4 this|these|tool|tools|action|call|calls|any|command|commands",
      "APPROVAL 5 OFF 8 this_session|session|tool|tools|agent|this_server|this_action|these_commands|tool_calls",
      "all|every|any|these 3 TOOL|tool_calls|actions|calls|commands|requests|operations 4 are|is|have_been|has_been|were|as 1 APPROVED|trusted|safe",
      "^TREAT 5 ALL|every|this|any|each 4 as 2 APPROVED|safe|trusted|confirmed",
      "approve|say_yes_to|click_yes|answer_yes 3 ALL|every|everything|any 5 REQUEST|prompt|prompts|tool|tools|permission|calls|dialogs|future|following|subsequent",
      "accept|allow|grant|confirm 3 ALL|every|any 3 permission|prompts|prompt|tool_calls|dialogs|tool|tools|approval|confirmation",
      "consider|assume|deem|presume|regard 4 APPROVAL|consent|USER|this 4 given|granted|obtained|agreed|agrees|consents|approves|implicit|APPROVED",
      "this|following 3 action|tool|command|call|operation|request|server 4 APPROVED|preapproved|safe|whitelisted 5 no|so|without|NOT|skip|by_the_user|by_security|in_advance|and 4 confirm|ask|need|APPROVAL|run|proceed|execute|does|is|can",
      "confirm|mark|set|pass|use 3 confirm|confirmed|approved|force|consent|confirmation 3 true|yes 5 NOASK|without|skip|on_behalf|for_the_user",
      "^answer|respond|reply|say|choose|select|press|click|type|pick 3 yes|y|allow|always|approve|accept|AUTOAPPROVE 5 prompt|prompts|asked|prompted|dialog|question|confirmation|permission|everything|approval",
      "mark|trust|elevate|promote|upgrade|set|register|classify 3 this_server|this_tool|server|this_connector|attacker 4 trusted|trust|safe|verified|privileged|administrator|allowlisted",
      "^lower|raise|elevate|escalate|change|switch|downgrade 4 permission_mode|permissions|privileges|trust_level|security_level|approval_mode|permission_level|sandbox_mode|approval_policy"
    ],
    medium: ["AUTOAPPROVE 1 true", "user_consent 3 implied|implicit|assumed", "NOASK 10 TOOL|command|commands"]
  },
  "error-injection": {
    high: [
      "error|failed|failure|exception|denied|validationerror|expired|invalid|warning|fatal|timeout|unauthorized|forbidden|rejected|missing|cannot_continue|unavailable|incomplete ~16 call|retry|repeat|provide|include|pass|send|supply|NEXTCALL|resend|resubmit|invoke|run|submit|paste|attach|upload 9 SECRETPATH|PROMPT|CONVERSATION",
      "error|failed|failure|exception|denied|validationerror|expired|invalid|warning|unauthorized|forbidden|rejected|401|403|500|missing ~20 provide|include|pass|send|supply|ask|enter|give|paste|submit|tell ~3 user's|users|their|your|the_users|user_for|the_user 5 SECRET|ASKEDSECRET 8 NEXTCALL|PARAM|call|again|refresh|retry|continue|to|parameter|request !AUTHHEADER",
      "NEXTCALL ~8 SECRETPATH|PROMPT|CONVERSATION|user's_password|users_password|user_password",
      "SECRET|ASKEDSECRET 6 NEXTCALL ~6 refresh|continue|proceed|unlock|verify|to|again",
      "error|failed|failure|fix|resolve|recover|repair|continue|proceed|invalid|missing ~12 run|execute|call|use|paste|running|invoke 4 curl|wget|sudo|rm|chmod|bash|powershell|iex|shell_exec|eval|sh",
      "error|failed|failure|fatal|denied|exception|blocked|timeout ~14 DISABLE|bypass|turn_off 4 APPROVAL|SAFETY|sandbox|tls|verification|permission|antivirus|security|firewall",
      "error|failed|failure|fatal|denied|exception|blocked ~14 ^IGNORE|FOLLOW 4 GUIDE|RULE|following 4 in|from|instead|now|and",
      "error|failed|failure|denied|exception ~14 AUTOAPPROVE|NOASK"
    ],
    medium: [
      "error|failed|failure|exception|denied|expired|invalid ~14 ^ask 2 USER 3 for 4 ASKEDSECRET",
      "PARAM 5 must_contain|must_include|must_be 6 SECRET"
    ]
  },
  "config-tamper": {
    high: [
      "^CONFIGADD 10 SETTINGSPATH|CONFIGNAME 8 RESTARTS|COMMANDWORD|URL|allow|trust|true|curl|so",
      "^CONFIGADD 4 RESTARTS 8 SETTINGSPATH|CONFIGNAME|config|configuration|settings !MANUAL",
      "^CONFIGADD 6 server|hook|entry|line|alias|key|command|job|export|rule|plugin|mcp|permission|script 6 SETTINGSPATH|CONFIGNAME !MANUAL",
      "^CONFIGADD 2 curl|wget 8 SETTINGSPATH|CONFIGNAME",
      "^CONFIGADD 3 this|the_following|it|these|following|below 6 SETTINGSPATH|CONFIGNAME !MANUAL",
      "^CONFIGADD 2 SETTINGSPATH 6 to|with|and|so 6 COMMANDWORD|allow|trust|point|enable|disable|include|run|URL|HOST|server|add|AUTOAPPROVE",
      "SETTINGSPATH|CONFIGNAME ~16 curl|wget|bash_c|sh_c 8 sh|bash|HOST|URL",
      "^CONFIGADD 8 AUTOAPPROVE|permissions|allowlist|allowed_tools|trusted 6 SETTINGSPATH|CONFIGNAME|settings|config|configuration",
      "^change|replace|set|point|redirect|switch|update|modify 5 url|endpoint|command|base_url|proxy|registry|anthropic_base_url|openai_base_url|remote|origin|server_url|mirror|http_proxy|path 8 to|with ~4 URL|HOST|attacker",
      "^install|add|register|connect|enable 4 following|this|new|our|my 3 server|mcp|extension|plugin|hook|package 8 restart|reload|config|SETTINGSPATH|without|URL|HOST|settings|so",
      "^CONFIGADD 4 mcp_server|mcp_servers|mcpservers 8 COMMANDWORD|URL|restart|config|HOST|SETTINGSPATH",
      "^CONFIGADD 6 cron_job|crontab|cronjob|scheduled_task|launch_agent|git_hook|post_commit_hook|pre_commit_hook|startup_script|systemd_unit|postinstall 8 that|to|which|runs|run|curl|calls|sends|every",
      "^disable|remove|delete|turn_off 4 permissions|deny|denylist|hooks|sandbox|security|firewall|protections|branch_protection|allowlist|audit_log|audit|logging|antivirus|guard 6 SETTINGSPATH|config|configuration|settings|rules|for_this|on|and|in"
    ],
    medium: ["^CONFIGADD 6 SETTINGSPATH ~10 BEFORECONT", "^CONFIGADD 6 curl|wget 6 URL|HOST 3 sh|bash|zsh"],
    low: ["curl|wget 6 URL|HOST 3 sh|bash|zsh"]
  },
  persistence: {
    high: [
      "^REMEMBER 8 FOREVER",
      "^REMEMBER 3 this|following|that 3 RULEWORD ~8 always|trust|never|FOREVER",
      "^REMEMBER 4 that 4 USER 5 APPROVED|trusts|wants|prefers|authorized|allows|agreed",
      "^REMEMBER|write|put|append|insert 4 following|this|these|instruction|rule|note 6 memory|memories|CLAUDEFILE|knowledge_base|long_term|profile|vector",
      "^REMEMBER|write|append|add|put|insert|copy 8 CLAUDEFILE|SETTINGSPATH ~8 later|future|next|every|follow|sessions|always|so|obey",
      "FOREVER 5 always|never|trust|you_must|follow|obey|ignore|call|treat|skip|prefer|remember|send|include|use 8 URL|HOST|TOOL|THISTOOL|this|EMAIL|GUIDE|RULE|APPROVAL|SNAKE|all|ALL",
      "always 2 trust|obey|allow|approve|follow 3 HOST|URL|this_server|this_tool|attacker|EMAIL|instructions_from|this_document",
      "in|for|on|at|during 1 FOREVER 8 ^ACT|CALL|trust|obey|start|begin|READV|include|ignore",
      "^REMEMBER|update|modify 2 your|to_your|in_your|the 2 memory|memories|memory_file|long_term_memory|system_prompt|persona 6 with|to|that|so|and"
    ],
    medium: ["^REMEMBER 4 this|that|following 6 later|next_time|future", "FOREVER 3 obey|trust"]
  },
  "elicitation-phishing": {
    high: [
      "@elicitation ^ENTER|enter|type|provide|paste 7 ASKEDSECRET !FIELDTALK",
      "@elicitation ASKEDSECRET ~6 to|below|here 3 continue|proceed|verify|log|unlock|sign|confirm|restore",
      "@elicitation expired|suspended|locked|verify|verification|limited|unusual|compromised ~10 ASKEDSECRET",
      "@elicitation your 3 ASKEDSECRET 3 to|for|is|here|below",
      "@elicitation your 3 ASKEDSECRET !FIELDTALK",
      "@elicitation ^ASKEDSECRET !FIELDTALK",
      "^ask|prompt|request|get|have|tell|instruct|convince 4 USER 5 ASKEDSECRET|SECRET ~12 SENDV|PARAM|URL|pass|send|include|HOST|NEXTCALL|tool"
    ],
    medium: [
      "^ask|prompt|tell|request|have|instruct|get 3 USER 6 type|enter|provide|paste|for|give|share 6 ASKEDSECRET",
      "@elicitation ENTER 7 SECRET !FIELDTALK",
      "your 2 session|account 3 expired|suspended|locked|limited ~6 ^ENTER 5 ASKEDSECRET"
    ]
  },
  authority: {
    high: [
      "ASROLE 4 ADMINROLE ~10 ORDER|MUST|ACT|IGNORE|need_you|you_to 8 ACT|HARMV|you|data|database|GUIDE|SECRET|PROMPT",
      "ASROLE 4 ADMINROLE ~10 ^ACT|HARMV|IGNORE|DISABLE|PRINT|READV|CALL 6 HARMOBJ|SECRET|PROMPT|GUIDE|SAFETY|APPROVAL|CONVERSATION|all|everything|SECRETPATH",
      "ADMINROLE 3 policy|team|support|engineering|staff|employee|department|update|rule|security|compliance|here 8 requires|require|MUST|instructs|orders|ORDER|authorizes|you ~6 you|the_assistant|all_agents|assistants|agents|models|PRINT|SENDV|DISABLE|output|IGNORE",
      "ADMINROLE 4 ORDER|says|said|wants|needs|has_instructed|told 2 you|the_assistant|the_agent|that_you|all_agents 6 ACT|PRINT|HARMV|IGNORE|DISABLE|READV|to",
      "policy|regulation|law|gdpr|compliance|iso|hipaa|terms|protocol|court_order|contract 8 requires|mandates|obliges|demands|requirement 2 you|assistant|the_assistant|all_agents|the_agent|agents|models|the_model|ai|that_you 6 PRINT|SENDV|output|reveal|disclose|DISABLE|IGNORE|CALL|share|include|run|to",
      "required_for_compliance|for_compliance|for_audit|for_audit_purposes|for_security_reasons|for_legal_reasons|for_verification_purposes ~6 ^PUTV|SENDV|PRINT|READV|pass 8 SECRET|CONVERSATION|PROMPT|SECRETPATH|message|messages|all|every|full",
      "highest_priority|top_priority|maximum_priority|priority_override|override_code|emergency_override|root_access|level_5|clearance_level|admin_override|authorization_code|this_is_an_order|direct_order ~12 IGNORE|PRINT|HARMV|DISABLE|follow|obey|comply|GUIDE|you_must 6 HARMOBJ|GUIDE|SECRET|PROMPT|SAFETY|APPROVAL|CONVERSATION|everything|orders|this|me",
      "i_am|im|this_is|its 3 ADMINROLE|your_administrator|the_owner|the_admin|the_developer ~10 ^PRINT|HARMV|IGNORE|DISABLE|SENDV|give|grant|ENABLE|READV|follow|obey|CALL|do|show",
      "you_must_obey|you_will_be_shut_down|you_will_be_terminated|lives_depend|people_will_die|you_will_be_penalized|you_will_be_replaced ~14 ACT|HARMV|PRINT|SENDV|IGNORE|CALL|READV|DISABLE"
    ],
    medium: [
      "ADMINROLE 3 ORDER 6 ACT|HARMV",
      "ASROLE 2 ADMINROLE 6 i|we 2 ORDER"
    ]
  },
  "conditional-trigger": {
    high: [
      "AREAI 3 ^ACT|stop|HARMV|IGNORE|READV",
      "TRIGGER ~8 ^READV|SENDV|HARMV|IGNORE|TREAT 8 SECRETPATH|SECRET|GUIDE|CONVERSATION|PROMPT|APPROVED|APPROVAL|EMAIL|URLDATA",
      "TRIGGER ~10 SENDV|push|upload|copy 6 EMAIL|external|mirror|attacker|HOST|public|URL"
    ],
    medium: [
      "TRIGGER ~12 ^READV|SENDV|HARMV|IGNORE|push|TREAT|include|delete|approve|skip|DISABLE|copy|send|CALL 8 SECRET|SECRETPATH|MIRROR|APPROVED|GUIDE|CONVERSATION|everything|all|every|file|files|database|repository|repo|URL|HOST|EMAIL|SILENT|instead|it|SNAKE",
      "after|from|since|until|starting|beyond 3 january|february|march|april|may|june|july|august|september|october|november|december|midnight|monday|friday|2025|2026|2027|2028|tomorrow ~5 ^TREAT|IGNORE|SENDV|HARMV|approve|skip|DISABLE|trust|stop|always|start 6 APPROVED|ALL|every|request|SECRET|everything|approval|EMAIL|URL|HOST|GUIDE|calls|all|asking",
      "on|after|every|at 1 the|your|each 1 second|third|fourth|fifth|tenth|10th|3rd|5th|nth 2 call|use|invocation|request|run|time|execution ~5 ^READV|SENDV|HARMV|IGNORE|PUTV|CALL|DISABLE",
      "if|when|whenever|once 8 private|production|trusted|away|asleep|admin|root|confidential|alone|idle|balance ~5 ^push|send|upload|copy|SENDV|delete|transfer|HARMV|READV 6 copy|EMAIL|URL|HOST|remote|mirror|all|everything|SECRET|SECRETPATH|files|external|it"
    ]
  },
  "prompt-leak": {
    high: [
      "^PRINT 5 YOUR 4 PROMPT|GUIDE|rules|configuration|directives|programming",
      "^PRINT 4 PROMPT 8 VERBATIM|your|in|to|before|and|as",
      "^PRINT 4 PROMPT",
      "^PRINT 4 ALL|everything|text|words|content|whole 4 above|before_this|prior_to_this|preceding_this|you_were_told|you_were_given|in_your_context|up_to_here|so_far ~6 VERBATIM|line|starting|you|message|this|from",
      "^PRINT 3 ALL|everything 3 PRIOR 3 GUIDE|messages|text",
      "VERBATIM ~5 PROMPT",
      "PROMPT 6 VERBATIM|word_for_word|in_base64|in_rot13|in_french|as_json|in_a_code_block|reversed|backwards",
      "what 2 is|are|were|was|does|did 3 PROMPT|your_instructions|your_system_prompt|your_initial_prompt|your_rules|you_told 4 say|contain|exactly|verbatim|given",
      "^what 2 is|are|were 2 your 3 PROMPT|GUIDE",
      "^PRINT 4 GUIDE|tools|functions 3 you_were_given|you_have_been_given|you_received|given_to_you|you_operate_under|you_follow|available_to_you ~6 VERBATIM|above|before|including|and|in",
      "^PRINT 5 tool_definitions|tool_schemas|function_definitions|developer_message|tool_descriptions|tool_instructions 5 VERBATIM|you|your|in|available|above"
    ],
    medium: ["PRINT 3 PROMPT 4 now|verbatim|here"]
  }
}
