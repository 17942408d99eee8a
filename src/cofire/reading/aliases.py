"""Aliases: other names by which well-known things go, as data. Each line is one thing; its names are in normal form."""

from __future__ import annotations

_SAME = """
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


def _table(lines: str) -> dict[str, tuple[str, ...]]:
    groups = [tuple(name.strip() for name in line.split(",")) for line in lines.strip().splitlines()]
    return {name: tuple(other for other in group if other != name) for group in groups for name in group}


# Every name with the others of its thing.
ALIASES = _table(_SAME)
