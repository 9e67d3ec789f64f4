# SPDX-License-Identifier: Apache-2.0
"""The first half of the plots: each has a topic for requests, its lines, and questions with answers about it.

Lines are templates over the words of story_words.cast; the same word stands for the same person or thing in all of them.
"""
import collections

Plot = collections.namedtuple("Plot", "topic lines questions")

LOST = Plot(
    "[a lost {o}|{a:hk} who loses {a:o}|{a:hk} and a lost {o}]",
    ["{h} had {a:c} {o} that {he} loved [very much|more than anything|with all {his} heart]. "
     "[{^he} took it everywhere.|"
     "It was a present from {his} {k}.|{^he} played with it every day.]",
     "[One morning|One day|One afternoon], the {o} was gone. [{h} felt very sad.|\"Where is my {o}?\" cried {h}.|"
     "{h} could not believe it.]",
     "\n{^he} looked {room}, but it was not there. [Then {he} looked|Next {he} searched|After that {he} looked] "
     "{room2}, "
     "but [there was only dust|{he} found nothing|it was not there either].",
     "{^his} friend {f} the {fk} came by and asked, \"[What is wrong, {h}?|Why do you look so sad?|"
     "What are you looking for?]\"",
     "\"I have lost my {c} {o},\" said {h}. \"[Do not worry|Do not cry],\" said {f}. \"[I will help you.|"
     "We will find it together.|"
     "Two can search better than one.]\"",
     "\nThey [walked back|went] {to}, where {h} had played the day before. [They looked everywhere.|"
     "They searched for a long time.]",
     "[Suddenly|At last|Then] {f} [called|shouted], \"[Look, there it is!|I see something {c}!|Here it is!]\" "
     "The {o} lay {spot}.",
     "{h} [hugged {f}|jumped for joy|laughed with joy]. \"[Thank you, {f}!|You are a true friend!|"
     "Thank you so much!]\" {he} said.",
     "\nFrom that day on, {h} [always put the {o} in a safe place|took good care of the {o}|never left the {o} behind "
     "again]. "
     "[And when {f} needed help, {h} was always there.|And the two friends played with it together.|]"],
    [("What did {h} lose?", "{h} lost {a:c} {o}."), ("Who helped {h}?", "{f} the {fk} helped {h}."),
     ("What colour was the {o}?", "The {o} was {c}."), ("Where was the {o}?", "The {o} lay {spot}.")])

RETURNED = Plot(
    "[{a:hk} who finds {a:o}|{a:o} that was found|{a:hk} who gives back {a:o}]",
    ["One day, {h} went for a walk {to}. [The sun was shining and the birds were singing.|It was a warm day.|"
     "A soft wind was blowing.]",
     "{^spot}, {he} found {a:c} {o}. \"[What a beautiful {o}!|How pretty it is!|I wonder whose it is,]\" "
     "{he} [said|thought].",
     "[{h} wanted to keep it|{^he} would have loved to keep it], but {he} knew that [somebody must be missing it|it "
     "belonged to someone else].",
     "\nSo {h} went to {e}. \"Is this your {o}?\" {he} asked. \"No,\" said {e}, \"but I saw {f} the {fk} "
     "[crying|searching] {p2}. "
     "[Maybe it is {fhis} {o}.|Go and ask {fhim}.]\"",
     "{h} [ran|hurried|walked] {to2}. There sat {f}, and {fhe} looked very sad.",
     "\"Did you lose {a:o}?\" asked {h}. {f} looked up. \"Yes! [It is {c}|A {c} one], and my {k} gave it to me.\"",
     "\n{h} [held it out|gave it to {fhim}]. {f} [smiled|beamed] with joy. \"[Thank you for being so honest!|"
     "You are so kind!|"
     "I thought it was gone forever!]\"",
     "[As a thank you, {f} shared {fhis} {food} with {h}.|{f} invited {h} to eat {a:food} together.] "
     "It tasted wonderful.",
     "[Since then the two have been best friends.|That is how {h} found something better than {a:o}: a friend.|"
     "{h} went home with a warm heart.]"],
    [("What did {h} find?", "{h} found {a:c} {o}."), ("Whose {o} was it?", "It was the {o} of {f} the {fk}."),
     ("Where did {h} find the {o}?", "{h} found it {spot}."), ("Where did {f} sit?", "{f} sat {p2}.")])

SHARING = Plot(
    "[sharing {a:food}|{a:hk} who shares {a:food}|{a:hk} and a hungry {fk}]",
    ["{^his} {k} had given {him} {a:food}. {h} [wanted to eat it|was looking forward to eating it] {p}.",
     "On the way {he} met {f}, {a:fd}. {f} [sat on a stone and looked tired|looked thin and hungry|sat alone and "
     "sighed].",
     "\"What is the matter?\" asked {h}. \"I [have not eaten since yesterday|am so hungry],\" said {f}. "
     "\"[I lost my bag|The winter was long|"
     "I could not find any food].\"",
     "\n{h} looked at the {food}. [There was only enough for one.|It smelled so good.|{^he} was hungry too.] "
     "But {he} [thought for a moment|"
     "looked at {f} again] and said, \"[Let us share it.|Half of it is yours.|Come, we will eat together.]\"",
     "They sat down {p} and ate. [It tasted better than ever.|They talked and laughed until the sun went down.]",
     "\nSome weeks later, [a heavy rain came|a storm came] and {h} could not get home. {^he} was cold and hungry.",
     "[Then|Just then] {f} opened {fhis} door. \"Come in, {h}! [I have soup on the fire.|"
     "There is enough for both of us.|"
     "Sit down by the fire.]\"",
     "{h} was [glad|happy and warm]. \"[Kindness comes back|Now you share with me|What you give comes back to you],\" "
     "{he} said[ and smiled|]."],
    [("What did {h} share?", "{h} shared {a:food}."), ("Who was hungry?", "{f} the {fk} was hungry."),
     ("Who gave {h} the {food}?", "{^his} {k} gave it to {him}.")])

STORM = Plot(
    "[a storm {p}|{a:hk} in a storm|two friends in the rain]",
    ["[One day|One afternoon], {h} and {his} friend {f} the {fk} were playing {p}. "
     "[They were building a house of leaves.|They were throwing stones.|"
     "They were looking for pretty stones.]",
     "[All at once|Suddenly] the sky turned dark. [A cold wind blew.|The wind began to howl.] \"[A storm is coming!|"
     "Look at those clouds!]\" said {f}.",
     "[Big drops began to fall.|Then the rain came down.|Thunder rolled over the hills.] {h} was afraid. "
     "\"[Where can we go?|We are too far from home!]\" {he} cried.",
     "\n\"I know a [cave|hut|hollow tree] near here,\" said {f}. \"Take my hand and run!\" "
     "They ran [as fast as they could|through the rain].",
     "Inside it was dry. [They sat close together|They held each other] and listened to the thunder. "
     "To feel better, they [sang all the songs they knew|"
     "told each other funny stories|counted the seconds after each flash].",
     "[After a while|After an hour], the rain stopped. [A bird began to sing.|The clouds moved on.]",
     "\nWhen they came out, there was a [huge|wonderful|bright] rainbow in the sky. \"[How beautiful!|"
     "Look at all the colours!]\" said {h}.",
     "\"You see,\" said {f}, \"[after every storm the sun comes back|a storm is only half as bad with a friend].\" "
     "[They walked home through the puddles.|They jumped into every puddle on the way home.]"],
    [("Who was afraid?", "{h} was afraid."), ("Where were they playing?", "They were playing {p}."),
     ("What was in the sky after the storm?", "There was a rainbow in the sky."), ("Who was with {h}?", "{f} the {fk} was with {h}.")])

SKILL = Plot(
    "[{a:hk} who learns to {skill}|{a:hk} who wants to {skill}|learning to {skill}]",
    ["{h} wanted to {skill} [more than anything|very much]. [But every time {he} tried, it went wrong.|"
     "But {he} did not know how.]",
     "[The others laughed at {him}.|\"I will never learn it,\" {he} thought.|Everyone else could do it already.] "
     "{h} [went home with a heavy heart|"
     "hung {his} head|felt small].",
     "\n{^e} saw {him} and asked, \"[Why are you so sad?|What makes you so quiet today?]\" \"I cannot {skill},\" "
     "said {h}.",
     "\"[Nobody can do it at first|I could not do it either when I was young],\" said {e}. \"[Try a little every day.|"
     "Practice makes it easy.|"
     "Come to me tomorrow and I will show you.]\"",
     "So {h} practised {p}. On the first day it [went badly|did not work]. On the second day it went a little better. "
     "[{^he} fell down and got up again.|{^he} wanted to give up, but {he} did not.|"
     "{f} the {fk} came to cheer for {him}.]",
     "\n[After a week|One morning|Then, one day], something [wonderful|amazing] "
     "happened: {h} {did}! [{^he} could hardly believe it.|"
     "Everyone clapped.|\"I can do it!\" {he} shouted.]",
     "[{^e} smiled.|{^e} was proud of {him}.] \"[You did not give up, and that is the secret|Patience is a good "
     "teacher],\" said {e}.",
     "[Now {h} teaches others to {skill}.|And the ones who had laughed came to ask how it was done.|"
     "That night {h} fell asleep with a smile.]"],
    [("What did {h} want to do?", "{h} wanted to {skill}."), ("Who helped {h} with good advice?", "{^e} helped {h}."),
     ("Where did {h} practise?", "{h} practised {p}.")])

BUILD = Plot(
    "[building {a:craft}|{a:hk} who builds {a:craft}|{a:hk} and {a:craft}]",
    ["[One day|On Saturday|One bright morning], {h} [had an idea|woke up with an idea]. \"I will build {a:craft}!\" "
     "{he} said.",
     "{^he} gathered {stuff} and [began to work|worked all morning] {p}. [It was not easy.|"
     "{^he} hummed a song as {he} worked.]",
     "At noon it was ready. {h} was [proud|very proud]. But [then a strong wind came|then came a gust of wind], and "
     "the {craft} fell apart.",
     "\n\"[All my work was for nothing!|Oh no!|Now it is broken!]\" {h} cried. [{^he} sat down and wept.|"
     "{^he} kicked a stone.]",
     "{f} the {fk} [had seen it all|came along]. \"[It was a good start|It looked great],\" said {f}. "
     "\"[Let us build it again, but stronger.|"
     "Shall we try together?|With two it will be stronger.]\"",
     "{f} held the parts while {h} put them together. [They worked until evening.|They tested every part.|"
     "They laughed a lot.]",
     "\nThis time, when the wind blew, the {craft} [stood firm|did not break]. \"[Hooray!|We did it!|It holds!]\" "
     "they shouted.",
     "[\"Alone I was fast, but together we were strong,\" said {h}.|{h} had learned that a mistake is only the first "
     "try.|"
     "From then on they built everything together.]"],
    [("What did {h} build?", "{h} built {a:craft}."), ("What broke the {craft}?", "The wind broke the {craft}."),
     ("Who helped {h}?", "{f} the {fk} helped {h}."), ("What did {h} use?", "{h} used {stuff}.")])

BIRTHDAY = Plot(
    "[a birthday surprise|the birthday of {a:hk}|{a:hk} who has a birthday]",
    ["It was {h}'s birthday. {^he} [woke up early|jumped out of bed] and [waited for a visit|was very excited].",
     "But [nobody came|the house was quiet]. {h} went {to} and met {f} the {fk}. "
     "\"Hello, {f}! Do you know what day it is?\" {he} asked.",
     "\"[Today is a day like any other|No idea],\" said {f}. \"[I have to go|I am in a hurry]!\" And {fhe} ran off.",
     "\n{h} asked {e}, but {e} [had no time either|only smiled and hurried away]. "
     "\"[Everyone has forgotten me,|Nobody remembers,]\" {h} thought, "
     "and a tear ran down {his} face.",
     "In the evening {he} went home. [The window was dark.|It was dark inside.] {h} opened the door...",
     "\n\"SURPRISE!\" [All {his} friends were there!|Everybody jumped up!] There were [candles and flowers|balloons "
     "and lights], and on the table stood {a:food}.",
     "\"We [were getting everything ready|did not forget you],\" said {f}. \"[That is why I had to run.|"
     "It was so hard to keep the secret!]\"",
     "{f} gave {him} {a:c} {o}. {h} [laughed and cried at once|was so happy]. It was the best birthday of all."],
    [("Whose birthday was it?", "It was {h}'s birthday."), ("What stood on the table?", "On the table stood {a:food}."),
     ("What did {f} give to {h}?", "{f} gave {h} {a:c} {o}.")])

NIGHT = Plot(
    "[a strange noise at night|{a:hk} who is afraid of the dark|{a:hk} and a noise in the night]",
    ["{h} did not like the dark. [Every night {he} pulled the blanket over {his} head.|"
     "{^he} always left a small lamp on.]",
     "One night {he} heard {sound}. [{^his} heart beat fast.|{h} held {his} breath.] \"[What is that?|"
     "Is it a monster?]\" {he} whispered.",
     "[There it was again!|The sound came again, louder this time.] {h} wanted to [hide|call for {his} {k}], but then "
     "{he} thought: \"[I want to know what it is.|"
     "Maybe somebody needs help.|I am brave enough to look.]\"",
     "\n{^he} took {a:c} lamp and went, step by step, to see. [The floor creaked.|It was cold in the hall.]",
     "And what did {he} find? It was only {noise}! {h} had to laugh. \"[And I was afraid of that!|"
     "So you are my monster!]\" {he} said.",
     "[{^his} {k} came and asked what had happened.|In the morning {he} told {his} {k} about it.] "
     "\"[You were very brave,|To look is the best cure for fear,]\" said {his} {k}.",
     "\n{h} [went back to bed|lay down again] and slept well. [Since that night, the dark has been {his} friend.|"
     "Now, when {he} hears a noise, {he} smiles.|Now {he} sleeps without the lamp.]"],
    [("What did {h} hear?", "{h} heard {sound}."), ("What was the noise?", "It was only {noise}."),
     ("What did {h} take along?", "{h} took {a:c} lamp.")])

TRUTH = Plot(
    "[telling the truth|a broken {o}|{a:hk} who breaks {a:o}]",
    ["{^his} {k} had {a:c} {o} that was very old. \"[Please do not play with it|Be careful with it],\" "
     "{khe} always said.",
     "But one day, when {h} was alone, {he} took the {o} and [played with it|ran around with it]. "
     "[{^he} slipped|It fell], and it broke in two.",
     "{h} was frightened. {^he} hid the pieces {room}. [\"Nobody will know,\" {he} thought.|"
     "All day {he} had a bad feeling.]",
     "\nIn the evening {his} {k} asked, \"Have you seen my {o}?\" {h} [turned red|looked at the floor]. "
     "[{^he} could say that the wind had done it.|"
     "It would have been easy to lie.]",
     "But [{his} heart felt heavy|{he} did not want to lie]. \"I broke it,\" {he} said softly. \"[I am so sorry.|"
     "I should have listened to you.]\"",
     "{^his} {k} was quiet for a moment. Then {khe} [took {him} in {khis} arms|smiled]. "
     "\"[It is only a thing|Things can be mended],\" {khe} said. \"[But the truth is precious.|"
     "I am glad that you told me the truth.]\"",
     "\nTogether they glued the {o}. [You could still see the crack|The crack stayed], but {h} liked it even more. "
     "It reminded {him} [to be careful|to be honest|that the truth makes the heart light]."],
    [("What did {h} break?", "{h} broke {a:c} {o}."), ("Where did {h} hide the pieces?", "{h} hid the pieces {room}."),
     ("Whose {o} was it?", "It belonged to {his} {k}.")])

PLOTS = [LOST, RETURNED, SHARING, STORM, SKILL, BUILD, BIRTHDAY, NIGHT, TRUTH]
