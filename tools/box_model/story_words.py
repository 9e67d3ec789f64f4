# SPDX-License-Identifier: Apache-2.0
"""Who, what and where of the stories, and the cast of one story."""
from grammar import pick
from questions import fixed_hash

# Names that are made up for one story teach the model to repeat what a prompt says.
SYLLABLES = ("ba bo da di fa fi ga go ha ka ki la li lo ma me mi na ni no pa pi ra ri ro sa si so ta ti to va vi wa "
             "yo za zi zo").split()
GIRLS = "Tilda Mina Lotta Ruby Nora Wanda Pia Ella Hazel Luna Ivy Rosa Greta Fenja Suki Dora Olive Mabel".split()
BOYS = "Timo Oskar Bruno Pip Jasper Milo Finn Otto Rufus Arlo Hugo Nils Toby Emil Casper Linus Theo Barnaby".split()
ANIMALS = ("fox rabbit bear mouse squirrel hedgehog badger otter beaver owl duck frog turtle deer raccoon mole cat dog "
           "goat sheep pony donkey goose sparrow").split()
RARE = "dragon lion elephant penguin monkey tiger parrot wolf robot camel whale panda seal crow pig giant wizard".split()
LOOKS = "little young small cheerful curious brave shy kind clever gentle lively quiet".split()
ELDERS = ["the old owl", "the old badger", "the wise turtle", "the old baker", "the kind teacher", "the old gardener",
          "the old miller", "the friendly postman", "the old heron", "the old fisherman"]
KIN = ["mother", "father", "grandmother", "grandfather", "aunt", "uncle"]
COLOURS = "red blue green yellow golden silver white brown orange purple".split()
OBJECTS = ("kite lantern ball drum scarf hat boat whistle bell basket book mirror umbrella key spoon blanket flute cup "
           "button ring wagon puppet clock feather marble boot violin pencil").split()
FOODS = ["apple pie", "honey cake", "loaf of bread", "bag of nuts", "basket of berries", "bowl of soup", "jar of jam",
         "bag of cookies", "piece of cheese", "basket of plums", "pot of stew", "bag of cherries"]
# noun, "at" phrase, "to" phrase
PLACES = [(noun, f"{at} the {noun}", f"to the {noun}") for noun, at in (
    ("forest", "in"), ("meadow", "in"), ("garden", "in"), ("river", "by"), ("lake", "by"), ("hill", "on"),
    ("village", "in"), ("old mill", "by"), ("beach", "on"), ("market", "at"), ("orchard", "in"),
    ("park", "in"), ("bridge", "under"), ("pond", "by"), ("valley", "in"), ("windmill", "by"))]
INSIDE = ["under the bed", "behind the door", "in the old chest", "under the table", "on top of the cupboard",
          "in the kitchen",
          "behind the curtain", "in the cellar", "under the stairs", "in the attic"]
OUTSIDE = ["in the tall grass", "under the bushes", "behind a big stone", "next to the well", "under a pile of leaves",
           "behind the shed", "behind the fence", "under an old oak", "between the roots of a tree",
           "behind a hollow log"]
SKILLS = [("swim", "swam"), ("whistle", "whistled"), ("dance", "danced"), ("sing", "sang"), ("juggle", "juggled"),
          ("climb trees", "climbed the tallest tree"), ("skate", "skated"), ("play the drum", "played the drum"),
          ("paint", "painted"), ("read", "read a whole book"), ("bake bread", "baked a fine loaf"), ("row a boat", "rowed the boat")]
NOISES = [("a branch that knocked on the window", "a tapping sound"), ("the wind in the chimney", "a long howl"),
          ("a mouse that was looking for crumbs", "a small scratching sound"), ("the old clock in the hall", "a slow ticking"),
          ("a drop of water that fell into a bucket", "a dripping sound"), ("an owl in the tree", "a strange hoot"),
          ("a loose shutter", "a loud bang"), ("a cat on the roof", "soft steps")]
SEEDS = ["apple tree", "sunflower", "pumpkin", "cherry tree", "rose bush", "bean plant", "pear tree",
         "strawberry plant",
         "tomato plant", "plum tree"]
TREASURES = [("a box full of old books", "Every book was full of stories"), ("a pair of warm boots", "They fit perfectly"),
             ("a bag of seeds", "From them a whole garden could grow"), ("a small music box", "It played a soft song"),
             ("a letter from long ago", "It told about two friends"), ("a set of paints", "There was every colour of the rainbow")]
CRAFTS = [("kite", "paper and thin sticks"), ("boat", "wood and an old sheet"), ("house in the tree", "boards and nails"),
          ("raft", "logs and rope"), ("wagon", "a box and four wheels"), ("snowman", "snow and a carrot"),
          ("bridge over the stream", "long planks"), ("bird house", "boards and moss"), ("sand castle", "sand and shells"),
          ("swing", "rope and a plank")]
TRAPS = [("fallen into a deep hole", "a long rope"), ("stuck in the mud", "a strong branch"),
         ("caught high up in a tree", "a ladder"), ("caught in a thorn bush", "a pair of scissors"),
         ("stranded on a rock in the water", "a small boat"), ("trapped under a fallen branch", "a long pole")]
GIFTS = [("necklace of shells", "shells and a string"), ("warm scarf", "soft wool"), ("painted picture", "paper and bright paint"),
         ("wooden spoon", "a piece of wood"), ("crown of flowers", "daisies from the meadow"), ("card", "paper and coloured pencils"),
         ("cake", "flour, eggs and honey"), ("basket", "thin willow branches")]


def _person(rng, others=()):
    """(name, kind, with an adjective, pronouns) of a child or an animal."""
    girl = rng.random() < 0.5
    names = [name for name in (GIRLS if girl else BOYS) if name not in others]
    chance = rng.random()
    kind = ("girl" if girl else "boy") if chance < 0.25 else pick(rng, RARE if chance > 0.9 else ANIMALS)
    if rng.random() < 0.15:
        names = ["".join(pick(rng, SYLLABLES) for _ in range(2)).capitalize()]
    pronouns = ("she", "her", "her") if girl else ("he", "him", "his")
    return pick(rng, names), kind, f"{pick(rng, LOOKS)} {kind}", pronouns


def cast(rng, held=False):
    """The words of one story. Whether its hero's kind, object and place are a held-out mixture is as asked."""
    while True:
        h, hk, hd, (he, him, his) = _person(rng)
        obj, place = pick(rng, OBJECTS), pick(rng, PLACES)
        if (fixed_hash("story", hk, obj, place[0]) % 20 == 0) == held:
            break
    f, fk, fd, (fhe, fhim, fhis) = _person(rng, (h,))
    while f == h or fk == hk:
        f, fk, fd, (fhe, fhim, fhis) = _person(rng, (h,))
    place2 = pick(rng, [p for p in PLACES if p is not place])
    room = pick(rng, INSIDE)
    room2 = pick(rng, [x for x in INSIDE if x != room])
    spot = pick(rng, OUTSIDE)
    spot2 = pick(rng, [x for x in OUTSIDE if x != spot])
    (skill, did), (noise, sound) = pick(rng, SKILLS), pick(rng, NOISES)
    (treasure, about), (craft, stuff) = pick(rng, TREASURES), pick(rng, CRAFTS)
    (trap, tool), (gift, parts) = pick(rng, TRAPS), pick(rng, GIFTS)
    kin = pick(rng, KIN)
    kin_he, kin_his = ("she", "her") if kin in ("mother", "grandmother", "aunt") else ("he", "his")
    return {"h": h, "hk": hk, "hd": hd, "he": he, "him": him, "his": his, "f": f, "fk": fk, "fd": fd, "fhe": fhe,
            "fhim": fhim, "fhis": fhis, "e": pick(rng, ELDERS), "k": kin, "khe": kin_he, "khis": kin_his,
            "c": pick(rng, COLOURS), "o": obj, "food": pick(rng, FOODS), "pn": place[0], "p": place[1], "to": place[2],
            "p2": place2[1], "to2": place2[2], "room": room, "room2": room2, "spot": spot, "spot2": spot2,
            "skill": skill, "did": did,
            "noise": noise, "sound": sound, "seed": pick(rng, SEEDS), "treasure": treasure, "about": about,
            "craft": craft, "stuff": stuff, "trap": trap, "tool": tool, "gift": gift, "parts": parts}
