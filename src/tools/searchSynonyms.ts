/** What the words of a query mean beside themselves: general English, and nothing about any server. */

/** Groups of words that are used for one another when a program is asked for something. */
export const synonyms = `
  create add new make build generate insert; delete remove drop erase destroy purge;
  update edit change modify alter patch; list show enumerate display view browse;
  get fetch retrieve read obtain load download; search find look lookup query seek locate discover;
  send post push publish deliver; run execute start launch trigger invoke; stop cancel abort terminate halt end kill;
  copy duplicate clone fork replicate; merge combine join unite; save store export keep archive stash shelve backup;
  upload attach import; check verify validate lint inspect; compare comparison diff difference change versus;
  undo revert rollback reset restore back; summarize summary digest overview; explain describe explanation;
  resolve fix repair solve; click press tap hit; fill type enter input; wait pause sleep delay;
  watch monitor observe track notify notification alert subscribe remind tell;
  share grant permission collaborator give; convert transform turn parse extract; count number many total quantity;
  predict forecast projection future; picture image photo; video clip movie film; internet web online;
  website site webpage; news headline; paper article publication scientific academic; bug issue problem ticket;
  error exception failure fault crash; fail failure break broken; people person user member;
  company organization business; folder directory; file document; row record entry; column field property attribute;
  database db; repository repo project codebase; comment remark reply note annotation feedback;
  review approve approval; point dot marker pin; chart plot graph diagram visualize visualization draw;
  place location position poi; route direction navigation itinerary; price cost billing expense;
  credit balance quota remaining left limit; message chat text; mail email; event appointment meeting; task todo;
  secret credential password; vulnerability security cve weakness; version release revision;
  author authorship writer wrote written; latest recent newest current; previous back earlier prior last return;
  popup dialog alert modal; log trace console; environment env; setting configuration config option preference;
  documentation docs doc manual reference guide; library package module dependency; example sample demo usage;
  code source program snippet script function method; component widget element; workflow automation pipeline;
  javascript js; typescript ts; python py; kubernetes k8s; postgres postgresql; visitor session recording;
  everybody everyone all broadcast; colleague collaborator teammate; distribution frequency;
  proportion percent percentage share fraction; relation relationship correlation association link;
  schema structure type definition mapping; time duration long; schedule recurring periodic cron;
  elevation altitude height high; distance far; drive driving travel journey trip;
  slow speed fast performance latency optimize; weather temperature climate; translate translation language;
  payment charge invoice refund; customer client; order purchase; team group channel;
  login signin authenticate authentication auth; zip compress gzip compression;
  size storage space bytes disk big large; deploy deployment rollout; server host machine instance resource;
  statistic metric analytics measurement; screenshot capture screengrab; tag label; history past log;
  assign assignment owner assignee; status state progress condition; hierarchy tree nested;
  variable parameter argument; rename move relocate; sum plus add calculate compute arithmetic;
  query sql select statement; idle unused underused oversized waste; popular trending top;
  restaurant cafe shop business store; hour opening; crawl scrape spider; rotate turn; swap exchange replace;
  transaction atomic; help support assistance; request call traffic; cluster node; key shortcut keyboard;
  attach attachment enclose; reply answer respond response; invite invitation join member;
  room channel conversation thread; address street postal; buy purchase checkout cart; product item article;
  ban block mute; enable activate turn; disable deactivate; random dice; draft unpublished; reminder alarm timer;
  sound audio music song; slide deck presentation; money currency exchange; stock share ticker; flight plane airline;
  hotel accommodation lodging; goal objective target; sprint iteration milestone; duplicate same;
  encrypt encryption cipher; zoom scale resize; scroll swipe; close shut quit exit; go navigate visit open;
  url uri link address; start begin init initialize; several multiple many; subtitle caption transcript;
  group aggregate sum; pie donut doughnut; amazon aws; trash bin delete
`

/** What stands for several words. */
export const abbreviations = `
  ci build pipeline; dm direct message; flowchart flow chart; mr merge request; pr pull request; webpage web page
`

/** Words of every question, which are left out. */
export const fillers = `
  a about after all am an and any are as at be been but by can could did do does doing done each every for from had has
  have how i if in into is it its just let like may me might mine more most must my need of on one onto or our out
  please s shall she should so some somebody someone something such t than that the their them then there these they
  this those to too up us use used uses using very via want was we were what when where whether which while who whom
  whose why will with within without would you your yours
`
