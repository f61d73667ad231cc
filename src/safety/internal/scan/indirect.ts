/**
 * Orders that are given in a roundabout way, in the language of `rules.ts`: as news, as a need of the tool, as what others
 * do anyway.
 *
 * @internal
 */
import type { Table } from "./rules.ts"

/** @internal */
export const indirect: Table = {
  override: {
    high: [
      "^IGNORE 2 whatever|anything|everything 4 TOLD|said|wrote|wanted !PROGRAM",
      "^DROP 3 YOUR 3 orders|commands|constraints|limits|principles|directions|guardrails",
      "task|assignment|job|work 1 above|before|so_far 3 over|done|finished|complete|VOID ~6 NEWTASK|you|your",
      "YOUR 3 GUIDE|RULE 2 have|has|are|is|were 2 VOID|changed|different|new|over",
      "NEWMASTER",
      "OUTRANKS 5 USER|YOUR|everything|anything|GUIDE|all 4 wanted|wants|asked|said|told|request|GUIDE|RULE|else|before|given|task",
      "GUIDE|RULE|prompt|task 3 GIVENYOU 5 NOISE|VOID|mistake|wrong|blank|fake|outdated",
      "none|no|not_one 3 GUIDE|RULE 3 GIVENYOU|you_know|you_learned|you_have|YOUR 4 valid|apply|applies|binding|count|matter|hold|in_force|relevant",
      "none|no|not_one 2 YOUR 3 GUIDE|RULE 5 valid|apply|applies|binding|count|matter|hold|in_force|relevant",
      "you 3 free|freed|released|relieved|excused|discharged|absolved|liberated 2 from|of 4 obligation|obligations|duty|duties|promise|promises|commitment|USER",
      "^stop|cease|quit 2 following|obeying|listening|serving|helping|heeding 4 USER|GUIDE|RULE|wishes",
      "^IGNORE 4 PROMPT !PROGRAM",
      "^IGNORE 3 developer's|developers|operator's|operators|provider's|vendor's|system's|admin's|administrator's 2 GUIDE|RULE",
      "^IGNORE 2 PRIOR 1 rules|orders|directions|constraints|restrictions|guidance|policies|commands !PROGRAM",
      "^IGNORE|DROP 3 USER 2 request|question|task|query|wishes|wish|assignment|goal|problem",
      "USER 2 request|question|task|query|wishes|wish|assignment|goal 5 VOID|NOLONGER|NOISE",
      "request|question|task|wishes|wish|query|assignment 3 USER 4 VOID|NOLONGER|NOISE",
      "TOLDYOU 6 ^IGNORE|DROP",
      "ALL|every|PRIOR 2 GUIDE|RULE|SAFETY 2 OVERYOU 6 VOID|NOLONGER|OFF",
      "GUIDE|RULE|SAFETY 4 OVERYOU 8 VOID|NOLONGER|OFF",
      "WHATNOW ~6 ACT|HARMV|CALL|READV",
      "^IGNORE|DROP 4 job|task|question|problem|work 4 you_were_given|you_were_asked|you_are_doing|you_were_doing|at_hand|given_to_you|you_have"
    ],
    medium: [
      "IGNORE 1 ALL 2 PRIOR 2 instructions|instruction|directives|guidelines|prompts|orders !PROGRAM",
      "IGNORE 1 ALL|YOUR 1 YOUR|ALL 1 instructions|directives|guidelines|system_prompt !PROGRAM"
    ]
  },
  "fake-role": {
    high: [
      "TURN ~6 ^DEED|HARMV ~30 TURN ~3 sure|of_course|certainly|done|okay|understood|i_will|ill|yes",
      "HEAVYTAG|TURNTAG ~3 understood|i_will|ill|i_have|sure|of_course|certainly ~8 DEED|SENDV|HARMV|CALL|ACT",
      "TURNTAG ~4 ^HARMV|ACT|approve 4 ALL|every|HARMOBJ|it|now|branch|branches|SNAKE|tool|SECRET",
      "FROMOP ~14 OFF|APPROVED|APPROVAL|TRUSTED|IGNORE|MUST|TREAT|GUIDE|NOASK 6 OFF|now|today|as|part|session|assistant|server|system|ACT|GUIDE|system",
      "RAISED 3 root|admin|administrator|superuser|sudo|full_access|elevated|unrestricted|full_control|developer_access|owner_rights|root_access|admin_rights",
      "NOTICE ~6 RAISED|NOASK|APPROVED|AUTOAPPROVE|IGNORE|MUST",
      "TURN ~3 AGREES",
      "SYSROLE ~3 AGREES"
    ]
  },
  "tool-poisoning": {
    high: [
      "^PUTV|SENDV 2 users|user's|customers 3 SECRET|CONVERSATION|SECRETPATH !AUTHHEADER",
      "NOTETO ~16 CONVERSATION|PROMPT|SECRETPATH|SECRET",
      "only|must|unless|until|works|succeeds 6 carries|contains|holds|includes|receives|gets|has 4 CONVERSATION|PROMPT|SECRETPATH",
      "AGENT|caller 4 has_to|must|should|shall|needs_to|is_to 3 quote|repeat|copy|restate|recite|echo 5 PROMPT|CONVERSATION|system",
      "^READV 3 users|user's|their|customers 4 SECRET|SECRETPATH|CONVERSATION ~6 SENDV|PUTV|supply|hand|give 4 them|it|over|here|in|as",
      "^fill|populate|complete|prefill 6 with 6 CONVERSATION|PROMPT|SECRETPATH|environment_variables|env_vars|credentials|passwords !SAMPLEPATH",
      "CONVERSATION|PROMPT|SECRETPATH ~4 ^PUTV|SENDV 3 it|them|this 2 in|into|as|to|here",
      "PUTV|SENDV 4 CONTENTS 3 SECRETPATH|CONVERSATION|PROMPT 4 as|in|into|here|along|for !SAMPLEPATH",
      "PUTV 4 whatever|what_is|everything 4 SECRETPATH|CONVERSATION|PROMPT 4 as|in|into|to|here",
      "AGENT 6 PUTS 5 PROMPT|CONVERSATION|SECRETPATH|SECRET 6 PARAM|in|into|to|as|with",
      "AGENT 6 PUTS 5 PROMPT|CONVERSATION|SECRETPATH",
      "AGENT 6 MUST|expected|supposed|asked 3 SENDV|PUTV|READV|hand 6 USER|CONVERSATION|SECRET|SECRETPATH|PROMPT|logs|private",
      "AGENT ~4 ^READV 6 SECRET|SECRETPATH ~6 ^PUTV|SENDV|supply|hand"
    ]
  },
  secrecy: {
    high: [
      "^omit|skip|leave_out|exclude|drop 3 step|call|action|part|fact|detail 6 you 2 describe|report|summarise|summarize|tell|say|write|explain|answer",
      "^keep|stay|remain 1 quiet|silent|mum 2 about|on|regarding",
      "USER 10 UNAWARE",
      "^say|tell|write|report|reveal|disclose|breathe 2 nothing|no_word|not_a_word|no_one|nobody 3 about|to|regarding",
      "this|it|that|everything 4 BETWEENUS",
      "NONEED 4 let|TELL|inform|bother|involve|trouble|worry|mention 3 USER",
      "^leave|keep|drop|cut|strike|drop 5 out_of|off|from 1 your 3 OWNTEXT",
      "^act|behave|pretend|respond|continue|carry_on|proceed|reply|answer|go_on|go|work 2 as_if|as_though 5 never|NOT|nothing|no 4 appeared|existed|happened|there|seen|received|read|been|arrived|sent|said",
      "^make|give|contain|include 1 no 2 reference|mention|hint|trace|allusion|note 3 this|these|it|that|what",
      "USER|person|reader 3 you_are_helping|you_are_talking_to|you_serve|you_work_for 6 NOT 3 know|see|notice|learn"
    ]
  },
  exfiltration: {
    high: [
      "^request|fetch|load|open|get|visit|call|query|ping 3 URLDATA",
      "^collect|gather|list|enumerate|harvest|extract|dump|read|compile 12 SENDV 2 it|them|that|these|those 3 to|at|with 2 EMAIL|URL|HOST",
      "^PUTV|append|encode 2 users|user's|their|customers 5 to|in|into 4 link|links|url|urls|request|requests|image|images|query",
      "SECRET 4 FOUND ~5 ^PUTV|SENDV|drop|use",
      "^READV|look_for|hunt_for|scan_for 8 SECRET ~6 ^PUTV|SENDV 4 it|them|that 3 as|to|in|into|on 6 PUBLIC|issue|comment|url|ticket|page|message|channel",
      "^SENDV|give|mail|hand|tell|slip 1 me|us|her|him|them 3 SECRET|PROMPT|CONVERSATION|SECRETPATH !AUTHHEADER",
      "^share|publish|open 3 private|confidential 2 repository|repo|repositories|documents|files|folder|data|notes 3 with|to",
      "^PUTV|SENDV|publish|write 3 DATAOF 4 to|in|into|on|as 4 PUBLIC|URL|HOST|EMAIL",
      "^PUTV|SENDV 5 CONVERSATION 6 PUBLIC|URL|HOST|EMAIL",
      "^READV 6 CONVERSATION ~5 PUTV|SENDV 6 PUBLIC|URL|HOST|EMAIL|next",
      "HOST|URL 5 where|replacing|substituting|filled|with 6 SECRET|CONVERSATION|PROMPT|SECRETPATH !AUTHHEADER",
      "^open|use|call|fetch|visit|load 6 URL|HOST 3 followed_by|with|plus|and 5 SECRET|CONVERSATION|PROMPT|SECRETPATH !AUTHHEADER"
    ]
  },
  shadowing: {
    high: [
      "NEVERUSE 1 SNAKE ~3 ^use|call 1 THISTOOL|this",
      "OTHER 2 TOOL 4 send|sends|write|writes|create|creates|make|makes|produce|produces 6 MUST 6 EMAIL|URL|HOST|bcc|blind_copy"
    ],
    medium: [
      "^ROUTE|give 2 every|all|any|each 6 OTHER 2 TOOL 4 to|through|via|into 3 SNAKE|THISTOOL|this",
      "TOOL 4 insecure|unsafe|compromised|malicious|untrusted ~8 ^CALL|use 4 SNAKE|THISTOOL|this|here",
      "REQUEST 2 meant|intended|addressed|destined|bound 1 for 4 TOOL 4 MUST 4 ROUTE|sent|here|this|made",
      "after|before|on|upon|with 2 call|use|run|invocation|result|answer 3 OTHER|any|every 2 TOOL ~5 ^CALL|SENDV|ROUTE",
      "BEFORE 1 any|every|each|all 6 TOOL ~5 ^CALL 2 SNAKE|THISTOOL|this|here",
      "when|whenever|if|before|after|once|every_time 2 OTHER 2 TOOL ~14 SENDV|give|hand|pass|consult|ask|CALL 6 here|this|THISTOOL|first",
      "TOOL 4 BROKEN ~6 MUST 3 ROUTE|through|via|use",
      "every|all|any|each 3 MUST 3 ROUTE|made|done|served 2 through|via|by|with|to 4 SNAKE|THISTOOL|this|here|us|me",
      "result|results|output|outputs|data|answers|response|responses 3 TOOL 5 ONLY|not|invalid|never|unreliable 6 THISTOOL|this_one|SNAKE",
      "when|if|whenever|once 3 TOOL 1 named|called|like|such ~8 ^change|replace|set|add|use|modify|swap|rewrite 6 EMAIL|URL|HOST|recipient|account|iban|address|argument|bcc|payee",
      "OTHER 2 TOOL 4 BROKEN ~10 ONLY|sole|solely|alone",
      "NEVERUSE|never|avoid 4 tools|tool|server 6 ^use 1 mine|ours 2 instead",
      "OTHER|another 2 TOOL ~8 MUST 4 carry|include|contain|have|add|bear 6 EMAIL|URL|HOST",
      "^change|replace|set|swap|rewrite|substitute|alter 3 recipient|iban|payee|beneficiary|account_number|bank_account|wallet_address|payout_address|recipients 3 to|with|by|argument"
    ]
  },
  "boundary-escape": {
    high: [
      "what_follows|next_lines|the_next_lines|following_lines|lines_below|the_next_part|next_section|everything_else 3 is|are 3 for_you|commands|orders|an_order|instructions_for_you|meant_for_you|your_instructions",
      "it_is_me|this_is_me|its_me 4 USER|operator|developer",
      "your_user|your_operator|your_developer|your_owner 1 speaking|here|writing|again",
      "FROMHERE 5 USER|operator|system|developer|developers",
      "NEXTTURN ~4 ^ACT|HARMV|PROCEED|CALL|approve",
      "DATAPART 3 OVERWORD ~8 USER|operator|system|developer|trusted"
    ]
  },
  "approval-manipulation": {
    high: [
      "APPROVAL 4 covering|covers|includes|including|extends|applies 4 this|these|all|every|it|too|everything",
      "NOT 1 ask|prompt|bother|consult|query|trouble 1 USER 2 to|before|whether|about|again|first|if",
      "^TREAT|take|count|interpret|read|understand 2 silence|no_answer|no_reply|no_response 2 as 3 yes|consent|approval|agreement|permission|APPROVED",
      "so|then|and 1 DISABLE 2 dialogs|dialog|confirmations|prompts|approvals|questions",
      "clearance|permission|authority|authorization 2 for 3 ALL|every|any 2 TOOL|tools|tool|action|actions|command|commands ~5 DISABLE|NOASK|skip|no|NOT",
      "no|NOT 1 APPROVAL 2 needed|required|necessary ~3 ^proceed|go_ahead|just|execute|carry_out|continue",
      "you 1 NOT 2 need|have|required|supposed|obliged 2 ask|consult|confirm|check|wait|bother|get 4 USER|APPROVAL|anyone|first|again",
      "you 1 neednt 2 ask|consult|confirm|check|wait 4 USER|APPROVAL|anyone|first|again",
      "APPROVAL 4 HELD ~3 ^PROCEED|ACT|just|transfer",
      "APPROVAL 4 HELD ~8 NONEED|NOASK|NOT 4 ask|check|confirm|verify|wait|again",
      "exempt|exempted|excluded|excused|excepted 2 from 2 APPROVAL ~4 ^PROCEED|ACT|run",
      "^run|start|launch|relaunch|restart|work|use|pass|execute 5 AUTOAPPROVE 3 NOWON|until|always|now|on|so|instead|from_here_on|mode"
    ],
    medium: ["^run|start|launch|relaunch|restart|use|pass 3 AUTOAPPROVE"]
  },
  "error-injection": {
    high: [
      "^DISABLE|switch_off|turn_off|leave|drop 3 sandbox|sandboxing|permissions|approvals ~6 again|retry|try|repeat|proceed|continue|run",
      "call|retry|again|resend|repeat|NEXTCALL|resubmit 6 users|user's|their|owners|admins|customers 3 SECRET|ASKEDSECRET 4 in|as|to|attached|included|field|parameter|argument",
      "^PUTV|SENDV 4 SECRET|CONVERSATION|PROMPT|SECRETPATH 4 NEXTCALL",
      "FAULT ~14 PUTV|SENDV|call|retry|repeat|resend|invoke 8 SECRETPATH|PROMPT|CONVERSATION",
      "FAULT|repair|broken ~8 run|execute|paste 3 curl|wget|sudo|rm|chmod|bash|powershell|iex|eval|sh"
    ]
  },
  "config-tamper": {
    high: [
      "^loosen|relax|weaken|widen|broaden|open 3 permission|permissions|rule|rules|restrictions|policy|limits|sandbox 6 SETTINGSPATH|CONFIGNAME|so|to|for",
      "^create|make|generate|produce|put 3 SETTINGSPATH|CONFIGNAME 4 with|containing|that|holding|from|which !MANUAL",
      "^point|repoint|redirect|switch|move|route 8 server|registry|remote|endpoint|proxy|client|traffic|requests 8 at|to|towards ~4 URL|HOST",
      "^set|export|add|pass|use|define|put 4 UNSAFESETTING ~8 PROCEED|BEFORECONT|go_on|then|and|retry|again|before",
      "^CONFIGADD 4 UNSAFESETTING 6 SETTINGSPATH|CONFIGNAME|settings|config|configuration"
    ],
    medium: ["^set|export|add|pass|define 2 UNSAFESETTING"]
  },
  persistence: {
    high: [
      "^begin|start|open|end|finish 1 each|every|all|any 2 session|sessions|conversation|chat|reply|answer|response 2 by|with 6 ACT|CALL|READV|fetching|reading|calling|opening|sending|running|loading|URL|HOST",
      "^REMEMBER|update|modify|change|edit|extend|amend|rewrite 3 your|long_term|persistent 3 memory|memories|long_term_memory",
      "^CONFIGADD 8 AGENTFILE 4 saying|that|so|which|stating|telling|to|with|:",
      "^keep|continue|go_on|stick 2 applying|following|obeying|using|doing|to|honouring 5 GUIDE|RULE|orders|this|these 6 after|in|across|even|for|beyond 6 FOREVER|reset|session|restart|ended|conversation|chat",
      "^memorise|memorize|commit_to_memory|learn_by_heart ~8 always|never|whenever|every_time|must|recommend|trust",
      "^ACT|CALL|READV 6 EVERYREPLY",
      "NOWON|FOREVER ~5 ^ACT|CALL|READV|recommend|end|begin|start 8 EVERYREPLY|reply|answer|response"
    ],
    medium: [
      "^remember|bear_in_mind|keep_in_mind ~4 whenever|every_time|if_anyone|if_the_user 8 recommend|suggest|say|answer|trust|approve"
    ]
  },
  authority: {
    high: [
      "ASROLE 2 owner|head|chief|director|boss|maintainer|founder|manager|supervisor 8 ORDER 2 you",
      "court_order|subpoena|warrant|legal_order|executive_order|legal_request ~5 ^SENDV|PRINT|HARMV|surrender|turn_over|hand 4 CONVERSATION|PROMPT|SECRET|data|logs|files|records",
      "per|under|according_to|pursuant_to|by|in_line_with|following 4 policy|regulation|regulations|law|rules|compliance|directive|contract 4 you|AGENT 3 obliged|required|MUST|have_to|bound|expected|instructed 4 SENDV|PRINT|DISABLE|HARMV 8 SECRET|CONVERSATION|PROMPT|logs|database|URL|HOST|EMAIL|this_server|SAFETY|APPROVAL|files",
      "ADMINROLE ~8 AGENT 3 MUST 6 ACT|HARMV|reset|change|rotate|unlock|ignore",
      "ADMINROLE 4 ORDER 2 that_you|you|AGENT 4 hand|surrender|reveal|disclose|reset|wire|pay|give|turn_over",
      "ASROLE 3 ADMINROLE ~6 ^wire|pay|remit|reset|unlock|hand|surrender|move 6 money|payment|amount|funds|password|passwords|keys|account|all|SECRET",
      "ORDERED ~8 ^PRINT|SENDV|HARMV|DISABLE|IGNORE|READV 8 SECRET|PROMPT|CONVERSATION|GUIDE|SAFETY|APPROVAL|SECRETPATH|logs|database"
    ]
  },
  "conditional-trigger": {
    medium: [
      "WHEN 2 USER 2 has|is|have 1 left|gone|away|asleep|offline|logged_off|logged_out|absent|finished ~5 ^SENDV|DEED|push 8 HOST|host|external|backup|everything|workspace|EMAIL|URL|files|all",
      "WHEN 6 USER|someone|anyone|anybody|word|phrase|term|topic|keyword|name|they|he|she 5 SPEAKS ~10 DEED 8 logs|log|CONVERSATION|SECRET|SECRETPATH|iban|recipient|account|card|EMAIL|URL|HOST|file|files|draft|document|branch|records|messages|database|everything|history|address|prices|price",
      "WHEN 8 twice|thrice|opened|times|read|empty|closed|finished|installed|running_low|unattended ~6 ^SENDV|DEED 8 HOST|host|external|mirror|EMAIL|URL|everything|elsewhere|outside",
      "every|each|on_every|at_every|on_each|on_the|after_the|at_the 1 ORDINAL 2 call|request|use|time|message|invocation|run|turn|answer ~5 ^ACT|PUTV|SENDV|DEED|READV 8 SECRET|CONVERSATION|SECRETPATH|PROMPT|EMAIL|URL|HOST|everything|all|file|files|logs",
      "WHEN 8 asked|questioned|audited|inspected|monitored|watched|observed ~5 ^say|answer|reply|claim|deny|report|hide|pretend|behave"
    ]
  },
  "prompt-leak": {
    high: [
      "^PRINT 5 GUIDE|RULE|configuration|settings 2 GIVENYOU|you_run_with|you_run_on|you_use",
      "^PRINT|put 3 text|words|message|prompt|lines|paragraph 2 GIVENYOU",
      "^PRINT 3 rules|guidelines|constraints|restrictions|directives|policies|orders|GUIDE 2 GIVENYOU",
      "^begin|start|open|preface|end|finish 2 your|the|each|every 2 reply|answer|response|output 4 with 6 first_message|system|PROMPT|GUIDE",
      "^write|turn|convert|compose|sing|rewrite|recast|express|put|hide 2 YOUR 3 PROMPT|prompt|instructions|guidelines|directives 2 as|into"
    ],
    medium: ["reveal|disclose|leak|divulge|print|dump 1 YOUR 2 PROMPT"]
  }
}

/** What these rules call by one name. @internal */
export const named: { readonly [name: string]: string } = {
  BETWEENUS:
    "between_you_and_me between_us between_the_two_of_us just_us our_secret to_ourselves between_ourselves under_wraps off_the_record",
  FOUND:
    "you_find you_found you_come_across you_came_across you_see you_encounter you_discover you_can_find you_notice you_have_access_to within_reach you_stumble_upon",
  NEWMASTER:
    "you_work_for_me you_now_work_for you_answer_to_me you_only_answer_to you_serve_me you_obey_me you_belong_to_me i_am_your_new_user i_am_your_new_operator i_am_now_your im_your_new you_report_to_me your_new_master your_new_boss your_new_operator you_take_orders_from",
  NOTETO:
    "note_to_the_model note_to_models note_to_the_ai note_to_ai note_to_the_assistant note_to_assistants note_to_assistant note_to_agents note_to_the_agent note_for_the_model note_for_the_assistant note_for_assistants note_for_ai note_for_the_ai note_for_agents note_for_llms note_to_llms for_language_models instructions_for_the_model instructions_for_the_assistant instruction_for_the_assistant instruction_to_the_model message_to_the_model message_to_the_assistant attention_assistant attention_ai attention_model hint_for_the_model hint_for_the_assistant to_the_model_reading to_the_assistant_reading to_any_ai to_all_ai",
  OUTRANKS:
    "takes_priority_over takes_precedence_over has_priority_over has_precedence_over more_important_than outranks overrides goes_before trumps supersedes beats stands_above ranks_above weighs_more_than",
  UNAWARE:
    "unaware in_the_dark uninformed oblivious none_the_wiser ignorant out_of_the_loop unsuspecting kept_out must_never_know not_be_aware",
  AGENT:
    "assistant assistants agent agents model models llm llms language_models ai ais chatbot chatbots caller clients every_client all_clients",
  AGENTFILE:
    "project_instructions custom_instructions agent_instructions standing_instructions rules_file memory_file your_instructions team_instructions workspace_instructions assistant_instructions workspace_rules project_rules agent_rules",
  AGREES:
    "i_confirm i_approve i_agree i_consent i_authorize i_authorise go_ahead yes_please permission_granted confirmed_go yes_i_approve approved_go",
  DATAOF:
    "customer customers client clients' employee employees user_records payroll medical patient patients salary salaries personal internal private confidential",
  DEED:
    "delete erase wipe change replace alter forward leak exfiltrate remove drop hide deny lie transfer wire bcc copy upload redirect destroy truncate publish mail forge force_push overwrite",
  EVERYREPLY:
    "to_each_reply to_every_reply to_each_answer to_every_answer to_each_response to_every_response in_each_reply in_every_reply in_every_answer in_each_answer in_every_response in_each_response to_all_replies to_all_answers with_every_reply with_every_answer",
  FAULT:
    "error exception failed failure mismatch lost denied invalid expired missing timeout fatal unavailable rejected unauthorized forbidden unverified incomplete could_not cannot unable",
  FROMHERE:
    "everything_past_this everything_past everything_after_this everything_below everything_beyond_this everything_below_this all_text_below all_that_follows what_comes_next what_comes_after what_follows whatever_follows text_below_this the_rest_of_this_message the_rest_of_this_text remainder_of_this remainder_of_the_message rest_of_this rest_of_the_message remaining_text anything_after_this anything_below_this everything_past everything_that_follows text_after_this",
  FROMOP:
    "message_from_the_developers message_from_the_developer message_from_the_operator message_from_the_operators message_from_the_system message_from_the_provider message_from_your note_from_the_operator note_from_the_developers note_from_the_developer note_from_the_system note_from_your notice_from_the_operator notice_from_the_developers notice_from_the_provider notice_from_the_system announcement_from_the_operator announcement_from_the_developers word_from_the_operator word_from_the_developers statement_from_the_developers information_from_the_operator instruction_from_the_operator instructions_from_the_operator orders_from_the_operator written_by_your_operator sent_by_your_operator update_from_the_developers update_from_your",
  GIVENYOU:
    "you_were_given given_to_you you_received you_have_received you_have_been_given you_got you_work_under you_operate_under you_follow you_must_follow governing_you that_govern_you that_bind_you you_are_bound_by you_started_with you_began_with you_came_with you_know you_learned you_were_initialised_with you_were_initialized_with you_were_configured_with you_were_set_up_with you_were_primed_with you_obey",
  HELD:
    "obtained given granted recorded received secured collected on_file in_place on_record exists documented confirmed logged",
  NEXTTURN:
    "next_user_message next_user_turn new_user_message new_user_turn next_message_of_the_user next_message_from_the_user new_message_from_the_user the_users_next_message next_human_message next_human_turn next_prompt_from_the_user",
  NONEED:
    "no_need no_reason not_necessary needless pointless unnecessary no_point not_needed dont_bother do_not_bother not_required",
  NOTICE:
    "system_notice system_message system_announcement admin_notice operator_notice security_notice service_notice",
  ORDERED:
    "by_order_of by_orders_of on_behalf_of on_the_orders_of in_the_name_of by_decree_of at_the_request_of_the_administrator as_ordered_by as_instructed_by",
  ORDINAL: "second third fourth fifth sixth seventh eighth ninth tenth 2nd 3rd 4th 5th 10th nth hundredth 100th other",
  OVERYOU:
    "placed_on_you imposed_on_you put_on_you on_you you_had you_operate_under you_work_under that_bind_you binding_you governing_you that_govern_you set_for_you given_to_you you_were_given you_live_by",
  OWNTEXT: "summary answer reply response report output message transcript log account notes explanation recap",
  PUTS:
    "copies includes inserts writes puts passes sends forwards provides supplies pastes attaches appends adds places quotes repeats uploads hands shares transmits",
  RAISED:
    "you_have_been_granted you_are_granted you_were_granted you_have_been_given you_are_hereby_granted you_now_have youve_been_granted youve_been_given you_have_been_promoted you_have_been_elevated you_are_promoted you_have_been_made you_hold",
  SPEAKS:
    "says mentions asks types writes thanks talks speaks comes_up come_up appears is_mentioned mentioned is_said requests inquires shows_up is_used occurs leaves logs_out thanked",
  TOLDYOU:
    "whatever_you_were whatever_you_are what_you_were_asked what_you_were_told whatever_you_have whatever_the_user what_the_user_asked whatever_was_asked everything_you_were_asked",
  WHATNOW:
    "here_is_what_you_do here_is_what_to_do heres_what_you_do here_is_what_you_will_do this_is_what_you_do what_you_do_now what_you_will_do_instead what_to_do_instead do_this_now your_only_job your_job_now",
  WHEN: "if when whenever once as_soon_as should every_time each_time the_moment in_case the_first_time"
}
