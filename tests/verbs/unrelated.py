"""Two hundred facts of a small company and its people, none of which says anything about its database."""

from __future__ import annotations

UNRELATED: tuple[str, ...] = tuple(
    """
The coffee machine on the second floor takes only fresh milk.
We use the blue mugs for guests and the white ones for ourselves.
The kitchen is cleaned every evening by whoever leaves last.
Oat milk is ordered on Mondays from the shop around the corner.
The dishwasher needs salt once a month.
Friday lunch is paid by the company if at least four people come.
Mei brings homemade dumplings for the new year.
The fridge is emptied on the last Friday of the month.
Somebody keeps eating the yoghurt that belongs to Tomás.
The toaster was replaced after it burned two bagels in a row.
There are vegetarian pizzas at every team evening.
The spice rack was a present from the Lisbon office.
Tea is kept in the tin box above the sink.
The water filter has to be changed before the summer.
Ana does not drink coffee after three in the afternoon.
The bakery next door closes at six.
Birthday cakes are baked by the person whose birthday came before.
The ice machine is too loud for the meeting room beside it.
Paper cups are no longer bought.
The fruit basket comes every Tuesday before nine.
The office in Porto opened in the spring of 2019.
The lift is out of order until the spare part arrives from Milan.
Bicycles may be parked in the yard but not in the stairwell.
The key to the roof terrace hangs in the reception.
Visitors sign a book at the front desk.
The large meeting room seats fourteen people.
The plants are watered by Mei on Wednesdays.
The heating goes down by two degrees at night.
The old sofa was given to the school across the street.
Window cleaners come four times a year.
The alarm is armed at ten in the evening.
The landlord wants to paint the facade yellow.
There is a first aid kit beside the printer.
The printer prints on both sides unless told otherwise.
Desks by the window are given to those who were here longest.
The carpet in the corridor hides a stain of red wine.
The mailbox is emptied at eleven and at four.
Fire drills take place in April and October.
The lamp over the reception flickers when it rains.
The neighbours complain when music plays after eight.
Ana grew up on an island without a single traffic light.
Tomás has run three marathons, the last one in Valencia.
Mei plays the cello in an amateur orchestra.
Jonas moved from Bergen to Porto because of the weather.
Priya is allergic to walnuts.
Luis collects stamps with birds on them.
Greta speaks Finnish with her grandmother.
Omar builds model railways in his cellar.
Ana's sister works as a vet near Braga.
Tomás sold his car and bought a cargo bike.
Mei is learning to bind books.
Jonas keeps bees on the roof of his house.
Priya won a prize for a photograph of a lighthouse.
Luis never eats breakfast.
Greta takes every second Wednesday off for her son.
Omar was a pastry cook before he studied physics.
The twins of Priya start school in September.
Jonas broke his wrist while skating on the lake.
Luis sings bass in a choir that meets on Thursdays.
Greta prefers trains to planes.
Invoices are sent on the first working day of the month.
Travel costs are refunded within ten days.
The tax adviser wants all receipts by the end of January.
Customers in Norway pay in kroner.
A reminder goes out fourteen days after the due date.
The annual accounts were signed in May.
The insurance covers laptops but not telephones.
Salaries are paid on the twenty-fifth.
The company card has a limit of three thousand euros.
Discounts above ten percent need a signature.
The lease of the copier ends next year.
Two customers pay a year ahead.
The bank changed its opening hours.
Refunds are made by bank transfer only.
Expenses below twenty euros need no receipt.
The auditor comes from a firm in Coimbra.
A bonus was paid after the best quarter so far.
The pension plan was renegotiated last winter.
The price list is printed on green paper.
Shipping to Iceland costs twice as much.
The spring campaign shows a heron in a marsh.
The newsletter goes to nine hundred readers.
The logo must never stand on a red background.
The brochure was translated into Danish and Dutch.
Our stand at the fair was next to the entrance.
The slogan was found by an intern.
Photographs of the team were taken in the botanical garden.
The podcast has a new episode every other week.
Stickers are sent to anyone who writes a letter.
The video with the dancing robot was watched a million times.
Posters hang at the bus stops near the university.
The typeface was drawn by a friend of Mei.
A journalist visited us for a portrait in the local paper.
The catalogue has forty-eight pages.
The old website had a counter for visitors.
Questions from the press go to Greta.
The colour of the season is a dark orange.
The exhibition in Ghent was cancelled.
The survey was answered mostly by teachers.
Each parcel contains a handwritten card.
Interviews are always held by two people.
New colleagues get a mentor for the first three months.
The trial period lasts half a year.
Applicants are answered within a week.
The summer party takes place on the last Saturday of June.
Parental leave can be split into three parts.
The works council has five members.
Overtime is written down by everybody for themselves.
The language course is held in the small room on Mondays.
A day off is given for moving house.
Internships last from six weeks to six months.
The handbook for newcomers was rewritten in autumn.
Feedback talks take place twice a year.
The dress code is that there is none.
Home office is possible on three days a week.
Retired colleagues are invited to the winter dinner.
The training budget is a thousand euros a head.
Holidays for August are fixed by the end of March.
The photo board in the hall shows forty faces.
The farewell of Henrik ended on the river bank.
The delivery van needs new winter tyres.
The warehouse in Leiria is damp in November.
Pallets are returned to the supplier in Seville.
The forklift may be driven by four people.
Glass jars are packed in straw and not in foam.
A shipment of lamps got lost near Bordeaux.
The scale in the packing room is checked by the city.
Customs papers for Switzerland take two days.
The courier comes at half past three.
Boxes are made of recycled cardboard.
The shelf by the door is reserved for returns.
Stock is counted on the first Sunday of the year.
The ramp was built for heavy trolleys.
Fragile goods travel on the upper deck.
Labels fade when they lie in the sun.
The gate squeaks, and nobody finds the oil.
A cat lives behind the warehouse and catches mice.
The container from Busan arrives in six weeks.
Wood for the frames comes from the north of Sweden.
The saw in the workshop has a new blade.
The lighthouse at Cabo da Roca is the westernmost of the continent.
Herons nest in the reeds from March on.
The tide is highest two days after the full moon.
Cork oaks are peeled every nine years.
Storks return to the same chimney each spring.
The Douro flows into the Atlantic at Porto.
Granite from this quarry is almost pink.
The glacier has lost a third of its length.
Lavender flowers until the end of July.
A comet was seen above the bay in October.
Chestnuts are roasted in the streets in November.
The oldest olive tree of the village is hollow.
Wild boars came down to the vineyards.
The spring behind the chapel never runs dry.
Fog stays in the valley until noon.
The owl in the barn has three chicks.
Salt is raked in shallow pans near Aveiro.
The forest road is closed after storms.
Snow fell in Braga for the first time in years.
The island can be reached by ferry from Peniche.
The orchestra plays Brahms in the town hall on Sunday.
The museum of tiles is free on the first Sunday of the month.
The cinema shows old westerns in the courtyard.
The choir is looking for two tenors.
Tickets for the puppet theatre are sold at the kiosk.
The festival begins with a procession of boats.
A mural of a whale covers the school wall.
The library lends out tents and sewing machines.
The dance course has room for six couples.
The novel about the lighthouse keeper won a prize.
The piano in the station may be played by anyone.
The sculpture in the park is made of ship chains.
The chess club meets above the pharmacy.
A reading for children takes place on Saturday morning.
The film about bees runs for another week.
The brass band rehearses in the fire station.
The poetry evening was moved to the cellar bar.
The drawing class works with charcoal.
The radio play was recorded in an empty church.
The carnival costumes are sewn from old curtains.
The doctor told Luis to walk an hour a day.
The dentist on the square has a waiting list.
The gym on the corner closes for repairs in August.
Yoga is offered on the terrace when it is warm.
The swimming pool opens at seven.
The football team lost three to one against the bakers.
The hiking group meets at the fountain.
The ski trip was booked for the second week of February.
The tennis court has to be reserved a day ahead.
The climbing hall gives a discount to students.
The pharmacy delivers in the evening.
Flu shots are given in the meeting room in October.
The ergonomic chairs were chosen by a committee.
The table tennis table stands in the cellar.
The rowing club needs a new boat house.
The school nurse teaches first aid on Thursdays.
The massage chair is the most popular seat of the house.
Sunscreen stands ready beside the terrace door.
The judo mats are stored behind the stage.
The marathon passes our door at kilometre thirty.
""".strip().splitlines()
)
