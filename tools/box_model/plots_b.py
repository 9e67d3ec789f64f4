# SPDX-License-Identifier: Apache-2.0
"""The second half of the plots; see plots_a.py."""
from plots_a import Plot

SEED = Plot(
    "[{a:hk} who plants {a:seed}|planting {a:seed}|a small seed]",
    ["{^e} gave {h} a [tiny|small] seed. \"[Plant it and be patient|Take good care of it],\" said {e}.",
     "{h} dug a small hole {p}, put the seed in and covered it with earth. [Every morning|Each day] {he} [gave it "
     "water|watered it].",
     "A week went by, and nothing happened. \"[Maybe it is a stone|It does not want to grow],\" said {f} the {fk}. "
     "[\"Leave it,\" said the others.|"
     "The others laughed.] But {h} did not give up.",
     "\n[Then, after a warm rain,|One morning,] a green tip [looked out of|pushed through] the earth. \"[It is "
     "alive!|Look, look!|It is growing!]\" {h} [cried|shouted].",
     "[When the wind was cold, {he} put straw around it.|When the sun was hot, {he} gave it shade.|When snails "
     "came, {he} carried them away.] "
     "The plant grew and grew.",
     "In the end it became a [strong|fine|wonderful] {seed}. [Bees came to visit it.|Birds sang around "
     "it.|Everybody came to look at it.]",
     "\n{f} [was amazed|said, \"I was wrong\"]. {h} [shared everything that grew on it with {fhim}|gave {fhim} a "
     "seed of {fhis} own].",
     "\"[Good things take time|Small things can become great],\" said {e}[, and {h} nodded|]."],
    [("What did {h} plant?", "{h} planted a seed, and it became {a:seed}."), ("Who gave {h} the seed?",
        "{^e} gave {h} the seed."),
     ("Where did {h} plant the seed?", "{h} planted the seed {p}.")])

RACE = Plot(
    "[a race|a race between {a:hk} and {a:fk}|{a:hk} in a race]",
    ["{f} the {fk} [liked to boast|was very proud]. \"Nobody is as fast as I am!\" {fhe} said every day.",
     "\"[Let us have a race|I will race you],\" said {h}. [Everyone laughed.|{f} laughed loudly.] \"You? [Very "
     "well, from the oak {to}.|Good, we will run {to}.]\"",
     "{^e} [called|counted], \"One, two, three, go!\" {f} shot ahead, and {h} [ran steadily behind|was soon far "
     "behind].",
     "\n[Half way|In the middle of the race], {f} [turned around to wave|looked back to laugh] and did not see the "
     "[root|stone|puddle]. {^fhe} fell and hurt {fhis} foot.",
     "{h} came running. [The way was free!|Now {he} could win!|Everyone held their breath.] But {he} stopped and "
     "asked, \"[Are you hurt?|Can you stand up?]\"",
     "\"[Go on, win!|Why do you stop?]\" said {f}. \"[A friend is worth more than a race|A race is not so "
     "important],\" [said|answered] {h}. {^he} [put an arm around {fhim}|"
     "let {fhim} lean on {him}].",
     "\nSide by side they walked over the line. [Everybody cheered.|The crowd clapped for a long time.] \"Who has "
     "won?\" asked the others. \"[Both of them|Friendship],\" said {e}.",
     "{f} [never boasted again|was ashamed of {fhis} boasting]. [\"You are the better runner, because you "
     "stopped,\" {fhe} told {h}.|From then on they ran together.]"],
    [("Who liked to boast?", "{f} the {fk} liked to boast."), ("Why did {h} stop?", "{h} stopped because {f} was "
        "hurt."),
     ("Who fell?", "{f} the {fk} fell.")])

BABY = Plot(
    "[a lost little {fk}|{a:hk} who helps a lost {fk}|{a:hk} who finds a small {fk}]",
    ["As {h} walked {to}, {he} heard somebody crying. {^spot} sat a very small {fk}.",
     "\"[Who are you?|What is your name?]\" asked {h}. \"I am {f},\" [sobbed|said] the small {fk}. \"[I cannot "
     "find my mother.|I followed a butterfly and now I am lost.]\"",
     "\"[Do not be afraid|Dry your tears],\" said {h}. \"[We will find her.|I will take you home.] What [did you "
     "see near your home|is near your home]?\"",
     "\n{f} thought hard. \"[We live|Our home is] {p2},\" {fhe} said, \"and [there is a tree with {a:c} ribbon|our "
     "door is {c}].\"",
     "\"[I know the way!|Then I know where to go!]\" said {h}. {^he} took {f} by the hand, and they [went|walked] "
     "{to2}. [On the way they sang a song.|"
     "When {f} got tired, {h} carried {fhim}.|They shared {a:food} on the way.]",
     "{f} [pointed|called out], \"[There it is!|I see it!]\" And there [stood|came] {fhis} mother, who had been "
     "searching all day.",
     "\n\"My little {f}!\" she cried and held {fhim} tight. \"[How can I thank you, {h}?|Thank you, {h}!]\" She "
     "gave {h} {a:c} {o}.",
     "[{h} waved and went home happily.|{h} promised to visit them again.|Since then {f} never runs away without "
     "telling {fhis} mother.]"],
    [("Who was lost?", "{f} the {fk} was lost."), ("Where did {f} live?", "{f} lived {p2}."), ("Who found {f}?",
        "{h} found {f}."),
     ("What did {h} get?", "{h} got {a:c} {o}.")])

RESCUE = Plot(
    "[{a:hk} who saves {a:fk}|a rescue {p}|{a:fk} who needs help]",
    ["One day {h} was walking {p} when {he} heard a cry. \"Help! Help!\"",
     "{h} ran to look. {f}, {a:fd}, was {trap}! \"[I cannot get out|I cannot move|I have been here for hours],\" "
     "{fhe} cried.",
     "{h} tried to [reach {fhim}|help {fhim} with bare hands], but {he} [was too small|could not do it]. \"[Wait "
     "here,|Hold on,] I will be back soon,\" {he} said.",
     "\n{^he} ran to {e}. \"{f} is {trap}! [What can we do?|Please help us!]\" \"Take {tool},\" said {e}. \"[But "
     "stay calm|Be careful].\"",
     "{h} ran back with {tool}. [It was heavy, but {he} did not rest.|{^his} legs hurt, but {he} ran on.]",
     "With {tool}, {he} [worked slowly and with care|did it step by step]. \"[Nearly there|Just a little more],\" "
     "{he} said. At last {f} was free!",
     "\n\"[You saved me!|I thought nobody would come!]\" said {f}. [{^fhe} hugged {h}.|They both sat down and "
     "laughed.]",
     "{^e} was proud of {h}. \"[A calm head is worth more than strong arms|It is brave to help and wise to ask for "
     "help],\" said {e}.",
     "[That evening they all ate {a:food} together.|{f} and {h} have been friends ever since.]"],
    [("Who needed help?", "{f} the {fk} needed help."), ("What did {h} use to help {f}?", "{h} used {tool}."),
     ("What had happened to {f}?", "{f} was {trap}."), ("Whom did {h} ask for help?", "{h} asked {e}.")])

WISH = Plot(
    "[a magic {o}|{a:hk} with a wish|{a:hk} who finds a magic {o}]",
    ["{^p}, {h} found {a:c} {o}. When {he} [touched it|rubbed it|picked it up], a voice said, \"[You have two "
     "wishes|I am magic. You may wish twice]. [Choose well!|Think before you speak!]\"",
     "\"[Two wishes!|How wonderful!]\" cried {h}. {^he} was hungry, so {he} said, \"I wish that everything I touch "
     "becomes {a:food}!\"",
     "{^he} touched a stone, and it was {a:food}. {^he} touched a [chair|tree|fence], and it became {a:food}. {h} "
     "ate until {he} was full. [It was great fun.|{^he} laughed out loud.]",
     "\nBut then {h} wanted to [play with {his} ball|read {his} book|lie down in {his} bed]. As soon as {he} "
     "touched it, it was {a:food}! [\"Oh no!\" {he} cried.|{h} was shocked.]",
     "{f} the {fk} came by and wanted to [hug {him}|shake {his} hand]. \"Stop!\" shouted {h}. \"[You must not "
     "touch me!|Do not come near me!]\" {f} [went away sadly|did not understand].",
     "{h} [sat down and cried|felt very lonely]. \"[I do not want this any more|What good is it without a "
     "friend],\" {he} thought.",
     "\nThen {he} remembered the second wish. \"I wish that everything was as before,\" {he} said. [There was a "
     "flash|There was a bright light], and everything was as it had been.",
     "{h} ran to {f} and hugged {fhim}. \"[I have all that I need|A friend is better than magic],\" {he} said. "
     "[And the {o} never spoke again.|They put the {o} in the deepest lake.]"],
    [("What did {h} find?", "{h} found {a:c} {o}."), ("How many wishes did {h} have?", "{h} had two wishes."),
     ("What became of everything that {h} touched?", "It became {a:food}."), ("Where did {h} find the {o}?",
         "{h} found it {p}.")])

NEWCOMER = Plot(
    "[a new neighbour|{a:hk} who makes a new friend|a shy {fk}]",
    ["A new family had moved into the house {p}. [Everyone wondered who they were.|Nobody knew them yet.]",
     "{h} saw {a:fd} [at the window|behind the fence]. {^h} waved, but the {fk} [hid at once|was too shy to wave "
     "back].",
     "\"[{^fhe} does not want to play with us|What a strange {fk}],\" said the others. But {h} [thought|said], "
     "\"[Maybe {fhe} is only shy.|It is hard to be new.]\"",
     "\nThe next day {h} put {a:c} {o} in front of the door with a note: \"[Welcome! Do you want to play?|For you. "
     "I live next door.]\"",
     "The day after, there was an answer: \"[Thank you! I am {f}.|My name is {f}. Thank you!]\" [Next to it lay a "
     "drawing of a star.|Next to it lay a shell.|Next to it stood a small cake.]",
     "On the third day, {f} came out. [{^fhe} spoke very softly.|{^fhis} voice was quiet.] \"[In my old home I had "
     "many friends|I was afraid that you would not like me],\" {fhe} said.",
     "\n\"Now you have [a friend here|me],\" said {h}. They [went {to2}|played {p2}] until evening. {f} knew [a "
     "game that nobody knew|the funniest jokes].",
     "[Soon all the others wanted to play with them, too.|\"I am glad that you wrote to me,\" said {f}.|And nobody "
     "thought that {f} was strange any more.]"],
    [("Who was new?", "{f} the {fk} was new."), ("What did {h} put in front of the door?",
                                                 "{h} put {a:c} {o} in front of the door."),
     ("Where was the house?", "The house was {p}.")])

TREASURE = Plot(
    "[a treasure map|{a:hk} who looks for a treasure|{a:hk} and a treasure {p2}]",
    ["{h} found an old map {room}. [It was yellow and torn.|It smelled of dust.] On it was a cross, and the cross "
     "was {p2}.",
     "{^he} [ran to|showed it to] {f} the {fk}. \"A treasure! [Maybe it is gold!|Let us find it!]\" said {f}. They "
     "packed {a:food}[|, a lamp|, a rope] and a spade, and [set off|went on their way].",
     "[First they went {to}.|The way led {to}.] There they met {e}. \"Where are you going?\" asked {e}. \"[To find "
     "a treasure|We are treasure hunters],\" they said. "
     "\"[Then good luck|Remember that not all treasures shine],\" said {e}.",
     "\nWhen they came {to2}, they began to dig. [They dug and dug.|It was hard work.] [\"There is nothing,\" "
     "sighed {f}.|The sun was already low.] Then the spade hit something hard.",
     "It was a small [box|chest]. They opened it with [trembling hands|beating hearts]. Inside was {treasure}.",
     "\"[It is not gold|No gold],\" said {f}. But {h} looked [closer|at it for a long time]. {about}. \"[This is "
     "better than gold|It is a real treasure],\" {he} said.",
     "\n[They took it home and shared it.|They showed it to everyone.] And [under the cross|on the map] they drew "
     "a new one, [for the next ones who search|and they hid a treasure of their own]."],
    [("What did {h} find at first?", "{h} found an old map."), ("What was the treasure?", "The treasure was "
        "{treasure}."),
     ("Where was the treasure?", "The treasure was {p2}."), ("Who went with {h}?", "{f} the {fk} went with {h}.")])

GIFT = Plot(
    "[a present for a {k}|{a:hk} who makes {a:gift}|{a:hk} who makes a present]",
    ["Tomorrow was {his} {k}'s birthday, and {h} had no present. [{^he} looked into {his} purse, but it was "
     "empty.|{^he} had only one small coin.]",
     "[In the shop {he} had seen {a:c} {o}|{^he} had wanted to buy {a:c} {o}], but it was too expensive. {h} "
     "[sighed|was sad].",
     "\"[Why do you not make something?|The best presents are made by hand],\" said {f} the {fk}. \"{h}, you have "
     "[clever|good] hands!\"",
     "\nThat was a good idea. {h} took {parts} and went to work. [It took all day.|{^he} worked until the stars "
     "came out.] [Once it went wrong, and {he} started again.|"
     "{f} helped where {fhe} could.]",
     "In the end it was ready: {a:gift}. [It was a little crooked.|It was not perfect.] \"[Will {k} like it?|I "
     "hope it is good enough],\" {h} [wondered|said].",
     "\nThe next morning {h} gave it to {his} {k}. {^his} {k} looked at it and [was quiet for a moment|could not "
     "speak]. Then {khe} smiled. "
     "\"[Nobody ever gave me something so beautiful|It is the best present of all],\" {khe} said, \"[because you "
     "made it yourself|because it is made with love].\"",
     "[{h} felt warm inside.|{h} was as happy as {his} {k}.|They ate {a:food} and laughed all day.]"],
    [("What did {h} make?", "{h} made {a:gift}."), ("Who had a birthday?", "{^his} {k} had a birthday."),
     ("What did {h} use?", "{h} used {parts}."), ("Who had the idea?", "{f} the {fk} had the idea.")])

OUTING = Plot(
    "[a day {p}|a trip of two friends|{a:hk} and {a:fk} on a trip]",
    ["\"[What a fine day!|The sun is shining!] Shall we go {to}?\" {h} asked {his} friend {f} the {fk}. \"[Yes, "
     "let us go!|What a good idea!]\" said {f}.",
     "They packed {a:food} and {a:c} {o}. [On the way they counted the clouds.|They sang as they walked.|They met "
     "{e}, who wished them a good day.]",
     "{^p} they [played hide and seek|ran and jumped|built a tower of stones]. {f} hid {spot}, and it took {h} a "
     "long time to find {fhim}.",
     "\nAt noon they [were hungry|sat down in the shade]. But when they opened the bag, the {food} was gone! "
     "\"[Who took it?|Where is it?]\" asked {h}.",
     "They saw crumbs on the ground and followed them. [The crumbs led {spot2}.|They went on and on, and ended "
     "{spot2}.] There sat a tiny mouse with a round belly.",
     "\"[I am sorry|Forgive me],\" said the mouse. \"[I was so hungry|It smelled so good].\" The friends looked at "
     "each other and had to laugh.",
     "\n\"[Next time, just ask|You only had to ask],\" said {f}. The mouse [showed them a bush full of "
     "berries|brought them nuts from its nest], and so all three had enough to eat.",
     "[In the evening they walked home, tired and happy.|It was the best day of the summer.|\"We must come back "
     "soon,\" said {h} on the way home.]"],
    [("Where did the friends go?", "The friends went {to}."), ("What did they pack?", "They packed {a:food} and "
        "{a:c} {o}."),
     ("Who took the {food}?", "A tiny mouse took it."), ("Who hid {spot}?", "{f} hid {spot}.")])

PLOTS = [SEED, RACE, BABY, RESCUE, WISH, NEWCOMER, TREASURE, GIFT, OUTING]
