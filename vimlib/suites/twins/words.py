"""Plain English words to put in the place of others: of every length, none of them a word of Vim or of code.

A twin should read as its original does. Common words keep a text a text, where invented ones would make it
a riddle, and the twin harder than the original for reasons that have nothing to do with memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

_WORDS = """
ant arm ash axe bay bed bee box bun bus cab cat cow cub cup dew dog ear eel egg elm fan fig fir fog fox fun
gem hat hay hen hip hut ink ivy jam jar jaw kid kit lad lake leg lid log mat mud mug nap net nut oak oar oat
owl pan paw pea pen pet pie pig pin pit pot rag ram rib rod rug rye sea sky spa sun tea tin toe toy tub van
wax web wig apron acorn amber angle arrow badge baker beach beard bench berry birch blaze bloom board bread
brick bride broom brush cabin camel canal candy cedar chain chalk charm chess chief child cliff cloak cloth
cloud clown coach coast coral couch crane cream crown curve daisy dairy dance depth diary donut dough dream
dress drift drink eagle earth elbow ember fairy feast fence ferry flame fleet flute foam frost fruit ghost
giant glass glove goose grain grape grass guest habit heart hedge honey horse hotel house humor ivory jelly
jewel judge juice knife lemon light lunch maple march medal melon metal mercy mouse mouth music night noise
north novel nurse oasis ocean olive onion opera orbit otter paint panda paper party pasta peach pearl pedal
penny phone piano pilot plane plant plate plaza poems pride prize queen quilt quiet radio raven rider river
robin salad sauce scarf shade shark sheep shelf shell shirt shore skirt smile smoke snail snake spice spoon
sport squid stage steam stone storm stove sugar sunny swamp sweet swing table taste thorn tiger toast torch
tower towel trail train trick trout truck tulip uncle valve vapor velvet video villa viola visit voice wagon
waste watch water whale wheat wheel wheat whisk witch woman world wrist yacht youth zebra bark barn bath
bean bear beef bell belt bird boat bolt bone book boot bowl bulb cage cake calf camp cape card cart cave
chef clay coal coat coin cork corn crab crew crow dawn deck deer desk dice dish dock door dove drum duck
dusk dust face farm fern film fish flag flea flour foot fork frog fuel gate gift glue goat gold golf gown
hail hair hall hand harp hawk heel herb hill hole home honk hood hoof horn hose inch iris iron isle jazz
jeep joke kale kelp king kite knee knot lace lady lamb lamp land lane lark lawn leaf lime lion lung maid
mane mask mast meal milk mill mint mist mole moon moth nail neck nest noon nose oven page palm park peak
pear pine pink pipe plum pond pony pool port rain reef rice ring road robe rock roof room root rope rose
sail salt sand seal seed ship shoe shop silk sink skin snow soap sock sofa soup star stem swan tail taxi
team tent tide tile toad tomb town tree tuba tuna vase vest vine wall wasp wave west wind wine wing wolf
wood wool yard yarn yoga zinc almond anchor animal artist autumn badger bakery ballet bamboo banana banjo
barber barley barrel basket beaver beetle bottle branch breeze bridge bronze bucket butter button cactus
candle canoes canvas carpet carrot castle celery cellar cherry cheese circus clover coffee collar comedy
copper cotton cousin coyote cradle crayon cuckoo dinner doctor donkey dragon drawer driver engine falcon
family farmer father feather fiddle finger flower forest fossil fridge friend galaxy garage garden garlic
ginger gospel guitar hammer harbor helmet hiking island jacket jaguar jersey jigsaw jungle kennel kettle
kidney kitten ladder lagoon laurel lawyer legend lemons lizard locket magnet mammal marble market meadow
melody minute mirror mitten monkey mosaic mother museum napkin needle nephew nickel nutmeg orange orchid
oyster palace parade parent parrot pastry pebble pencil pepper person phrase picnic pillow pirate planet
pocket poetry poison potato pottery powder prince pulley puppet puzzle quartz rabbit racket ravine ribbon
rocket saddle sailor salmon sample school season shadow shower silver singer sister sketch spider spirit
spring squash stable statue stream street string summer sunset supper temple tennis thread throne ticket
timber tomato tongue tunnel turkey turnip turtle valley violet violin walnut walrus weasel window winter
wizard wonder yogurt airport alchemy almanac anchovy antique apricot archery armchair athlete avocado
bagpipe balcony balloon barrels bassoon bathtub bedroom bicycle biscuit blanket blossom bouquet brother
buffalo builder butcher cabbage caravan cartoon catfish cashier ceiling chamber chapter chariot chicken
chimney circuit citizen climate clothes coconut college compass concert cottage country courage cricket
crystal cushion custard cyclist diamond dolphin drawing drummer earring eclipse elastic evening factory
feather fiction fireman fishing flowers freckle gallery gazelle giraffe glacier gondola gorilla grocery
hallway hamster harvest holiday horizon iceberg jewelry journey justice kingdom kitchen ladybug lantern
laundry leather leopard lettuce library lobster lullaby machine mammoth manager mermaid miracle mission
monster morning mustard nursery octopus orchard ostrich outdoor painter panther parsley partner passion
pasture peacock pelican penguin perfume pianist picture pilgrim pioneer popcorn postman pottery poultry
prairie problem promise pudding pumpkin pyramid quarter rainbow raccoon rooster sailing sandbox sardine
satchel scholar science seaside shelter shampoo snowman soldier spinach sponges stadium station storage
student subway sunrise swallow teacher theater thunder tobacco tractor trumpet uniform unicorn village
vintage violins vulture walnuts warrior weather wedding welcome whisper windmill witness airplane alphabet
ancestor antelope aquarium asteroid avalanche backpack bakeries baseball basement birthday blizzard
blueberry bookcase broccoli building business calendar campfire cardinal carnival cathedral cemetery
ceremony champion children chipmunk cinnamon climbing coloring computer conquest corridor creature crescent
cucumber daughter daylight daydream disaster distance doorbell doughnut dressing drainage duckling election
elephant elevator engineer escalator eyeglass festival firewood flagpole flamingo football footstep forehead
fountain galaxies gardener garments gasoline geranium goldfish graduate grandson grateful handbags headache
heritage hibiscus homework hospital hurricane icebergs insect keyboards kangaroo keepsake kindness landlord
landmark language laughter lavender lemonade librarian lifeboat lifetime magazine magician marathon marigold
material medicine membrane midnight mountain mosquito mushroom musician necklace neighbor notebook nutrient
orchards ornament outsider overcoat painting pamphlet paradise passport pavement peacocks peasants petition
pharmacy platypus pleasant porridge portrait postcard precious princess province quantity railroad rainfall
raspberry rehearsal reindeer reptiles research reunited romantic sandwich saturday scissors scorpion
sculptor seahorse seashell shepherd shoulder sidewalk skeleton slippers snowfall softball southern souvenir
spectrum squirrel stairway starfish stranger strategy suitcase sunlight sunshine swimming teaspoon terrific
thousand tortoise treasure triangle tropical umbrella universe vacation vineyard violence voyagers volcanic
warmness warranty waterway wildlife wireless workshop yearbook yourself abundance adventure afternoon
alligator amazement ambulance amusement apartment architect armadillo artichoke asparagus assistant
astronaut athletics authority awareness badminton bartender bedspread beginning blackbird boulevard
bracelets breakfast brilliant butterfly cafeteria candidate carpenter caterpillar celebrity centipede
chameleon champagne character chemistry chocolate clipboard clockwork colleague commander community
companion composers confetti conductor continent courtyard crocodile curiosity customers dandelion detective
diplomat dinosaurs dishwater eggplants elaborate elephants emergency equipment excursion explosion fireplace
fisherman flamingos furniture gardening generator gentleman geography gladiator goldsmith graduates
graveyard greenhouse guidebook hairbrush handshake harmonica headlight hedgehogs historian household
hummingbird hurricane hydration ignorance inventors invisible jellyfish journeyed kangaroos knowledge
labyrinth landscape limestone lifeguard limousine lubricate machinery mandarins merchants messenger
metronome microwave milkshake moonlight motorbike mountains movements narrative newspaper nightfall
objective orchestra ownership pageantry pantomime paragraphs parachute passenger peninsula photograph
pineapple plantation playhouse policeman porcelain porcupine precision president professor promenade
raspberry rectangle reflector resonance restaurant reservoir ridiculous sailboats sanctuary satellite
saxophone scarecrow scientist sculpture secretary september shipwreck signature snowflake something
spaghetti spectacle starlight statement storybook stopwatch submarine surprises sweetness telegraph
telephone telescope tangerine toothpick tradition trapezoid typhoons underwear vegetable ventilate vestibule
volunteer wardrobes waterfall windshield wonderful woodlands workbench yesterday accordions affordable
applicants aquamarine astronomer attractive automobile background basketball beekeeper beneficial binoculars
blackboard bookkeeper bottleneck brightness buttermilk calculator cantaloupe caramelize cartoonist
cautiously chandelier chartreuse chessboard chimpanzee classrooms collection commercial compliment
confession confidence connection cornflower crosswords dandelions delightful department dishwasher
earthquake electrical employment enthusiast everything excellence exhibition expedition experience
fairground firefights flashlight footprints foundation friendship generosity goldfishes government
graciously grapefruit gymnastics hawthornes helicopter heliotrope hemisphere historical homecoming
horseshoes impressive incredible industries ingredient innovation instrument invitation kilometres
laboratory lighthouse litigation locomotive management manuscript marshmallow masquerade mayonnaise
mechanical metropolis microphone moderation moisturize mysterious negotiator nightshade obligation
officially orchestras originally palindrome parliament passengers peppermint permission phenomenon
philosophy photograph playground politician population prevention profession propellers protection
psychology quarantine refreshing regulation relaxation remarkable reputation restaurant retirement
revolution salamander scientific settlement shipwright skateboard snowflakes statistics strawberry
structural suggestion superhuman sweetheart television temptation terracotta tournament transplant
treasurers underworld university vaccinated vegetables vegetation vocabulary volleyball waterfront
watermelon wilderness woodpecker workplaces accommodate achievement agriculture anniversary application
appointment arrangement association backgrounds blacksmiths butterflies calculation candlelight caterpillar
celebration cheerleader christening combination communities competition composition connoisseur consequence
countryside cultivation dragonflies educational electronics engineering environment examination expectation
fascination firefighter grandmother grasshopper handicrafts hospitality hummingbird imagination immigration
improvement independent information inspiration interesting laboratories magnificent marketplace mathematics
measurement merchandise nightingale observatory opportunity orientation paragliding partnership performance
personality photography preparation prosperous publication questioning quicksilver refrigerate replacement
requirement restoration screwdriver significant skyscrapers spectacular springboard strawberries supermarket
temperature thunderbolt tournaments traditional translators transparent trampolines underground watercolour
watermelons accomplished agricultural alphabetical anticipation architecture astonishment availability
breakthrough butterscotch certificates championship civilization compensation conservation constructors
conversation dictionaries disappointed distribution encyclopedia experimental extravagance grandfathers
handkerchief heartwarming housekeepers illumination illustration improvements independence installation
intelligence introduction manufactured marshmallows metropolitan mountaineers neighborhood orchestrated
organization parliamentary perspective philosophers photographer pomegranates presentation professional
pronunciation rehabilitate relationship refrigerator satisfaction schoolmaster significance storytellers
subscription successfully thanksgiving thunderstorm transmission veterinarian
"""


FROZEN = frozenset(
    """
    vim norm normal sort move copy join yank put undo redo macro register buffer line lines word words
    letter letters character characters char chars column columns row rows text file files delete remove
    insert append add replace swap reverse first last next previous second third each every all before after
    between begin end start the and for not but with from into this that these those you your are was were
    has have had one two three four five six seven eight nine ten eleven twelve hundred thousand zero monday
    tuesday wednesday thursday friday saturday sunday january february march april may june july august
    september october november december jan feb mar apr jun jul aug sep oct nov dec if else elif then endif
    end def class return import while break continue switch case default do done try catch except finally
    raise throw new delete public private protected static final void int long short float double bool
    boolean string str char byte struct enum type typedef const let var function func fun lambda yield async
    await print printf println puts echo self this super null nil none true false include define ifdef
    ifndef endif pragma using namespace template typename virtual override extends implements interface
    package module require exports export global local set unset get abs max min len range list dict tuple
    array map hash object main args argv stdin stdout stderr sys std stdio stdlib foreach elsif unless until
    begin rescue ensure when val object select from where insert into values update create table primary key
    order group having join left right inner outer null like http https www com org net html head body div
    span href src img alt css script style link meta ul ol li td tr th br option value id name can don isn
    wasn doesn didn haven hasn hadn won wouldn couldn shouldn aren weren mustn what which who whom why how
    there here than them they their its his her him she our any some such only own same too very just about
    above again against because been being below could did does doing down during few further itself may
    might more most must nor now off once other out over should while will would php python ruby perl java
    javascript bash env usr bin local lib tmp etc home
    """.split()
)
"""Words that mean something to Vim, to its indenting of code or in an instruction to edit: left alone."""


PARTICLES = frozenset(
    """
    a i am an as at be by do go he hi if in is it me my no of oh ok on or so to up us we vs id fi od eq ne
    lt gt le ge px em cm mm kb mb gb js py rb sh cd ls rm mv cp
    """.split()
)
"""Words of one or two letters that mean something by themselves."""


def _by_length() -> dict[int, tuple[str, ...]]:
    found: dict[int, list[str]] = {}
    for word in sorted(set(_WORDS.split()) - FROZEN):
        found.setdefault(len(word), []).append(word)
    return {length: tuple(words) for length, words in found.items()}


WORDS: Mapping[int, Sequence[str]] = MappingProxyType(_by_length())
"""By number of letters, in alphabetical order; ASCII small letters only."""
