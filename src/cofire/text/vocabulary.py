"""English word lists by their role beside names, and aliases of well-known things."""

from __future__ import annotations

# Function words, adverbs and interjections, which are never names.
FUNCTION_WORDS = frozenset(
    """a an the this that these those such another any each every either neither both all some many much several most few
    no none enough other others
    i you he she it we they me him her us them my your his its our their mine yours ours theirs myself yourself itself one ones
    someone somebody something anyone anybody anything everyone everybody everything nobody nothing who whom whose which what
    whatever whoever
    am is are was were be been being do does did done doing have has had having can could will would shall should may might
    must ought cannot
    and or but nor so yet if unless until till while whereas although though because since as than whether lest once that when
    whenever where wherever why how however
    about above across after against along alongside amid among amongst around at before behind below beneath beside besides
    between beyond by concerning considering despite down during except excluding following for from in including inside into
    like minus near of off on onto opposite out outside over past per plus regarding round than through throughout to toward
    towards under underneath unlike up upon versus via vs with within without
    also again already almost alternatively altogether always anyway anyways apparently approximately basically certainly
    clearly consequently conversely currently definitely early earlier else especially essentially even eventually ever
    evidently exactly
    finally first firstly formerly fortunately frankly further furthermore generally gradually hence here hereafter highly
    historically honestly hopefully immediately incidentally increasingly indeed initially instead interestingly ironically just
    largely lastly late lately later least less likewise literally luckily mainly maybe meanwhile merely mostly moreover namely
    nearly never nevertheless next nonetheless normally notably not now nowadays obviously occasionally often officially only
    originally otherwise overall particularly partly perhaps personally possibly previously primarily probably quickly quite
    rarely rather really recently regardless roughly sadly second secondly seldom seriously shortly significantly similarly
    simply slowly sometime sometimes somewhat somewhere soon specifically still strangely subsequently suddenly supposedly
    surely surprisingly technically thankfully then there thereafter thereby therefore third thirdly thus together today
    tomorrow tonight too totally traditionally truly twice typically ultimately undoubtedly unfortunately unlikely upstairs
    usually very virtually well whilst wholly yesterday
    ah aha ahh amen aw aww awww absolutely agreed awesome btw bye cheers congrats congratulations cool dang dear exactly fyi
    gee glad goodbye gosh gotcha alright anytime anyhow bummer buddy ttyl brb greetings ha haha hahaha hah hello hey heya hi
    hiya hmm hmmm huh hurray lol mhm mm nah nope oh ok
    okay omg oof ooh oops ouch phew please sorry sure thank thanks thx ugh uh um welcome whoa woah woo woohoo wow ya yay yea
    yeah yep yes yikes yo yum yup cc re tldr imo imho
    don't doesn't didn't isn't aren't wasn't weren't can't couldn't won't wouldn't shouldn't haven't hasn't hadn't let's
    two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty hundred hundreds thousands dozens
    millions""".split()
)

# Verbs that can begin an instruction.
IMPERATIVE_VERBS = frozenset(
    """add adjust allow apply ask assume avoid begin bring build call catch change check choose click clone close commit
    compare compile configure connect consider contact continue convert copy create cut debug declare define delete
    deploy describe disable discuss download drop dump edit enable ensure enter establish evaluate exclude execute
    explain export extend fetch find fix follow forget generate get give go grab handle hide hold ignore implement
    import improve include increase inspect install invite invoke join keep kill launch lead learn leave let list listen
    load locate log look make meet mention merge migrate monitor move note open order paste patch pick ping play point
    prefer prepare press prevent print provide publish pull push put query raise reach read rebase rebuild recall record
    reduce refer reload rely remember remind remove rename replace report reproduce request reset resolve restart
    restore retry return reuse revert review rewrite rollback rotate run save say schedule scroll search see select send
    serve set ship show shut skip sort specify speak stay stick stop store submit suggest switch sync take talk tell
    test think track trigger try tune turn type undo uninstall update upgrade upload use validate verify view visit wait
    warn watch work write""".split()
)

# Verbs and participles that can begin a sentence without a subject, or before it.
_REPORTING_VERBS = frozenset(
    """according additionally agree allows apart appreciate aside based believe bet born built called chat come compared
    composed considered contains created depending described designed directed due enjoy featuring feel feels felt found
    founded gets getting given gives goes going gone gonna got gotta guess had hang heard help hit hope imagine inspired
    know knowing known knows launched lets located looking looks love loved makes making means met named need needs
    nicknamed opened produced published released reminds returns says seems seen shares situated sounds speaking
    starring suppose thereupon thought told used uses using wanna want wish wonder works worth written""".split()
)

# All that opens a sentence without being part of a name: it is cut off wherever a capitalised span begins with it.
SENTENCE_OPENERS = FUNCTION_WORDS | IMPERATIVE_VERBS | _REPORTING_VERBS

# Words that may begin a name ("New York", "Good Omens") but are none when a sentence merely begins with them.
COMMON_WORDS = frozenset(
    """able action active actual additional afternoon age agent air amazing ancient angry animal annual answer apartment app
    application approach area argument army art article artist aspect attempt attention author autumn available average
    award baby back backup bad balance ball band bank bar base basic beach bear beautiful bed beginning benefit best
    better big bike bill bird birth birthday black block blood blue board boat body book boss bottom box boy branch
    brand bread breakfast bridge brief bright brother brown browser bug building bus business busy buyer cache cake camp
    capital car card care career careful case cash cat category cause census center central certain chain chair
    challenge chance chapter character cheap child children choice church circle citizen city civil class classic clean
    clear client climate clock clothes cloud club coach code coffee cold collection college colour color comment
    commercial common community company competition complete computer concept concert condition conference config
    configuration connection consistency constant construction contact content context contract contrary control
    conversation cookie correct cost country couple course court cover crazy creativity credit crime critic critical
    crowd cultural culture cup current customer cute dad daily damage dance danger dark dashboard data database date
    daughter day dead deal death debt decision deep default defense degree delay delicious demand department deployment
    description design desk detail development device dialog diet difference different difficult dinner direct direction
    director dirty disk distance distribution district doctor document dog door double draft dream dress drink drive
    driver dry duty ear earth easy economic economy edge education effect effective effort egg election electric element
    email emergency employee empty end endpoint energy engine engineer entire entry environment environmental equipment
    error escape estimate evening event everyday evidence exact example excellent exception excited exciting executive
    exercise existing expensive experience expert express extra eye face facility fact factor factory failure fair false
    family famous fan fantastic far farm fashion fast fat father fault favorite favourite fear feature federal feedback
    feeling female field fight figure file film filming final financial fine finger fire firm fish five flag flat flight
    floor flow flower focus folk folder food foot football force foreign forest form formal former forum forward free
    freedom fresh friday friend friendly front fruit frozen full fun function fund funny future game garden gas gate
    general gentle gift girl glass global goal god gold good government grade grand grass gray great green grey ground
    group growth guard guest guide guitar gun guy habit hair half hand handy happy hard hardware hate head health hear
    heart heat heavy height high hill historic historical history hit hobby hole holiday home honest horse hospital host
    hot hotel hour house huge human hundred husband ice idea identity illegal image immediate impact important
    impossible impressive incident income incredible independent index individual industrial industry info information
    initial injury inner input inspiration instance instruction insurance invoice interest interesting internal
    international internet interview introduction investment island issue item jazz job joint joke journey joy juice
    keen key kid kids kind king kitchen knee knowledge label lack lady lake land language large last latency latest
    laugh law lawyer layer leader leading league left leg legal lesson letter level library licence license life light
    limit limited line link literary little live living loan local location lock logic long loose loss lost lot lots
    loud lovely low lower lucky lunch machine magazine magic main maintenance major majority male man manager manga
    manual map march market marriage married mass massive master match material matter maximum meal meaning measure
    media medical medium meeting member memory mental menu merge message metal method metric middle midnight mild mile
    military milk million mind minimum minister minor minute miss missing mission mistake mix mixed mobile mode model
    modern module mom moment money month monthly mood moon morning mother motion motor mountain mouse mouth movie mum
    museum music musical mystery name narrow nation national native natural nature naval neat neck negative neighbor
    neighbour neighborhood neighbourhood nerve nervous network new news nice night noise normal north northern nose
    notable notice novel nuclear null number object ocean odd offer office officer official oil old online open opening
    operation opinion opportunity option orange ordinary original output outer own owner ownership pace package page
    pain paint painting pair pan paper parent park part partial partner party pass passenger password path patience
    patient pattern payment peace peak pen people perfect performance period permanent permission person personal pet
    phase phone photo phrase physical piano picture piece pink pipeline pizza place plain plan plane plant plastic plate
    platform player pleasant plenty pocket poem poet poetry police policy political politics pool poor pop popular
    population port position positive possible post pot potential power powerful practice precipitation presence present
    president pressure pretty price primary prime principal prior priority prison private prize problem procedure
    process product production professional professor profile profit program programme progress project promise proof
    proper property proposal prospect protection protein proud public pure purple purpose quality quantity quarter queue
    quick quiet race racing radio rain random range rapid rate raw ready real reality reason recent recipe recording red
    reference region regional register regular relation relationship release relevant reliable relief religion religious
    remote rent repair reply repository representative research resident resource respect response responsibility rest
    restaurant result retired revenue reward rice rich ride right ring rise rising risk river road rock role roll
    romance roof room root rose route row royal rule ruler rural rush safe safety salad salary sale sales same sample
    sand scale scene schedule scheme schema school science scientific score screen script sea season seat secret
    secretary section sector security seed self semi senior sense sensitive sentence separate sequence serial series
    serious server service session setting settings several severe shadow shape share sharp shell shift shirt shock shoe
    shop short shot shoulder shower sick side sign signal significant silence silent silver similar simple singer single
    sister site situation size skill skin sky sleep slight slow small smart smile smoke smooth snack snow soccer social
    society soft software soil soldier solid solution son song soul sound soup source south southern space spare special
    species specific speech speed spirit sport sports spot spring square stable staff stage standard star start state
    statement station status step stick stock stone storage storm story straight strange stranger strategy stream street
    strength stress strict string strong structure student studio study stuff stupid style subject success successful
    sudden sugar suit summer sun super supply support surface surprise survey sweet swimming symbol system table tag
    talent tall target task taste tax tea teacher team teamwork technical technique technology television temperature
    template temporary tennis term terrible text theater theatre theme theory thick thin thing things thread thumb
    ticket tight time timeout times tiny tip tired title tnx toast token ton tone tons tool tooth top topic total touch
    tough tour tourist tower town toy trade tradition traditional traffic train training transaction transfer transport
    travel treatment tree trend trial trick trip tropical trouble truck true trust truth twin ugly unable uncle unique
    unit university unknown upper urban usage useful user usual vacation value variable variety various vast vehicle
    version veteran victim video village violence vision visitor visual vital vocal voice volume vote wall war warm
    warning waste water wave way weak wealth weather web website wedding week weekend weekly weight west western wet
    wheel white whole wide wife wild wind window wine wing winner winning winter wise witness wolf woman women wonderful
    wood word worker workflow workshop world worried worst wound writer writing wrong yard year yellow yoga young
    younger youth zero zone absence academic accident account accuracy achievement activity actor actress administration
    admission adult advance advantage adventure advertising advice affair aim airport alarm album alcohol alert
    algorithm alliance ambition amount analysis analyst anger anniversary announcement anxiety appeal appearance apple
    appointment appreciation approval archaeologist architecture archive arrangement arrival assessment asset assignment
    assistance assistant association assumption astronomy atmosphere attack attendance attitude audience audio
    authentication authority awareness background ballet baseball basketball battery battle behavior behaviour belief
    bench biography bone border bottle bowl brain breach breath broadcast budget burden cabin cabinet calendar camera
    campaign cancer candidate capacity captain carbon cell ceremony chamber champion championship channel charge charity
    chart chemical chess chicken chip chocolate cinema citizenship claim cleanup clerk cliff clinic cluster coal coast
    coconut collaboration colleague colony column combination comedy comfort command commander commentator commission
    commitment committee communication comparison complaint complex component concern conclusion confidence conflict
    confusion consequence container contest contribution convention cook cooking copyright core corner corporate
    correction council county courage cousin craft crash cream creature creator crew criminal crisis criteria crop cross
    currency curve cycle cyclist deadline debate decade deck defeat definition delivery democracy dependency deposit
    depth desire destruction detective developer diagram diary disaster discipline discount discovery discussion disease
    display dispute divorce domain doubt download downtown drama drawing drug duration dust eating editor electricity
    elite emotion empire employment encounter encryption enemy engagement engineering enterprise enthusiasm entrance
    episode equality estate ethnic exam examination exchange excuse exhibition existence expansion expectation
    explanation explosion exposure expression extension extent fame fantasy fate fee feet fence festival fever fiction
    fitness fix flash fleet flexibility fortune foundation founder frame frequency fuel funding furniture galaxy gallery
    gang garage garlic generation genre giant glory grace graduate grain grant graph gravity grocery guarantee guardian
    guidance guideline gym hall handler happiness harbor harbour harm harmony harvest heaven hell herb hero hibiscus
    highway historian hockey honey honor honour horror household housing humor humour hunger hurricane hydration ideal
    ignorance illness illusion imagination immigration implementation importance impression improvement inch incumbent
    independence inflation influence infrastructure initiative innovation inquiry inspector installation institution
    instrument integration intelligence intention interaction interface intersection invitation involvement iron jacket
    journal journalist judge judgment jury justice keyboard kingdom knife lab labor labour landlord landscape laptop
    laser launch lawn leadership leaf learning leather lecture legacy legend legislation liberty lifestyle limitation
    literature load logging loop lord love luck lyrics maintainer management manufacturing margin marketing mathematics
    mayor measurement meat mechanism medal medicine melody membership merchant mercy merit meter migration minority
    mirror mob mobility monarch monday monitor monster moral motivation movement multiple murder muscle myth navigation
    necessity needle negotiation nest nobility nonsense notebook notification nutrition oak obligation observation
    occasion offense operator opposition orbit orchestra organisation organization orientation origin outcome outfit
    outlaw outlet pandemic panel panic parade paradise parenting parliament parser participation partnership passage
    passion past pasta patch patent pause payload peer penalty pension percentage perception personality perspective
    philosophy photographer photography physics pilot pioneer pitch planet planning playlist plot poison pollution
    portion portrait pottery poverty prayer precision preference pregnancy preparation prevention pride priest prince
    princess principle printer privacy privilege producer productivity profession proposition protest protocol province
    psychology publication publicity publisher punishment pupil quest question quote rail railway rank rating ratio
    reaction reader readiness rebellion receipt reception recession recipient recommendation recovery recruitment
    redesign reduction reform refugee refund registration regulation rehearsal rejection remark reminder replacement
    replica report reporter reputation requirement rescue researcher reservation resistance resolution restriction
    retention retirement retreat reunion revenge reverse revision revolution rhythm rival robot routine runtime rumor
    sabotage sailor salmon sanction satellite satisfaction saving scandal scholar scholarship scope sculpture search
    selection senate sensor sentiment shelter sheriff shopping shore shortage signature significance simulation sin
    singing skating sketch slave slide soap socket solo soprano sorrow spam specialist speaker spectrum speculation
    spending sponsor squad stack stadium staging stance standing statistics statue steam steel stomach strain strike
    stroke struggle subscription subset substance suburb succession suggestion summary supper supporter surgeon surgery
    survival survivor suspect suspicion sword sympathy symptom syntax tactic tale teaching tear temple temptation
    tendency tension territory terror testimony testing therapy thief throat throughput throne thunder tide tiger tissue
    tobacco tolerance tomato tongue tornado torture tourism tournament trace trailer transition translation transmission
    trash treasure treaty tribe tribute troop troops trophy tuition tunnel twist uncertainty uniform union universe
    upgrade uptime utility vaccine validation valley van vegetable venture venue vessel vice victory viewer villain
    vinyl virtue virus visa visibility vitamin vocabulary volunteer voyage wage waiter wallet warehouse warfare warrior
    weapon welfare whisky widow wilderness willingness wire wisdom worship yield todo fixme nb ps caution hint examples
    details update updates next previous takeaway takeaways""".split()
)

# Given names that are also plain words.
AMBIGUOUS_GIVEN_NAMES = frozenset(
    """will may mark bill grace rose joy hope faith art gene dean grant chase frank drew rich ray dawn eve ruby robin penny
    sandy patience charity mercy melody angel april june august summer autumn jack rob pat sue dale glen ivy lily daisy
    violet pearl amber crystal olive hazel skip guy sky star""".split()
)
# Names that end like plain words: -ing, -ed, -ly, -ence …
NAMES_WITH_WORD_ENDINGS = frozenset(
    """emily kelly sally molly holly billy lily polly willy dolly ellie italy sicily beverly kimberly carly fred ahmed mohammed
    mohamed hamed khaled jared alfred ted ned ed wilfred manfred winifred mildred madrid beijing boeing irving ming ling
    nanjing chongqing harding keating fleming redding sterling wyoming vikings florence lawrence clarence terence
    terrence laurence provence clement mable trinity felicity jing ying ting""".split()
)

# Verbs with a personal subject. A plain word before one of them may be a given name; before a
# speaking verb almost any word may be.
PERSONAL_VERBS = frozenset(
    """said says told tells asked asks went goes wants wanted loves loved likes liked hates thinks thought met moved lives
    lived works worked joined called calls texted wrote writes plays played bought brought has had is was knows knew
    found sent made feels felt gave got left agreed invited recommended mentioned suggested promised decided""".split()
)
SPEAKING_VERBS = frozenset(
    """said says told tells asked asks wants loves likes hates thinks met lives joined texted wrote invited recommended
    suggested promised""".split()
)

# Offices and forms of address: part of a name they precede, no name by themselves.
ROLE_TITLES = frozenset(
    """president king queen prince princess duke duchess count countess earl baron lord lady sir dame emperor empress tsar czar
    sultan pope bishop archbishop cardinal saint governor mayor senator congressman minister chancellor secretary
    general colonel captain major lieutenant sergeant admiral commander marshal officer judge justice chairman director
    manager professor doctor chief ambassador king's queen's mr mrs ms miss dr prof rev father brother sister aunt uncle
    grandma grandpa mom dad mum mama papa mommy daddy coach teacher boss ceo cto cfo coo vp""".split()
)

# Titles that may be left out of a full name.
COURTESY_TITLES = frozenset("mr mrs ms miss dr prof professor sir dame lord lady rev reverend fr hon".split())

# Adjectives of peoples, countries and faiths: they qualify names.
DEMONYMS = frozenset(
    """african afghan albanian algerian american argentine argentinian armenian asian australian austrian azerbaijani
    bangladeshi bavarian belarusian belgian bolivian bosnian brazilian british bulgarian burmese californian cambodian
    cameroonian canadian caribbean catalan catholic chilean chinese christian colombian cornish croatian cuban cypriot
    czech danish dutch ecuadorian egyptian english eritrean estonian ethiopian european filipino finnish flemish french
    georgian german ghanaian greek guatemalan haitian hawaiian hindu hispanic hungarian icelandic indian indonesian
    iranian iraqi irish islamic israeli italian jamaican japanese jewish jordanian kazakh kenyan korean kurdish kuwaiti
    latin latino latvian lebanese liberian libyan lithuanian lutheran macedonian malay malaysian maltese medieval
    mexican moldovan mongolian moroccan muslim nepalese nigerian nordic norman norwegian orthodox ottoman pakistani
    palestinian panamanian persian peruvian polish portuguese prussian protestant roman romanian russian saudi
    scandinavian scottish senegalese serbian sicilian singaporean slovak slovenian somali soviet spanish sudanese
    swedish swiss syrian taiwanese tamil texan thai tibetan tunisian turkish ugandan ukrainian uruguayan uzbek
    venezuelan victorian vietnamese viking welsh yemeni zambian zimbabwean americans germans italians russians canadians
    europeans africans asians indians australians christians muslims jews greeks romans catholics mexicans brazilians
    koreans turks poles swedes danes finns scots""".split()
)

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
SEASONS = frozenset("spring summer autumn fall winter".split())
TIME_WORDS = frozenset(
    (
        *WEEKDAYS,
        *MONTHS,
        *(day + "s" for day in WEEKDAYS),
        *"jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thurs fri sat sun".split(),
        *"christmas easter halloween thanksgiving q1 q2 q3 q4 bc ad bce am pm utc gmt est pst".split(),
    )
)

# Connectors inside a name: "University of Oslo", "Ludwig van Beethoven", "Catherine of the House of
# Valois".
NAME_CONNECTORS = frozenset(
    "of de van von der den la le del della da di du dos das des al el bin ibn y e zu ter af av & 'n'".split()
)
CONNECTOR_ARTICLES = frozenset("the la los las les der den".split())

# Words in capitals for emphasis, and abbreviations of plain words.
NON_NAME_ACRONYMS = frozenset(
    """ok tv am pm ad bc ce id ids no yes not and or the lol omg btw fyi asap faq diy eta tba tbd wip imo imho rip vs ps pps nb
    aka etc ie eg mr mrs ms dr st jr sr i ii iii iv vi vii viii ix xi xii xiii xiv xv todo fixme note important warning
    never always must should only all any new now stop please thanks wow select from where insert into update delete
    join left right inner outer on as order by group having limit null true false set values table create drop alter
    index""".split()
)

# Nouns after a possessive that form one name: "Schindler's List", "St. Maurice's Abbey".
POSSESSED_HEAD_NOUNS = frozenset(
    """abbey academy arms association bay bridge castle cathedral chapel choice church club college court cove creek cross
    daughter day disease dream eve farm field gate green hall harbour head heath hill hospital house island islands lake
    lane law list mill museum palace park point restaurant revenge ride road school square stadium station store street
    syndrome theatre theorem tower university valley village wake way wharf world""".split()
)


_ALIAS_LINES = """
postgresql, postgres, pgsql, psql
kubernetes, k8s
javascript, js
typescript, ts
python, py
golang, go lang
mongodb, mongo
elasticsearch, elastic search
rabbitmq, rabbit mq
scikit learn, sklearn
pytorch, torch
tensorflow, tensor flow
node js, nodejs, node
vue js, vuejs, vue
react js, reactjs, react
next js, nextjs
amazon web services, aws
google cloud platform, gcp, google cloud
microsoft azure, azure
visual studio code, vs code, vscode
github actions, gh actions
continuous integration, ci
continuous delivery, continuous deployment, cd
user interface, ui
user experience, ux
machine learning, ml
artificial intelligence, ai
large language model, llm
natural language processing, nlp
operating system, os
database, db
virtual machine, vm
pull request, merge request
application programming interface, api
command line interface, cli, command line
single sign on, sso
two factor authentication, 2fa
internationalization, i18n
localization, l10n
accessibility, a11y
observability, o11y
json web token, jwt
transport layer security, tls
domain name system, dns
macos, mac os, os x
united states, us, usa, united states of america
united kingdom, uk
united nations, un
european union, eu
united arab emirates, uae
soviet union, ussr
new york city, nyc
los angeles, la
san francisco, sf
world war i, world war 1, ww1, wwi, first world war
world war ii, world war 2, ww2, wwii, second world war
world health organization, who
british broadcasting corporation, bbc
national aeronautics and space administration, nasa
federal bureau of investigation, fbi
central intelligence agency, cia
massachusetts institute of technology, mit
university of california los angeles, ucla
facebook, fb
instagram, insta, ig
youtube, yt
mcdonalds, mcdonald, mickey d
television, tv
"""


def _parse_alias_lines(lines: str) -> dict[str, tuple[str, ...]]:
    groups = [tuple(name.strip() for name in line.split(",")) for line in lines.strip().splitlines()]
    return {name: tuple(other for other in group if other != name) for group in groups for name in group}


# Each name with the other names of the same thing.
ALIASES = _parse_alias_lines(_ALIAS_LINES)
