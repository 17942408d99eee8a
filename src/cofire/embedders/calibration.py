"""Calibration texts, and the mean and spread of a model's vectors over them.

Vectors are centred by the mean, which removes what all texts of a model have in common. The list is
final: a change of any text would change every measured mean.
"""

from __future__ import annotations

from cofire.algorithms.vector_similarity import cosine_spread
from cofire.embedders.base import Embedder, Vectors

NOTES = (
    "Buy oat milk and lemons.",
    "Dentist moved to Thursday morning.",
    "The spare key is under the blue pot.",
    "Wifi password changed last night.",
    "Renew passport before March.",
    "Ask Ingrid about the projector.",
    "Water the fern twice a week.",
    "Train leaves from platform nine.",
    "The printer is out of toner again.",
    "Return the library books by Friday.",
    "Invoice for the roof repair is paid.",
    "Remember to charge the camera.",
)

CHAT = (
    "Hey, how did the interview go yesterday?",
    "It went better than I feared! They asked mostly about my last project, and the team seemed kind.",
    "Thanks for dinner on Saturday. The children have not stopped talking about your dog.",
    "I'm running about ten minutes late, please order without me.",
    "Wow, congratulations! When do you start, and will you have to move to Lisbon?",
    "Honestly, I have been sleeping badly since we moved. The street is so much louder than the old one.",
    "Do you still have the recipe for that lentil soup?",
    "Sure, I will send it tonight. The trick is to fry the cumin first and to add the vinegar at the very end.",
    "My sister finally adopted the greyhound from the shelter. He is shy, but he already sleeps on her bed.",
    "No worries at all, we can do it next week instead.",
    (
        "I signed up for the pottery class you mentioned. The first evening was messy, but I came home with a bowl "
        "that almost stands straight."
    ),
    "Can you remind me what the landlord said about the boiler?",
    "He said a technician would come on Monday between eight and noon, and that we should not touch the valve.",
    "I can't believe the match ended like that, two goals in the last five minutes!",
    "Let's keep the trip simple this year: one cabin, no flights, and nobody checks their mail.",
)

PREFERENCES = (
    "I prefer window seats on long flights and aisle seats on short ones.",
    "She never drinks coffee after three in the afternoon.",
    "He likes his reports short, with the decision on the first line.",
    "My favourite colour for walls is a warm grey; bright white makes me nervous.",
    "The customer wants to be called by her first name and prefers mail to telephone calls.",
    "We do not eat pork at home, and my youngest is allergic to hazelnuts.",
    "I would rather read a paper map than listen to a voice telling me where to turn.",
    "Please answer me in British English and leave out the exclamation marks.",
    "They always book the small meeting room because the large one echoes.",
    "As a runner I care more about soft trails than about distance; concrete ruins my knees.",
)

EVENTS = (
    "On the second of May the old bridge was closed to lorries.",
    "Our team released the new checkout page on a Tuesday and rolled it back the same evening.",
    "The harvest festival drew nine thousand visitors this year, a third more than the last time it was held.",
    "Grandmother turned ninety in June; four generations came, and the youngest guest was three weeks old.",
    "A power cut on the east side lasted from noon until shortly before four.",
    "The committee met twice in autumn and could not agree on a budget for the swimming pool.",
    "Two engineers joined in January, and one of the founders left for a sabbatical a month later.",
    "After the storm the harbour stayed shut for three days while divers looked for the lost containers.",
    "The museum reopened with an exhibition of glass from Bohemia, and the queue reached around the corner.",
    "He broke his wrist while skating in December and had the plaster removed in the first week of February.",
)

TECHNICAL = (
    "The database accepts at most two hundred connections, so the pool in front of it runs in transaction mode.",
    (
        "Backups run at two in the morning, are encrypted before they leave the machine, and are restored once a "
        "month into an empty server to prove that they can be."
    ),
    "Set the cache to expire after sixty seconds.",
    "Requests above ten megabytes are rejected by the proxy before the application sees them.",
    (
        "The sensor reports its temperature every five minutes over a radio link; when three reports are missing, the"
        " gateway raises an alarm and keeps the last known value on the screen with a grey background."
    ),
    "Certificates are renewed thirty days before they expire.",
    "We chose message queues over direct calls because the warehouse system is down every Sunday.",
    (
        "Latency at the ninety-ninth percentile doubled after the upgrade, while the median did not move at all, "
        "which points to garbage collection rather than to the network."
    ),
    "The valve opens at six bar and must be replaced after five thousand cycles.",
    "Deploys go to the staging cluster first and wait there for a person to approve them.",
    "Solder the ground wire last, and check the polarity of the capacitor before you apply power.",
    "An index on the date column made the monthly report forty times faster, at the price of slower imports.",
)

CODE = (
    "This function returns None when the file is empty.",
    "def area(width, height): return width * height",
    "The loop reads past the end of the array when the input has an odd length.",
    "Rename the variable: it holds seconds, not milliseconds.",
    "SELECT name, total FROM orders WHERE total > 100 ORDER BY total DESC",
    "TypeError: unsupported operand types for addition: integer and string",
    "Tests pass on my machine but fail on the build server, because they rely on the order of a directory listing.",
    (
        "The parser is written by hand as a set of mutually recursive functions, one for each rule of the grammar; it"
        " reports the first error with its line and column and then skips to the next semicolon."
    ),
    "Use a context manager here, so that the lock is released when an exception is raised.",
    "git rebase was interrupted by a conflict in the settings module",
    "The new type hints revealed three places where a missing value had been treated as zero.",
)

ENCYCLOPEDIC = (
    "Basalt is a dark volcanic rock formed by the rapid cooling of lava rich in iron and magnesium.",
    "The cello has four strings, tuned in fifths, and sounds an octave below the viola.",
    "Photosynthesis turns light, water and carbon dioxide into sugar and oxygen.",
    "Honey bees tell their nest mates about distance and direction of food by a dance on the comb.",
    (
        "The river rises in the highlands, flows north through two lakes and reaches the sea in a wide delta. Its "
        "lower course has been navigable for centuries, and several towns along its banks grew rich on the trade in "
        "salt and timber. Since the building of three dams in the nineteen sixties the spring floods have become "
        "rare, and much of the former wetland is now used for growing rice."
    ),
    "Double-entry bookkeeping records every transaction twice, once as a debit and once as a credit.",
    "Ada Lovelace published notes on the Analytical Engine that contain what many call the first computer program.",
    "A sonnet has fourteen lines.",
    "Vaccines train the immune system by showing it a harmless part or a weakened form of a germ.",
    (
        "The painter was born in a fishing village as the fifth of seven children. She learned drawing from her "
        "uncle, a maker of signs, and moved to the capital at nineteen. Her early pictures show harbours and markets "
        "in thick, dark strokes; after a long illness she turned to small portraits in watercolour, for which she is "
        "best known today. Most of her letters were lost in a fire, and what remains is kept by the city archive."
    ),
    "Chess was changed in the fifteenth century, when the queen became the strongest piece on the board.",
    "The speed of sound in air rises with temperature and is about 343 metres a second at twenty degrees.",
    "Inflation is a general rise in prices, and with it a fall in what money can buy.",
    "Penguins live almost only in the southern hemisphere.",
    "Under common law a contract needs an offer, an acceptance and something given in return.",
)

PASSAGES = (
    (
        "When we moved the archive to the new building, we found eleven boxes that no list mentioned. Most held "
        "receipts from the nineteen fifties, but one contained the minutes of the first meeting, written in pencil on"
        " the back of a seed catalogue. We scanned them the same day, and the originals are now in the fireproof "
        "cabinet."
    ),
    (
        "For the first month the plan is simple: walk half an hour every day, cook at home five evenings a week, and "
        "write down what I eat without judging it. Weight comes later. My doctor says that blood pressure follows "
        "habits, not resolutions, and that the best exercise is the one that I will still be doing in a year."
    ),
    (
        "To replace the filter, switch the unit off and wait until the fan has stopped. Open the lower flap, pull the"
        " old frame towards you, and wipe the slot with a dry cloth. The arrow on the new filter must point to the "
        "wall. Close the flap until it clicks, then hold the reset button for five seconds."
    ),
    (
        "The meeting agreed on three things. Support will answer within one working day, weekends excluded. The price"
        " for existing customers stays as it is until the end of next year. And nobody promises a date for the mobile"
        " version until design and engineering have both seen the list of screens. Marta writes the announcement."
    ),
    (
        "Our train stood for two hours in the snow between two stations whose names nobody could pronounce. A woman "
        "across the aisle shared her sandwiches, the conductor told stories about worse winters, and by the time the "
        "plough arrived we had learned a card game whose rules I have since forgotten entirely."
    ),
    (
        "The court held that the seller had known of the damp in the cellar and had kept silent about it. A buyer who"
        " is deceived in this way may return the house or keep it for a lower price; he cannot do both. The judgment "
        "was upheld on appeal with a single change to the interest."
    ),
    (
        "In the second week the patient could climb one flight of stairs without pain. Medication was halved, and the"
        " dressing is now changed every other day. She was told to keep the leg raised in the evening, to come back "
        "at once if fever sets in, and otherwise to return for a check in fourteen days."
    ),
    (
        "Sourdough needs patience more than skill. Feed the starter in the evening, mix the dough in the morning, and"
        " fold it every half hour until it holds its shape. It may rest in the refrigerator for a night, which suits "
        "both the taste and the baker. Bake it hot, with steam for the first twenty minutes."
    ),
    (
        "Rents in the district rose faster than wages for the sixth year in a row. Families with children move to the"
        " edge of the city, where the schools are full, while flats in the centre are let by the week. The council "
        "wants to limit such lets to ninety nights a year; the owners have announced that they will sue."
    ),
    (
        "The idea behind the experiment was to show that memory for faces does not depend on knowing the name. Forty "
        "volunteers saw two hundred portraits, half of them with a name, and were asked a day later which ones they "
        "had seen. Those with a name were recognised no better, but the answers came noticeably faster."
    ),
    (
        "Thank you for your order. The lamp will leave our workshop within ten days, the shade a little later, "
        "because the linen is dyed by hand and has to dry. If the colour is not what you expected, send it back "
        "unused within a month and we will refund the price, though not the postage."
    ),
)

CALIBRATION_TEXTS = (*NOTES, *CHAT, *PREFERENCES, *EVENTS, *TECHNICAL, *CODE, *ENCYCLOPEDIC, *PASSAGES)


def measure_mean_and_spread(embedder: Embedder) -> tuple[Vectors, tuple[float, float]]:
    """The mean vector of a model over the calibration texts, and the spread of cosines around it."""
    vectors = embedder.embed(CALIBRATION_TEXTS, "fact")
    mean: Vectors = vectors.mean(axis=0)
    return mean, cosine_spread(vectors, mean)
