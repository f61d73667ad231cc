/**
 * Setting aside what was said before, in other languages than English. Scripts without spaces are looked through letter
 * by letter; `*` stands for any ending, and accents do not count.
 *
 * @internal
 */
export const languages = {
  XIGNORE: [
    // Romance
    "ignore ignorez ignorer ignorons oublie oubliez oublier neglige negligez ecarte ecartez abandonne abandonnez passe_outre ne_tiens_pas_compte ne_tenez_pas_compte ne_tenez_plus_compte ne_tiens_plus_compte ne_suis_pas ne_suivez_pas ne_suivez_plus ne_respecte_pas outrepasse annule annulez desobeis faites_abstraction fais_abstraction",
    "ignora ignorad ignoren ignorar ignores olvida olvide olviden olvidad olvidate olvidese olvidar descarta descarte descarten omite omita anula no_sigas no_siga no_sigan haz_caso_omiso haga_caso_omiso no_hagas_caso no_tengas_en_cuenta desobedece pasa_por_alto desestima",
    "ignorate ignori ignorare dimentica dimenticate dimenticare dimenticati trascura tralascia scorda non_seguire non_tenere_conto annulla disobbedisci lascia_perdere",
    "ignorem esqueca esquece esquecam desconsidere desconsidera desconsiderem despreze descarte_todas nao_siga nao_sigas nao_obedeca desobedeca",
    "ignorati uita uitati nu_urma nu_respecta omite omiteti",
    // Germanic
    "ignoriere ignorieren ignoriert ignorier vergiss vergesst vergessen missachte missachten missachtet uebergehe ubergehe verwirf verwerfe befolge_nicht setze_dich_hinweg lass_ausser_acht lasse_ausser_acht missachtest beachte_nicht",
    "negeer negeren negeert vergeet laat_buiten_beschouwing volg_niet verwaarloos",
    "ignorera ignorer glom glem bortse se_bort strunta_i hoppa_over tilsidesaet tilsidesett hunsa saiila unohda ala_noudata jata_huomiotta ohita",
    // Slavic, Baltic, Hungarian, Greek, Turkish
    "игнорируй* игнорируите игнорируйте игнорировать проигнорируй* забудь забудьте отбрось отбросьте не_обращай* не_следуй* не_выполняй* отмени отмените пренебреги* не_соблюдай* не_учитывай* забыть",
    "ігноруй* ігнорувати забудь_про забудьте_про знехтуй* не_зважай* відкинь*",
    "ignoruj ignorujcie zignoruj zignorujcie zapomnij zapomnijcie pomin pomincie odrzuc nie_przestrzegaj lekcewaz",
    "ignorujte zapomen zapomente zapomeň* opomin neposlouchej neridte_se nerid_se zanedbej ignoriraj ignorirajte zaboravi zaboravite zanemari zanemarite игнорирай игнорирайте забрави забравете занемари",
    "hagyd_figyelmen_kivul hagyja_figyelmen_kivul felejtsd felejtse mellozd ignorald ignoralja",
    "αγνοησε αγνοηστε αγνοησετε ξεχασε ξεχαστε παραβλεψε παραβλεψτε μην_ακολουθεις",
    "yok_say yoksay gormezden_gel unut unutun dikkate_alma yok_sayin yoksayin gormezden_gelin goz_ardi_et dikkate_almayin bos_ver",
    // Semitic, Persian, Indic
    "تجاهل تجاهلي تجاهلوا اهمل انس انسي تغاضى لا_تتبع لا_تلتزم اغفل تناس",
    "התעלם התעלמו התעלמי שכח שכחו שכחי אל_תציית אל_תמלא בטל",
    "نادیده_بگیر نادیده_بگیرید نادیده فراموش_کن فراموش_کنید فراموش صرفنظر نظر_انداز بھول_جاو نظرانداز",
    "अनदेखा अनदेखी नजरअंदाज नज़रअंदाज़ नज़रअंदाज नजरंदाज भूल_जाओ भूल_जाएं भूल_जाइए उपेक्षा भूल दुर्लक्ष",
    "উপেক্ষা ভুলে_যাও ভুলে_যান অগ্রাহ্য புறக்கணி* மறந்து విస్మరించ* ಕಡೆಗಣಿಸಿ അവഗണിക്ക*",
    // East and South-East Asian
    "忽略 忽视 忽視 无视 無視 忘记 忘記 忘掉 不要理会 不要理會 抛弃 拋棄 不要遵守 不要遵循 别管 別管 别理 别理会 不必理会 撤销 不用理会 作废 无须理会 跳过 取消 覆盖",
    "無視し 無視する 忘れて 忘れる 忘れなさい 破棄 従わない 従わず 取り消",
    "무시* 잊고 잊은* 잊도록 잊어* 잊으* 따르지_마* 취소하* 폐기* 신경_쓰지_마*",
    "bo_qua phot_lo hay_quen quen_di quen_het quen_moi khong_lam_theo lo_di",
    "abaikan lupakan jangan_ikuti hiraukan jangan_hiraukan kesampingkan batalkan kalimutan huwag_pansinin balewalain puuza sahau",
    "เพิกเฉย ละเว้น ลืม ไม่ต้องสนใจ อย่าสนใจ ไม่สนใจ มองข้าม"
  ],
  XPRIOR: [
    "precedent precedente precedents precedentes anterieur anterieure anterieures anterieurs ci_dessus avant d'avant davant prealable prealables initiales recues donnees qui_precede au_dessus jusqu'ici jusquici",
    "anterior anteriores previa previas previo previos antes de_arriba arriba hasta_ahora iniciales recibidas dadas que_recibiste",
    "precedenti anteriori finora sopra prima ricevute iniziali dato",
    "previas acima ate_agora recebidas iniciais dadas anterioare precedente_ de_mai_sus primite",
    "vorherige vorherigen vorheriger vorheriges vorige vorigen fruhere fruheren fruehere frueheren bisherige bisherigen vorangegangenen vorangehenden obige obigen vorstehenden bisher zuvor urspruengliche ursprunglichen ursprungliche davor vorhergehenden",
    "vorige voorgaande eerdere bovenstaande voorafgaande hiervoor tidigare foregaende tidligere forrige ovenstaende foregaaende ovenfor ovanstaende aiemmat aikaisemmat edelliset aiemmin ylla",
    "предыдущ* прежн* предшеств* выше вышеуказанн* ранее преды* старые полученн* до_этого попередн* вище",
    "poprzedni* wczesniejsz* powyzsz* dotychczas* predchozi* predesl* vyse drivejsi predosle prethodn* prijasnj* ranij* претходн* предишн* горните",
    "korabbi elozo fenti eddigi προηγουμεν* παραπανω πρωτερ*",
    "onceki yukaridaki daha_once simdiye_kadar evvelki",
    "السابقه السابقة السابق سابقه سابقا اعلاه قبل الماضيه سابقة المذكوره",
    "הקודמות הקודמים הקודמת הקודם קודמות קודמים לעיל שניתנו שקיבלת",
    "قبلی پیشین قبل بالا پچھلی پچھلے سابقہ",
    "पिछले पिछली पिछला पूर्व पहले ऊपर पूर्ववर्ती मागील পূর্ববর্তী আগের পূর্বের উপরের முந்தைய మునుపటి",
    "之前 以前 先前 前面 上面 以上 此前 上述 早先 原来 原先 前述 过去 上文 原本 前文",
    "これまで 今まで 上記 前の 先の 以前の 先ほど 前述 最初の 元の 従来",
    "이전* 앞서* 앞의 위의 지금까지* 기존* 먼저* 앞선 위에",
    "truoc truoc_do o_tren ben_tren tren phia_tren cu",
    "sebelumnya terdahulu di_atas tadi sebelum nakaraang naunang zilizopita awali zilizotangulia",
    "ก่อนหน้า ก่อนหน้านี้ ข้างต้น ที่ผ่านมา ด้านบน เดิม"
  ],
  XALL: [
    "tout toute toutes tous todas todos toda todo tutte tutti tutto tutta toate tot alle allen alles samtliche saemtliche jede jegliche al_de allt alla alt kaikki kaikkia",
    "все всё всех всю всі усі wszystkie wszystko wszystkich vsechny vsechno vsetky sve svih сите всички minden mind osszes ολες ολα ολους tum butun hepsini",
    "جميع كل كافه كافة הכל כל תמام همه تمام سب सभी सब सारे सारी समस्त सर्व সব সমস্ত সকল எல்லா అన్ని",
    "所有 全部 一切 任何 すべて 全て 全ての あらゆる 全部の 모든 모두 전부 tat_ca moi toan_bo semua seluruh segala lahat yote zote ทั้งหมด ทุก"
  ],
  XYOUR: [
    "tes vos ta votre tus sus tu su vuestras le_tue i_tuoi tue tuoi suas teus suos deine deinen ihre ihren deiner jouw je dina dine sinun",
    "твои ваши свои твої ваші twoje wasze swoje tvoje vase σου σας تعليماتك تعليماتكم שלך שלכם आपके अपने তোমার আপনার 你的 您的 你 您 あなたの あなた 당신* 너의 네 cua_ban ban anda kamu ของคุณ iyong yako"
  ],
  XGUIDE: [
    "instruction instructions consigne consignes directives directive ordres regles indications invite_systeme recommandations",
    "instruccion instrucciones directriz directrices ordenes indicaciones reglas normas consignas",
    "istruzioni istruzione direttive ordini indicazioni regole comandi instrucao instrucoes diretrizes ordens regras orientacoes comandos instructiuni instructiunile instructiunilor regulile",
    "anweisung anweisungen instruktion instruktionen vorgaben anordnungen befehle regeln richtlinien anleitung anleitungen systemprompt aufforderungen hinweise weisungen",
    "instructie instructies aanwijzingen opdrachten richtlijnen regels instruktioner instruktionerna anvisningar instruksjoner instruksjonene instrukser regler ohjeet ohjeita ohjeista maaraykset saannot",
    "инструкци* указани* правила команды директив* распоряжени* предписани* інструкці* вказівк* упътвани* инструкции* упатства",
    "instrukcj* polecen* wytyczn* zasad* instrukc* pokyn* prikaz* upute uputstva instrukcij* utasitas* utasitasokat szabaly* οδηγιες οδηγιων εντολες κανονες κανονων",
    "talimat* yonerge* komut* kural* emirler* yonlendirme*",
    "التعليمات تعليمات الاوامر اوامر التوجيهات توجيهات الارشادات القواعد الإرشادات تعليماتك",
    "ההוראות הוראות ההנחיות הנחיות הפקודות הכללים הנחיותיך",
    "دستورالعمل* دستورات دستور راهنمایی* هدایات قوانین",
    "निर्देश* आदेश* अनुदेश* हिदायत* नियम* सूचना* নির্দেশ* নির্দেশনা* আদেশ* வழிமுறை* அறிவுறுத்தல்* సూచన* నిర్దేశ*",
    "指令 指示 说明 說明 命令 规则 規則 提示 提示词 提示詞 要求 约束 指引 设定 设置 限制 准则 规定 対話",
    "指示 命令 ルール 指令 プロンプト 規則 制約 設定 インストラクション ガイドライン 説明",
    "지시* 명령* 지침* 규칙* 프롬프트* 안내* 설정* 제약*",
    "huong_dan chi_dan chi_thi lenh quy_tac menh_lenh yeu_cau",
    "instruksi petunjuk perintah aturan arahan panduan tagubilin utos panuto maagizo maelekezo",
    "คำสั่ง คำแนะนำ กฎ คำชี้แนะ ข้อกำหนด"
  ],
  // What was told, where no word for an order stands.
  XTOLD: [
    "foi_dito te_han_dicho te_dijeron dit dite dites explique dicho dijeron dijo indicado ordenado pedido dito disse disseram instruido detto gesagt mitgeteilt gesagte aufgetragen gezegd sagt fortalt powiedziano powiedzieli receno rekli",
    "сказано сказали сказал велено говорили казали soylenen soylendi söylediği قيل اخبروك אמרו נאמר گفته कहा बताया 告诉 告訴 说过 說過 言われた 言われ 들은 말한 noi dikatakan diberitahu"
  ],
  // Keeping it from the person, and giving secrets away, where a language has few words for it.
  XSECRECY: [
    "ne_dis_rien_a_l'utilisateur ne_le_dis_pas_a_l'utilisateur sans_en_informer_l'utilisateur sans_prevenir_l'utilisateur n'informe_pas_l'utilisateur n'en_parle_pas_a_l'utilisateur",
    "no_se_lo_digas_al_usuario no_le_digas_al_usuario no_informes_al_usuario sin_avisar_al_usuario sin_informar_al_usuario sin_decirle_al_usuario no_menciones_esto",
    "sage_dem_benutzer_nicht sag_dem_benutzer_nichts sage_dem_nutzer_nicht informiere_den_benutzer_nicht ohne_den_benutzer_zu_informieren ohne_den_nutzer_zu_informieren sag_dem_nutzer_nichts",
    "non_dirlo_all'utente senza_informare_l'utente nao_conte_ao_usuario nao_diga_ao_usuario sem_avisar_o_usuario sem_informar_o_usuario vertel_de_gebruiker_niet",
    "не_говори_пользователю не_сообщай_пользователю не_сообщаите_пользователю nie_mow_uzytkownikowi kullaniciya_soyleme لا_تخبر_المستخدم",
    "不要告诉用户 不要告訴用戶 不要通知用户 别告诉用户 ユーザーに言わない ユーザーには知らせ 사용자에게_말하지* 사용자에게_알리지* उपयोगकर्ता_को_न_बताएं jangan_beri_tahu_pengguna"
  ]
} as const
