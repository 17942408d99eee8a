"""Questions that no evaluation set answers: seeded word salads, small talk, and other languages. Texts only."""

from __future__ import annotations

import random

SMALL_TALK = (
    "Hi!",
    "Hello there",
    "Good morning",
    "Good night, sleep well",
    "How are you?",
    "How are you doing today?",
    "What's up?",
    "Thanks!",
    "Thank you so much",
    "You're welcome",
    "ok",
    "Okay, sounds good",
    "Sure, go ahead",
    "No, never mind",
    "Yes please",
    "lol",
    "haha that's funny",
    "Tell me a joke",
    "Tell me another one",
    "Who are you?",
    "What can you do?",
    "Are you a robot?",
    "Are you there?",
    "Can you help me?",
    "I have a question",
    "Let me think about it",
    "Give me a second",
    "Wait a moment",
    "Never mind, forget it",
    "That's great",
    "That is not what I meant",
    "Could you repeat that?",
    "Please say that again",
    "Can you make it shorter?",
    "Write it more politely",
    "Translate this into French",
    "Fix the grammar in this sentence",
    "Summarise the text above",
    "Please continue",
    "Go on",
    "Stop",
    "What time is it?",
    "What day is it today?",
    "How is the weather?",
    "Is it going to rain tomorrow?",
    "I'm bored",
    "I'm back",
    "See you later",
    "Bye!",
    "Have a nice day",
    "Nice to meet you",
    "Long time no see",
    "Congratulations!",
    "I'm sorry",
    "Good point",
    "I agree",
    "I don't understand",
    "Why not?",
    "Really?",
    "What should I do now?",
)

OTHER_LANGUAGES = (
    "Wie heißt die Hauptstadt von Kasachstan?",
    "Wann wurde die Waschmaschine zuletzt repariert?",
    "Welche Pilze darf man im Herbst sammeln?",
    "Wie viel kostet eine Monatskarte für den Bus?",
    "Warum ist der Himmel am Abend rot?",
    "Wo habe ich meinen Regenschirm liegen lassen?",
    "Wer hat gestern beim Schach gewonnen?",
    "Quelle est la recette de la soupe à l'oignon ?",
    "Où se trouve la clé de la cave ?",
    "Combien de temps faut-il pour cuire un œuf ?",
    "Pourquoi les feuilles tombent-elles en automne ?",
    "Qui a écrit cette lettre à ma grand-mère ?",
    "Quand part le dernier train pour Lyon ?",
    "¿Cuánto cuesta arreglar una bicicleta?",
    "¿Dónde está la farmacia más cercana?",
    "¿Por qué ladra tanto el perro del vecino?",
    "¿Cuándo empiezan las vacaciones de verano?",
    "¿Qué hay que llevar a la playa?",
    "¿Quién pintó la pared de la cocina?",
    "Quanto zucchero serve per la torta?",
    "Dove ho messo gli occhiali da sole?",
    "A che ora chiude il mercato del pesce?",
    "Onde posso comprar selos ao domingo?",
    "Quantos litros leva o depósito do carro?",
    "Hoe laat vertrekt de veerboot naar het eiland?",
    "Waar ligt de handleiding van de oven?",
    "Hur lång tid tar det att baka bröd?",
    "Gdzie zostawiłem klucze do garażu?",
    "Jak dlouho trvá cesta vlakem do hor?",
    "Bahçedeki ağacı ne zaman budamalıyım?",
    "Какая завтра будет погода в горах?",
    "Где лежит инструкция к стиральной машине?",
    "Сколько стоит билет в зоопарк?",
    "今天晚上吃什么？",
    "洗衣机坏了怎么办？",
    "去机场最快的路线是哪一条？",
    "傘をどこに置きましたか。",
    "一番近い郵便局はどこですか。",
    "우산을 어디에 두었나요?",
    "أين وضعت مفاتيح السيارة؟",
)

PLAIN = """accordion anvil apricot asphalt badger bagpipe banana barometer bassoon beetle bicycle biscuit blizzard buckle cactus
candle canyon caramel cathedral cello chimney cinnamon compass copper cucumber dolphin dynamo eclipse elbow envelope falcon
feather fountain fossil gasket ginger glacier granite gravity hammock harpoon hedgehog helium hinge iceberg ivory jigsaw kettle
lantern lettuce lobster magnet mango marble meadow meteor mitten mustard neutron nickel nozzle obelisk orchid oxygen paddle
parsley pebble pendulum photon pickle piston plasma porcupine prism pulley pumpkin quantum quartz radish ribbon saddle
satellite saxophone shovel sphinx spinach sponge syrup telescope tractor trombone tundra turbine turnip umbrella vacuum velvet
violet volcano walrus whistle wrench yoghurt zebra zeppelin""".split()
SYLLABLES = "blor frum gax quib zan trel vosh ploo krin dax wub snar fli gro mip tazz yex xyz zy orp".split()

SALADS, SHORTEST, LONGEST = 100, 3, 6


def salads(count: int = SALADS, *, seed: int = 7) -> tuple[str, ...]:
    """Word salads: three to six random words, a third of them invented; every fifth is a question.

    >>> salads(2)
    ('lobster beetle blizzard barometer eclipse', 'krinzan barometer candle')
    """
    chance = random.Random(seed)
    return tuple(_salad(chance, asked=place % 5 == 4) for place in range(count))


def _salad(chance: random.Random, *, asked: bool) -> str:
    drawn = [_word(chance) for _ in range(chance.randint(SHORTEST, LONGEST))]
    return f"What did the {drawn[0]} say to {' '.join(drawn[1:])}?" if asked else " ".join(drawn)


def _word(chance: random.Random) -> str:
    return "".join(chance.choices(SYLLABLES, k=2)) if chance.random() < 1 / 3 else chance.choice(PLAIN)
