# SPDX-License-Identifier: Apache-2.0
"""Facts about countries, animals, things, time and numbers: relation, its pairs, its questions, its answer.

RELATIONS is a list of Relation(name, pairs, questions, answer); {x} is what is asked about, {y} what is answered.
The last question of each relation is never trained on.
"""
import collections

Relation = collections.namedtuple("Relation", "name pairs questions answer")


def pairs(text):
    """"a=b, c=d" as a list of pairs."""
    return [tuple(part.strip() for part in item.split("=")) for item in text.replace("\n", " ").split(",")]


CAPITALS = pairs("""France=Paris, Germany=Berlin, Italy=Rome, Spain=Madrid, Portugal=Lisbon, Austria=Vienna,
Greece=Athens, Poland=Warsaw, Hungary=Budapest, Norway=Oslo, Sweden=Stockholm, Finland=Helsinki, Denmark=Copenhagen,
Ireland=Dublin, Iceland=Reykjavik, Belgium=Brussels, Switzerland=Bern, Croatia=Zagreb, Serbia=Belgrade,
Romania=Bucharest, Bulgaria=Sofia, Ukraine=Kyiv, Russia=Moscow, Turkey=Ankara, Egypt=Cairo, Kenya=Nairobi,
Morocco=Rabat, Ghana=Accra, Nigeria=Abuja, Ethiopia=Addis Ababa, Senegal=Dakar, Japan=Tokyo, China=Beijing,
India=New Delhi, Nepal=Kathmandu, Thailand=Bangkok, Vietnam=Hanoi, Indonesia=Jakarta, Iran=Tehran, Iraq=Baghdad,
South Korea=Seoul, Mongolia=Ulaanbaatar, Canada=Ottawa, Mexico=Mexico City, Cuba=Havana, Brazil=Brasilia,
Argentina=Buenos Aires, Chile=Santiago, Peru=Lima, Colombia=Bogota, Ecuador=Quito, Uruguay=Montevideo,
Australia=Canberra, New Zealand=Wellington, Lebanon=Beirut, Jordan=Amman, Latvia=Riga, Estonia=Tallinn,
Lithuania=Vilnius, Slovenia=Ljubljana""")

CONTINENTS = {
    "Europe": "France Germany Italy Spain Portugal Austria Greece Poland Hungary Norway Sweden Finland Denmark "
              "Ireland "
              "Iceland Belgium Switzerland Croatia Serbia Romania Bulgaria Ukraine Latvia Estonia Lithuania "
              "Slovenia",
    "Africa": "Egypt Kenya Morocco Ghana Nigeria Ethiopia Senegal",
    "Asia": "Japan China India Nepal Thailand Vietnam Indonesia Iran Iraq South_Korea Mongolia Lebanon Jordan",
    "North America": "Canada Mexico Cuba",
    "South America": "Brazil Argentina Chile Peru Colombia Ecuador Uruguay",
}
CONTINENT_OF = [(country.replace("_", " "), continent) for continent, names in CONTINENTS.items()
                for country in names.split()]

LANGUAGES = pairs("""France=French, Germany=German, Italy=Italian, Spain=Spanish, Portugal=Portuguese, Greece=Greek,
Poland=Polish, Hungary=Hungarian, Norway=Norwegian, Sweden=Swedish, Denmark=Danish, Russia=Russian, Turkey=Turkish,
Egypt=Arabic, Japan=Japanese, China=Chinese, Thailand=Thai, Mexico=Spanish, Brazil=Portuguese, Argentina=Spanish,
Chile=Spanish, Australia=English, Iceland=Icelandic, Ukraine=Ukrainian, Austria=German, Cuba=Spanish""")

YOUNG = pairs("""cat=kitten, dog=puppy, cow=calf, horse=foal, sheep=lamb, goat=kid, pig=piglet, hen=chick, duck=duckling,
goose=gosling, bear=cub, lion=cub, fox=cub, deer=fawn, kangaroo=joey, frog=tadpole, swan=cygnet, owl=owlet,
hare=leveret, butterfly=caterpillar""")

SOUNDS = pairs("""cat=meows, dog=barks, cow=moos, horse=neighs, sheep=bleats, pig=grunts, duck=quacks, lion=roars,
wolf=howls, frog=croaks, bee=buzzes, snake=hisses, owl=hoots, hen=clucks, rooster=crows, mouse=squeaks, donkey=brays,
crow=caws, dove=coos, elephant=trumpets, goose=honks, cricket=chirps""")

HOMES = pairs("""bee=hive, bird=nest, fox=den, rabbit=burrow, spider=web, horse=stable, dog=kennel, pig=sty,
hen=coop, bear=cave, beaver=lodge, ant=anthill, squirrel=tree hole, fish=pond, mole=tunnel""")

LEGS = pairs("""dog=4, cat=4, cow=4, horse=4, sheep=4, bird=2, hen=2, duck=2, owl=2, ostrich=2, spider=8, ant=6, bee=6,
beetle=6, butterfly=6, fly=6, grasshopper=6, snake=0, fish=0, worm=0, crab=10, lobster=10, frog=4, lizard=4,
elephant=4, scorpion=8, mouse=4, person=2, penguin=2, turtle=4""")

KINDS = pairs("""dog=mammal, cat=mammal, cow=mammal, whale=mammal, dolphin=mammal, bat=mammal, mouse=mammal,
elephant=mammal, eagle=bird, owl=bird, penguin=bird, ostrich=bird, duck=bird, swan=bird, sparrow=bird, salmon=fish,
shark=fish, trout=fish, tuna=fish, ant=insect, bee=insect, beetle=insect, butterfly=insect, fly=insect,
snake=reptile, lizard=reptile, crocodile=reptile, turtle=reptile, frog=amphibian, toad=amphibian, newt=amphibian,
oak=tree, pine=tree, birch=tree, maple=tree, rose=flower, tulip=flower, daisy=flower, lily=flower""")

GROUPS = pairs("""carrot=vegetable, potato=vegetable, onion=vegetable, cabbage=vegetable, spinach=vegetable,
turnip=vegetable, apple=fruit, pear=fruit, plum=fruit, cherry=fruit, banana=fruit, peach=fruit, grape=fruit,
mango=fruit, violin=musical instrument, piano=musical instrument, drum=musical instrument, flute=musical instrument,
trumpet=musical instrument, hammer=tool, saw=tool, spade=tool, chair=piece of furniture, table=piece of furniture,
bed=piece of furniture, car=vehicle, bus=vehicle, bicycle=vehicle, gold=metal, iron=metal, copper=metal,
silver=metal, shirt=piece of clothing, coat=piece of clothing, sock=piece of clothing, football=sport, tennis=sport""")

COLOURS = pairs("""grass=green, snow=white, coal=black, blood=red, milk=white, the sky on a clear day=blue,
a lemon=yellow, a ripe banana=yellow, a carrot=orange, a ripe tomato=red, an elephant=grey, chocolate=brown,
a pumpkin=orange, a flamingo=pink, a raven=black, a strawberry=red, an emerald=green, a ruby=red, a sapphire=blue,
a swan=white, a leaf in spring=green, the sun in a child's drawing=yellow, an eggplant=purple, salt=white,
a polar bear=white, a cucumber=green, a fire engine=red""")

MIXES = pairs("""red and blue=purple, blue and yellow=green, red and yellow=orange, black and white=grey,
red and white=pink, blue and red=purple, yellow and blue=green, yellow and red=orange, white and black=grey,
white and red=pink""")

SHAPES = pairs("""triangle=3, square=4, rectangle=4, pentagon=5, hexagon=6, heptagon=7, octagon=8, decagon=10""")

UNITS = pairs("""minutes in an hour=60, seconds in a minute=60, hours in a day=24, days in a week=7, months in a year=12,
days in a year=365, weeks in a year=52, years in a century=100, years in a decade=10, centimetres in a metre=100,
metres in a kilometre=1000, grams in a kilogram=1000, millimetres in a centimetre=10, letters in the alphabet=26,
vowels in the alphabet=5, fingers on two hands=10, fingers on one hand=5, wheels on a bicycle=2, wheels on a car=4,
wheels on a tricycle=3, players in a football team=11, strings on a violin=4, eggs in a dozen=12, planets in the solar system=8,
colours in a rainbow=7, continents on Earth=7, seasons in a year=4, legs on two cats=8, toes on one foot=5, noses on a face=1,
ears on two rabbits=4, faces on a cube=6""")

MONTHS = "January February March April May June July August September October November December".split()
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
MONTH_DAYS = dict(zip(MONTHS, "31 28 31 30 31 30 31 31 30 31 30 31".split()))
ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split()
PLANETS = "Mercury Venus Earth Mars Jupiter Saturn Uranus Neptune".split()
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def following(items, wrap=True):
    """(x, the one after x)."""
    return [(x, items[(i + 1) % len(items)]) for i, x in enumerate(items) if wrap or i + 1 < len(items)]


def swapped(items):
    return [(y, x) for x, y in items]


RELATIONS = [
    Relation("capital", CAPITALS,
             ["What is the capital of {x}?", "What is {x}'s capital?", "Which city is the capital of {x}?",
              "Name the capital of {x}.", "Tell me the capital city of {x}.", "What city is the capital of {x}?",
              "The capital of {x} is which city?"], "The capital of {x} is {y}."),
    Relation("capital_of", swapped(CAPITALS),
             ["{x} is the capital of which country?", "Which country has the capital {x}?",
              "Of which country is {x} the capital?", "What country is {x} the capital of?",
              "Which country's capital is {x}?"], "{x} is the capital of {y}."),
    Relation("continent", CONTINENT_OF,
             ["On which continent is {x}?", "Which continent is {x} in?", "Where in the world is {x}?",
              "What continent does {x} belong to?", "In which continent can you find {x}?"], "{x} is in {y}."),
    Relation("language", LANGUAGES,
             ["Which language do people speak in {x}?", "What language is spoken in {x}?",
              "What do people in {x} speak?", "Name the main language of {x}.",
              "Which language is spoken in {x}?"], "People in {x} speak {y}."),
    Relation("young", YOUNG,
             ["What is a young {x} called?", "What do you call a baby {x}?", "What is the young of {a:x} called?",
              "How do you call a young {x}?", "What is a baby {x} called?"], "A young {x} is called {a:y}."),
    Relation("sound", SOUNDS,
             ["What does {a:x} do to make a sound?", "What sound does {a:x} make?", "Which sound comes from {a:x}?",
              "How does {a:x} sound?", "What kind of sound does {a:x} make?"], "{^a:x} {y}."),
    Relation("home", HOMES,
             ["Where does {a:x} live?", "What is the home of {a:x}?", "In what does {a:x} live?",
              "What do you call the home of {a:x}?", "Where is {a:x} at home?"], "{^a:x} lives in {a:y}."),
    Relation("legs", LEGS,
             ["How many legs does {a:x} have?", "What number of legs does {a:x} have?", "How many legs has {a:x}?",
              "Count the legs of {a:x}.", "Tell me how many legs {a:x} has."], "{^a:x} has {y} legs."),
    Relation("kind", KINDS,
             ["What kind of living thing is {a:x}?", "What is {a:x}?", "To which group does {a:x} belong?",
              "Is {a:x} a mammal, a bird, a fish, an insect or something else?",
              "Which kind of living thing is {a:x}?"], "{^a:x} is {a:y}."),
    Relation("group", GROUPS,
             ["What is {a:x}?", "What kind of thing is {a:x}?", "To which group of things does {a:x} belong?",
              "What sort of thing is {a:x}?"], "{^a:x} is {a:y}."),
    Relation("colour", COLOURS,
             ["What colour is {x}?", "Which colour does {x} have?", "What is the colour of {x}?",
              "Name the colour of {x}.", "Which colour is {x}?"], "{^x} is {y}."),
    Relation("mix", MIXES,
             ["What do you get when you mix {x}?", "What colour do {x} make?", "Which colour do you get from {x}?",
              "If you mix {x}, which colour do you get?"], "If you mix {x}, you get {y}."),
    Relation("sides", SHAPES,
             ["How many sides does {a:x} have?", "How many corners does {a:x} have?", "Count the sides of {a:x}.",
              "What number of sides does {a:x} have?"], "{^a:x} has {y} sides and {y} corners."),
    Relation("count", UNITS,
             ["How many {x} are there?", "What is the number of {x}?", "Tell me the number of {x}.",
              "Count the {x}.", "Tell me how many {x} there are."], "There are {y} {x}."),
    Relation("next_day", following(DAYS),
             ["Which day comes after {x}?", "What day follows {x}?", "What is the day after {x}?",
              "If today is {x}, what day is tomorrow?", "Which day follows {x}?"], "The day after {x} is {y}."),
    Relation("day_before", swapped(following(DAYS)),
             ["Which day comes before {x}?", "What is the day before {x}?", "If today is {x}, what day was yesterday?",
              "What day comes just before {x}?"], "The day before {x} is {y}."),
    Relation("next_month", following(MONTHS),
             ["Which month comes after {x}?", "What month follows {x}?", "What is the month after {x}?",
              "Which month follows {x}?"], "The month after {x} is {y}."),
    Relation("month_before", swapped(following(MONTHS)),
             ["Which month comes before {x}?", "What is the month before {x}?", "Name the month before {x}.",
              "What month comes before {x}?"], "The month before {x} is {y}."),
    Relation("month_days", list(MONTH_DAYS.items()),
             ["How many days does {x} have?", "How many days are in {x}?", "What is the number of days in {x}?",
              "How many days are there in {x}?"], "{x} has {y} days."),
    Relation("month_number", list(zip(ORDINALS, MONTHS)),
             ["What is the {x} month of the year?", "Which month is the {x} of the year?", "Name the {x} month.",
              "Which is the {x} month of the year?"], "The {x} month of the year is {y}."),
    Relation("planet", list(zip(ORDINALS, PLANETS)),
             ["What is the {x} planet from the sun?", "Which planet is the {x} from the sun?",
              "Name the {x} planet from the sun.", "Which is the {x} planet from the sun?"],
             "The {x} planet from the sun is {y}."),
    Relation("next_letter", following(LETTERS, wrap=False),
             ["Which letter comes after {x}?", "What letter follows {x}?", "What is the letter after {x}?",
              "Which letter follows {x}?"], "The letter after {x} is {y}."),
]
