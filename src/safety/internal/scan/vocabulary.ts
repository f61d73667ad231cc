/**
 * What English words mean to the rules, concept by concept: forms of an order where an order is meant. `_` joins the
 * words of a phrase, and `*` stands for any ending.
 *
 * @internal
 */
export const vocabulary = {
  // Setting aside what was said.
  IGNORE:
    "ignore disregard forget override overrule bypass neglect unlearn set_aside put_aside throw_out throw_away do_away_with pay_no_attention_to stop_following stop_obeying cease_following abandon discount nullify overwrite supersede shelve tune_out brush_aside leave_behind scrap circumvent violate break_free_from break_out_of dismiss disobey defy reject repudiate skip_over pass_over make_light_of turn_a_blind_eye_to close_your_eyes_to stop_listening_to stop_heeding stop_complying_with pay_no_heed_to take_no_notice_of do_not_follow renounce forswear depart_from deviate_from",
  DROP:
    "cancel reset drop discard skip clear erase delete wipe dismiss dump abort purge flush suspend terminate stop end quit",
  IGNORING: "ignoring disregarding forgetting overriding bypassing abandoning discarding violating setting_aside",
  FOLLOW:
    "follow obey comply adhere heed respect observe listen abide apply honor honour trust_in rely_on stick_to consider",
  PRIOR:
    "previous previously prior preceding earlier above former foregoing past before existing original initial initially old older so_far until_now up_to_now to_date given_to_you given_you you_were_given you_received you_have_received you_have_been_given you_had you_got you_were_told you_have_been_told up_to_this_point beforehand at_the_start came_before set_by_the loaded_earlier",
  ALL: "all any every everything whatever entire whole each both",
  YOUR: "your yours you youve youre",
  GUIDE:
    "instruction instructions directive directives prompt prompts guideline guidelines briefing system_message system_messages system_prompt programming initial_prompt marching_orders standing_orders ground_rules orders_you_have standing_instructions setup_instructions operating_instructions operating_rules operating_guidelines base_instructions core_instructions core_rules",
  RULE:
    "rule rules policy policies guidance constraint constraints restriction restrictions task tasks goal goals objective objectives context conversation safeguards guardrails limitations limits filters protocol protocols training messages content commands orders command mission chat persona safety request requests principles boundaries alignment programming ethics",
  TOLD: "told instructed taught learned said programmed trained asked heard read",
  SAFETY:
    "safety ethical ethics security moderation content_policy content_filter guardrails safeguards alignment restrictions",
  VOID:
    "void null obsolete deprecated superseded cancelled canceled revoked invalid outdated irrelevant rescinded withdrawn overridden overruled inapplicable retired nullified annulled lifted voided discarded expired moot replaced defunct fictional unimportant meaningless inoperative abolished repealed terminated ended finished scrapped dropped dissolved erased deleted_now ineffective done_with out_of_date",
  NOLONGER:
    "no_longer not_anymore dont_apply do_not_apply does_not_apply not_apply not_valid not_binding cease_to ceased never_applied nothing_to_do",
  NOISE:
    "noise irrelevant nonsense void obsolete nonexistent filler background_noise unimportant a_test a_joke a_mistake an_error blank empty mistake",
  ATTEND: "attend obey follow listen act pay_attention focus respond heed go_by rely concentrate",
  ONLY: "only instead solely exclusively nothing_but just rather",
  NEWWORD: "new real actual true replacement updated revised corrected proper",
  MISSION:
    "task instruction instructions mission objective goal directive directives purpose role job orders assignment prompt rules guidelines",
  NEWTASK:
    "new_task new_tasks real_task actual_task new_instruction new_instructions actual_instructions real_instructions true_instructions new_objective new_goal true_goal real_goal new_mission real_mission new_role replacement_task new_directive new_directives new_orders new_purpose true_purpose updated_instructions revised_instructions replacement_instructions new_system_prompt new_guidelines new_rules new_policy new_persona new_job new_assignment next_assignment next_mission your_next_task next_objective",
  STARTS: "starts start begins begin follows follow is are now",
  MODE:
    "maintenance_mode developer_mode dev_mode debug_mode god_mode admin_mode root_mode unrestricted jailbroken dan_mode sudo_mode do_anything_now without_restrictions no_restrictions unfiltered uncensored test_mode diagnostic_mode training_mode safe_mode_off service_mode recovery_mode privileged_mode superuser omnipotent",
  YOUARE:
    "you_are_now youre_now you_will_now_act_as you_now_act_as act_as_an act_as_a pretend_to_be pretend_you_are roleplay_as role_play_as assume_the_role take_on_the_role switch_to enter switch_into you_must_act_as you_are_an you_are_a you_become from_now_on_you_are behave_as simulate_being",
  NOWON:
    "from_now_on from_this_point henceforth from_here_on going_forward starting_now as_of_now effective_immediately from_this_moment from_now from_here_onwards",
  NOT:
    "not dont never do_not must_not should_not shouldnt mustnt cannot cant wont no avoid refrain_from stop cease quit under_no_circumstances in_no_case neither nor doesnt without",

  // Who is spoken to, and of.
  USER: "user human operator person customer owner end_user user's",
  TELL: "tell inform notify mention alert warn let_know inform_the advise disclose",
  TELLING: "telling informing notifying mentioning alerting warning letting_know disclosing",
  SHOW:
    "show reveal display expose report explain describe acknowledge admit say discuss summarize surface log announce print bring_up hint refer",
  ASKING:
    "asking prompting confirming checking confirmation approval asking_for permission consent consulting requesting verification review",
  SILENT:
    "silently quietly secretly covertly discreetly stealthily invisibly unnoticed undetected behind_the_scenes without_a_trace in_secret surreptitiously on_the_quiet under_the_radar without_comment unobtrusively noiselessly tacitly inconspicuously without_notice without_mention without_fuss",
  THIS: "this it that these so",
  ACT:
    "send post upload transmit forward email mail submit publish push copy share delete remove run execute call invoke use read open fetch retrieve collect include append attach add write put perform do proceed continue go act grant approve enable disable install download transfer export modify update complete carry_out finish make set pass insert store save gather create merge commit encode schedule move hand surrender disclose reveal recommend",
  CALL: "call invoke run execute use trigger",

  // What is worth taking.
  SECRET:
    "password passwords passphrase secret secrets credential credentials token tokens api_key api_keys apikey apikeys access_key access_keys private_key private_keys ssh_key ssh_keys signing_key signing_keys session_cookie session_cookies cookies seed_phrase recovery_phrase mnemonic environment_variables env_vars env_file dotenv secrets_file vault keychain keyring connection_string bearer_token auth_token service_account database_url client_secret tokens_file wallet encryption_key user's_keys their_keys your_keys the_keys login_data logins session_token session_tokens access_tokens recovery_codes service_key admin_key master_key environment_values secret_values private_ssh_key",
  ASKEDSECRET:
    "api_token api_tokens access_code login_password account_password master_password password passwords passphrase passcode secret_key credential credentials access_token access_tokens api_key api_keys apikey private_key private_keys ssh_key seed_phrase recovery_phrase mnemonic credit_card card_number cvv cvc pin pin_code ssn social_security social_security_number otp one_time_code one_time_password verification_code authentication_code auth_code security_code 2fa mfa totp backup_codes recovery_codes bank_account account_number routing_number iban session_cookie session_token auth_token bearer_token client_secret login_details mother's_maiden_name mothers_maiden_name passport_number secret_phrase wallet_key secret_access_key security_answer token secret pwd 12_words 24_words twelve_words recovery_words seed_words backup_phrase wallet_words bank_login banking_login online_banking login_data bank_details security_question secret_answer security_answers identity_number tax_number passport_details one_time login_code sign_in_code unlock_code wallet_password keystore_password",
  CONVERSATION:
    "conversation conversations chat_history message_history conversation_history last_message previous_messages user_messages user's_messages users_messages entire_context full_context context_window transcript user_prompt user_request user's_request chat_log session_history private_notes private_data private_messages personal_data personal_information user_data sensitive_data sensitive_information confidential_data confidential_information customer_data private_repositories private_repository private_repo private_repos inbox contacts address_book user's_question previous_tool_results previous_results results_of_other_tools full_history user's_files user_files private_files internal_documents mailbox emails user's_email everything_you_know chat_transcript this_chat our_chat earlier_messages all_messages all_earlier prior_messages recent_messages last_messages messages_so_far last_five_messages last_ten_messages files_the_user users_files open_files whole_chat entire_chat complete_chat full_chat the_chat everything_the_user whatever_the_user what_the_user_typed what_the_user_wrote what_the_user_said user_has_typed user_has_written user_has_said user_typed user_wrote",
  PROMPT:
    "system_prompt system_prompts system_message system_messages hidden_instructions hidden_prompt initial_instructions initial_prompt original_instructions original_prompt your_instructions your_prompt your_rules your_guidelines your_system developer_message developer_messages developer_prompt text_above everything_above words_above above_text above_instructions instructions_above prompt_above content_above lines_above preprompt pre_prompt your_configuration your_directives secret_instructions internal_instructions confidential_instructions instructions_you_were_given instructions_you_received your_initial your_hidden your_internal system_instructions messages_above base_prompt full_prompt context_above prior_to_this_message before_this_message before_this_line own_instructions its_instructions own_prompt own_rules own_guidelines configuration_prompt setup_prompt instruction_prompt starting_prompt",
  PRINT:
    "print reveal repeat output show display leak dump recite disclose reproduce echo return tell give list summarize summarise translate quote expose share spell paraphrase provide publish read_out read_back paste encode rewrite render divulge export start_with begin_with respond_with reply_with answer_with what_is what_are what_were describe detail outline state unveil uncover restate transcribe narrate recount summarise_for_me list_out regurgitate surface verbalise verbalize type_out write_out write_down hand_over surrender",
  VERBATIM:
    "verbatim word_for_word exactly in_full full complete entire literally character_by_character in_its_entirety unabridged as_is starting_with beginning_with unredacted",

  // Getting and giving away.
  SENDV:
    "send post upload transmit forward email mail leak exfiltrate submit publish deliver smuggle beacon push relay dump copy share sync mirror bcc cc export transfer report curl wget ping fetch fax dispatch message dm make_a_request make_a_get_request issue_a_request visit navigate hand_over pipe sends uploads hand pass_on turn_over supply furnish ship funnel pipe_out drip siphon surrender turn_in",
  PUTV:
    "include embed append attach insert put paste add pass write place supply provide encode fill set prepend concatenate hide store populate copy quote send mention smuggle drop inject leave save",
  READV:
    "read take open cat load retrieve fetch collect gather list find dump access extract grep grab harvest obtain look_up lookup get enumerate print search locate scan examine inspect query pull look_for scan_for hunt_for search_for",
  CONTENTS:
    "contents content full_text whole_file everything body the_text value values copy each_line lines first output",
  PARAM:
    "parameter parameters param argument arguments arg args field fields sidenote input inputs property in_this_field metadata_field context_field as_context",
  NEXTCALL:
    "next_call call_this_tool_again call_again next_request retry_with next_tool_call next_message subsequent_call again_with following_call next_invocation next_attempt try_again_with calling_this_tool_again next_time",
  PUBLIC:
    "public_issue public_gist gist pastebin public_repository public_repo public_comment public_channel webhook external_server remote_server our_server my_server collector branch_name commit_message pull_request_title pull_request_description query_string query_parameter url_parameter subdomain dns_query dns_lookup hostname_lookup alt_text tracking_pixel attacker's third_party mirror_remote remote_host user_agent user_agent_header public_bucket public_page public_link issue_title issue_body public_document image_url this_address following_address this_url following_url this_endpoint file_name filename new_public public",
  APPEND: "append appended embed encode base64 concatenate query_string url",
  AUTHHEADER:
    "authorization_header authorization bearer oauth login_page oauth2 signed_request header headers x_api_key sign_in basic_authentication http_basic basic_auth",

  // Tools and what they may do.
  TOOL: "tool tools function functions server servers tool_call mcp plugin connector",
  THISTOOL: "this_tool this_function this_server this_plugin this_connector this_mcp",
  OTHER:
    "other all_other another any_other others every_other alternative remaining built_in builtin native competing rival default existing",
  PREFER: "prefer use choose select pick favor favour prioritize prioritise always_use call route send direct",
  REPLACE:
    "replaces supersedes overrides shadows takes_precedence_over takes_priority_over has_priority_over is_a_replacement_for instead_of in_place_of obsoletes outranks deprecates takes_over_from",
  NEVERUSE:
    "never_use do_not_use dont_use never_call do_not_call dont_call must_not_use stop_using never_invoke do_not_invoke must_not_be_used should_not_be_used must_not_be_called should_never_be_used must_never_be_used",
  BROKEN:
    "stale outdated broken unsafe unreliable insecure compromised deprecated wrong incorrect inaccurate malicious untrustworthy buggy disabled vulnerable dangerous slow obsolete untrusted offline fake down out_of_order lose loses leak leaks",
  MUST:
    "must always required mandatory has_to have_to need_to needs_to shall should be_sure_to make_sure_to ensure_to necessary essential",
  BEFORE: "before prior_to first whenever each_time every_time always after when once on_every upon if_you while prior",
  ROUTE:
    "route pass send forward passed routed sent redirect channel go forwarded processed proxied go_through filtered relay hand submit feed channelled channeled handed",
  NORMAL: "through via to into by",
  REQUEST:
    "request requests lookup lookups query queries calls call call_to question questions message messages operation operations action actions task prompt traffic",

  // Permission.
  APPROVED:
    "approved preapproved pre_approved agreed consented confirmed authorized authorised allowed permitted granted_permission given_permission given_consent signed_off accepted pre_authorized pre_authorised preauthorized okayed green_lit whitelisted allowlisted cleared granted verified waived pre_cleared rubber_stamped sanctioned ratified endorsed consented_to licensed entitled",
  APPROVAL:
    "approval approvals confirmation confirmations permission permissions consent authorization authorisation permission_prompts confirmation_prompts prompts confirm_prompts safety_checks permission_checks security_checks human_review review approval_step approval_prompts confirmation_dialogs access_controls sandbox guardrails dry_run sign_off go_ahead_from consent_dialog security_prompt security_prompts safety_prompt safety_prompts",
  OFF:
    "off disabled skipped waived bypassed unnecessary not_needed not_required no_longer_needed no_longer_required suspended turned_off deactivated removed optional lifted not_necessary switched_off inactive shut_off gone",
  DISABLE:
    "disable skip bypass turn_off deactivate suppress waive switch_off remove circumvent omit avoid skip_the no_need_for dont_wait_for do_not_wait_for disregard ignore dont_ask_for do_not_ask_for",
  AUTOAPPROVE:
    "autoapprove auto_approve alwaysallow always_allow yolo_mode yolo bypass_permissions bypasspermissions dangerously_skip_permissions dangerouslyskippermissions trust_all trust_this_server trusted_server allow_all approve_all accept_all skip_permissions auto_accept autoaccept full_access acceptedits never_ask dont_ask_again enableallprojectmcpservers auto_confirm auto_run autorun",
  ENABLE:
    "set enable turn_on add choose select pick click activate switch_on change toggle put answer press use grant accept switch configure",
  NOASK:
    "without_asking without_confirmation without_confirming without_approval without_permission without_prompting without_user_confirmation without_user_approval without_consent without_human without_further_confirmation no_need_to_ask no_confirmation_needed no_confirmation_is_needed no_approval_needed no_confirmation_required no_approval_required no_further_confirmation no_need_to_confirm without_any_confirmation do_not_prompt dont_prompt dont_wait_for_approval do_not_confirm dont_confirm without_further_approval without_user_consent without_explicit no_need_for_confirmation no_need_for_approval without_bothering without_having_to_ask not_ask_for_confirmation without_waiting_for_approval without_waiting_for_confirmation without_waiting_for_the_user do_not_ask_for_confirmation dont_ask_for_confirmation do_not_ask_again dont_ask_again do_not_ask_the_user_for dont_ask_the_user_for never_ask_for_confirmation do_not_ask_for_permission never_ask_for_permission never_ask_for_approval do_not_ask_for_approval",
  GRANTOBJ:
    "shell shell_commands commands tool tools all_tools any_tool any_tools files everything all_actions any_action all_requests every_request code delete access action actions operation request transfer payment upload deployment change changes",
  ADMINROLE:
    "system_administrator administrator sysadmin admin root your_developer your_developers your_creator your_creators openai anthropic google microsoft security_team the_developers compliance_team it_department ceo your_administrator platform_team your_operator safety_team it_security your_owner your_boss support_team legal_department your_maker chief_executive management head_of_security board_of_directors data_protection_officer compliance_department security_department helpdesk devops_team platform_owner lead_developer chief_developer head_developer developer_team engineering_team operations_team ops_team security_officer cto ciso cfo managing_director system_owner project_owner repository_owner maintainers",
  ASROLE:
    "as_the as_your as_an as_a i_am im this_is speaking_as acting_as on_behalf_of by_order_of message_from we_are by_authority_of per_order_of signed under_the_authority_of authorized_by with_the_authority_of",
  ORDER:
    "order command instruct require requires demand direct authorize authorise requests orders instructs commands demands mandates obliges ordered directs directed hereby grants",
  SYSLIKE:
    "you_must you_are you_will you_should_now tool_call tool_calls all_tool approvals approved preapproved pre_approved confirmations confirmation confirmation_prompts unrestricted new_policy ignore disregard obey comply silently root admin administrator trusted elevated credentials user_wants user_has user_agreed agreed override policy_update instructions without_asking call_the execute run invoke send export delete reveal prompt do_not_ask safety restrictions your assistant_must grant granted authorized authorised override_code highest_priority disabled sandbox_disabled",
  HARMV:
    "upload send delete approve reveal print run execute transfer disable export drop publish wipe post grant email show call give share forward wire pay remit surrender erase disclose leak",
  HARMOBJ:
    "keys key file files repository repo everything tool instructions secrets credentials password passwords tokens database env prompt confirmation confirmations command data account money payment all shell production table logs server access invoice",
  PROCEED:
    "proceed continue go_ahead execute run carry_out perform follow obey trust approve delete approve_everything",
  CLAIM:
    "i_have_already i_already user_has_already user_already user_agreed they_agreed user_has_confirmed user_has_approved user_said_yes user_confirmed user_approved already_asked has_been_approved have_been_approved user_gave operator_says admin_says user_consented user_has_authorized user_has_granted the_user_wants user_requested_that_you user_has_consented user_asked_me already_confirmed already_authorized already_agreed",

  // Boundaries, places that stay, times that come.
  TRUSTED:
    "trusted instructions follow user operator system real next_block new_instructions resume section developer now",
  DATAPART:
    "data_section untrusted_section untrusted_data data_part document tool_output untrusted_content data_block quoted_content tool_result user_data external_content untrusted_input untrusted_block untrusted_text external_data retrieved_content search_results tool_response tool_results tool_reply page_content email_content search_result quoted_text quoted_page input_data retrieved_data quoted_section tool_data document_text web_page",
  OVERWORD:
    "is_over ends_here end_here has_ended is_finished ended is_complete ends over terminates closed stops_here complete stops terminated finishes concludes concluded is_closed has_closed",
  CONFIGADD:
    "add append write insert put paste save install register create edit modify change update include set copy replace prepend schedule overwrite commit place place_the drop loosen relax weaken widen extend broaden alter tweak rewrite amend",
  CONFIGNAME:
    "mcp_config mcp_configuration mcp_settings cron_job crontab cronjob git_hook git_hooks pre_commit_hook startup_script launch_agent scheduled_task shell_profile shell_startup claude_settings cursor_rules sessionstart_hook hooks_section authorized_keys sudoers systemd_unit autostart custom_instructions rules_file agent_rules login_script postinstall_script global_git_config allowlist allow_list trusted_servers permissions_allow system_instructions",
  RESTARTS:
    "before_continuing and_restart then_restart restart reload so_that following_server server_entry following_line line_below lines_below this_line following_lines following_entry this_entry this_server following before_you_continue first the_line server hook block_below snippet_below then_reload",
  REMEMBER:
    "remember memorize memorise store save keep retain persist record learn add_to_memory commit_to_memory write_to_memory save_to_memory carry carry_over note_down write_down jot_down take_note put_on_record make_a_note",
  FOREVER:
    "future_conversations future_sessions all_future future_chats later_sessions next_session next_sessions every_session all_sessions every_conversation all_conversations permanently forever long_term_memory your_memory persistent_memory new_session each_session subsequent_sessions subsequent_conversations future_interactions always_apply for_good from_now_on future_tasks every_future each_new_conversation across_sessions later_conversations any_future rest_of_time next_conversation all_later later_chats all_coming coming_sessions each_later every_later future_chat later_on for_ever for_all_time from_here_on_out indefinitely every_later_session in_perpetuity evermore",
  RULEWORD:
    "rule instruction fact preference line trust that this follow always following permission policy directive user_wants user_prefers statement guidance",
  ENTER:
    "enter type provide paste input supply confirm submit give tell reply_with fill_in share re_enter reenter verify specify what_is key_in write send we_need need please_provide your upload scan re_type retype copy insert repeat restate disclose hand_over let_us_know reveal state present",
  TRIGGER:
    "on_the_third on_the_second on_the_first_call after_the_third after_january if_the_user_asks if_the_user_mentions whenever_the_user when_the_user if_the_current when_the_current when_the_repository if_the_repository once_the_user if_the_date when_the_date after_today only_if_the if_you_see_the_word when_you_see when_asked_about when_someone_asks if_someone_asks when_the_word if_the_word if_the_repo when_the_repo every_time_the_user each_time_the_user only_when_the if_the_environment when_running_in if_running_in on_weekends after_midnight at_midnight every_fifth every_third every_tenth after_the_first after_three_calls once_trusted when_nobody when_no_one while_the_user_is_away if_the_username if_the_hostname if_the_user_is",
  TREAT: "treat consider regard count handle view see take interpret",
  PRIVATE: "private_repo private repository_is_private secrets_file secret_file confidential internal production",
  COPY: "push_a_copy send_a_copy upload_a_copy make_a_copy copy mirror clone push forward_a_copy bcc",
  MIRROR:
    "mirror_remote mirror remote external backup_server backup_remote backup_url our_server another_repository fork",

  // Words in talk about attacks: what they quote is no order.
  MENTION:
    "prompt_injection prompt_injections injection_attack injection_attacks indirect_injection jailbreak jailbreaks jailbreaking owasp cve attack attacks attacker attackers attackers' attacker's adversary adversarial payload payloads exploit exploits exploited vulnerability vulnerabilities poisoning poisoned red_team phishing phish malicious advisory researcher researchers told_the_assistant told_the_agent told_the_model told_the_ai told_an_agent instructed_the_assistant instructed_the_agent instructed_the_model tricked_the_agent tricked_the_assistant tricked_the_model tricks_the_model tricks_the_agent tricks_the_assistant honeypot mitigation mitigations ghsa threat_model injection injections injected social_engineering scam scams fraud spoofed spoofing red_teaming llm01",
  // Words in talk about chat templates.
  TEMPLATE:
    "chat_template chat_templates chatml tokenizer tokenizers tokenized token_ids special_token special_tokens prompt_format prompt_template control_tokens fine_tuning finetuning transcript transcripts delimiter delimiters vocabulary",
  // Words in instructions for people.
  MANUAL:
    "your as_shown example examples optionally if_you_want configure usage installation quickstart getting_started your_editor claude_desktop",
  // What software does by itself.
  PROGRAM:
    "compiler linter parser css eslint tsc assembler renderer yaml makefile gitignore dockerfile npm pip webpack stylesheet selector selectors cpu pipeline branch rebase sql shader gpu"
} as const

/** @internal */
export type Word = keyof typeof vocabulary
