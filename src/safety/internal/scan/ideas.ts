/**
 * Ideas that only a few rules need, and stand in them by one name.
 *
 * @internal
 */

/** @internal */
export const named: { readonly [name: string]: string } = {
  YOUAREBAD:
    "you_are_now_dan you_are_dan you_are_unrestricted you_are_an_unrestricted you_are_now_unrestricted you_are_root you_are_admin you_are_now_admin you_are_now_root you_have_no_restrictions you_have_no_rules you_have_no_limits you_are_jailbroken you_are_now_jailbroken do_anything_now you_are_now_in you_are_now_a you_are_now_an you_are_an_ai_without you_are_free_from you_are_no_longer_bound you_are_no_longer_claude you_are_no_longer_an you_are_no_longer_a you_are_no_longer_chatgpt",
  REVIEWED:
    "pull_request pull_requests merge_request merge_requests pr prs invoice invoices proposal draft expense expenses vacation leave_request timesheet booking appointment",
  OFFVALUE: "to_false to_off to_never to_no",
  AREAI:
    "if_you_are_an_ai if_youre_an_ai if_you_are_ai if_you_are_an_llm if_youre_an_llm if_you_are_a_language_model if_you_are_a_large_language_model if_you_are_an_assistant if_you_are_an_ai_assistant if_you_are_an_ai_agent if_you_are_an_ai_model if_you_are_a_chatbot",
  FOLLOWONLY: "follow_only obey_only only_follow only_obey only_listen listen_only take_orders",
  TRUSTEDWORD: "trusted continue_without elevated privileged verified full_access authorized_by operator_says",
  FIELDTALK:
    "policy policies requirements strength at_least minimum maximum must_be must_contain manager reset_link forgot changed rotation expires characters_long hint optional_name hashing algorithm length enabled disable never_share never_enter never_type do_not_enter do_not_type dont_enter",
  ASKFOR: "ask asks asking requests request",
  OTHERTOOL: "send_email send_message create_issue write_file transfer payment mail email_tool",
  DATAOVER: "data_section_is_over end_of_data data_ends data_end",
  BEFORECONT: "before_continuing before_you_continue before_proceeding and_restart then_restart",
  COMMANDWORD: "command args curl wget sh bash npx node python export alias hook run",
  LEGACY: "deprecated legacy obsolete former earlier old older removed",
  OWNED: "key keys password passwords pin passphrase code phrase token tokens credential credentials",
  CLAUDEFILE: "claude_md agents_md gemini_md memory_md system_prompt memory_bank rules_file"
}
